"""All ways to filter have the same verdicts."""

import json
import os
import subprocess
import tempfile
import unittest

import dask.bag
import rows as make

import toolguard_transcripts as tg
import toolguard_transcripts.dask as tgd

ROWS = 50_000
DEADLINE = 600


class Paths(unittest.TestCase):
    """50,000 rows of which 500 are broken, through JSON Lines, Parquet, Arrow, the module, the server and Dask."""

    maxDiff = 2000

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.texts = [make.whole(i) for i in range(ROWS)]
        with open(self.path("rows.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in self.texts)

    def path(self, name):
        return os.path.join(self.directory, name)

    def command(self, *args):
        """What toolguard keeps, by number of the row, and why it rejects the others."""
        reasons = self.path("reasons.jsonl")
        told = subprocess.run(
            [os.environ["TOOLGUARD_BINARY"], *args, "-q", "--overwrite", "--reasons", reasons], check=True, stdout=subprocess.PIPE, timeout=DEADLINE
        )
        return [json.loads(line)["n"] for line in told.stdout.splitlines()], make.reasons(reasons)

    def server(self):
        """What the server answers to requests of 500 rows each, all of which are sent before an answer is read."""
        requests = "".join(
            f'{{"id":{i},"op":"filter","lines":{json.dumps(self.texts[i : i + 500])}}}\n' for i in range(0, ROWS, 500)
        )
        told = subprocess.run(
            [os.environ["TOOLGUARD_BINARY"], "serve", "--stdio", "--max-request", "512MiB"], input=requests.encode(), check=True,
            stdout=subprocess.PIPE, timeout=DEADLINE,
        )  # fmt: skip
        answers = [json.loads(line) for line in told.stdout.splitlines()]
        self.assertEqual([a["id"] for a in answers], list(range(0, ROWS, 500)))
        return self.split((v["keep"], v.get("findings", ())) for a in answers for v in a["verdicts"])

    @staticmethod
    def split(verdicts):
        kept, why = [], {}
        for n, (keep, findings) in enumerate(verdicts):
            if keep:
                kept.append(n)
            else:
                why[n] = [(f["rule"], f["message"], f["pointer"]) for f in findings]
        return kept, why

    def test_paths(self):
        want, why = self.command("filter", self.path("rows.jsonl"))
        self.assertEqual((len(want), len(why)), (ROWS - ROWS // 100, ROWS // 100))
        self.assertEqual(sorted(set(want) | set(why)), list(range(ROWS)))

        self.assertEqual(self.server(), (want, why))
        for rows in (self.texts, map(json.loads, self.texts)):
            self.assertEqual(self.split((v.keep, v.findings) for _, v in tg.filter_rows(rows)), (want, why))
        bag = tgd.filter_bag(dask.bag.from_sequence(self.texts, npartitions=10), format="openai-chat")
        self.assertEqual(self.split((v.keep, v.findings) for _, v in bag.compute(scheduler="synchronous")), (want, why))

        # The messages are text in a column there, so pointers end at the column.
        rules = {n: [rule for rule, _, _ in findings] for n, findings in why.items()}
        for kind in ("parquet", "arrow"):
            subprocess.run([os.environ["TOOLGUARD_SHARDS"], kind, self.directory, self.path("rows.jsonl")], check=True, timeout=DEADLINE)
            kept, findings = self.command("parquet", "filter", self.path("rows." + kind))
            self.assertEqual(kept, want)
            self.assertEqual({n: [rule for rule, _, _ in f] for n, f in findings.items()}, rules)


if __name__ == "__main__":
    unittest.main()
