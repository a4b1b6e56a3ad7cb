"""Tests of toolguard_transcripts.dask with a cluster of a scheduler and two workers, which are processes."""

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import dask.bag
import distributed
import rows as make
import shards

import toolguard_transcripts as tg
from toolguard_transcripts import dask as tgd

DEADLINE = 300  # seconds for anything that a cluster does
SHARDS = 40


class Cluster(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        path = os.pathsep.join([HERE, os.path.dirname(HERE)])
        os.environ["PYTHONPATH"] = path
        cls.cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0, silence_logs="ERROR"
        )
        cls.addClassCleanup(cls.cluster.close, timeout=30)
        cls.client = distributed.Client(cls.cluster)
        cls.addClassCleanup(cls.client.close, timeout=30)

    def command(self, *args):
        run = subprocess.run([tg.binary(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return json.loads(run.stdout)

    def kill_when(self, ready, future):
        """Kills a worker with SIGKILL once a directory has some files, and returns the result of the future."""
        directory, least = ready
        end = time.monotonic() + DEADLINE
        while len(os.listdir(directory)) < least and not future.done():
            self.assertLess(time.monotonic(), end, "no shard is done")
            time.sleep(0.01)
        self.assertFalse(future.done(), "all is done before a worker can be killed")
        os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL)
        return future.result(timeout=DEADLINE)

    def counts(self, answer):
        numbers = {k: answer["summary"][k] for k in ("conversations", "kept", "rejected", "repaired", "not_judged", "with_warnings")}
        return tg.Counts(**numbers, rules=answer["rules"], warned_rules=answer["warned_rules"])

    def test_bag(self):
        """200,000 rows in shards, a worker killed in the middle: what one filter keeps, and why it rejects."""
        n = 200_000
        per = n // SHARDS
        with tempfile.TemporaryDirectory() as d:
            whole, marks = os.path.join(d, "train.jsonl"), os.path.join(d, "marks")
            os.mkdir(marks)
            paths = [os.path.join(d, shards.of(s)) for s in range(SHARDS)]
            with open(whole, "w", encoding="utf-8") as f:
                for s, path in enumerate(paths):
                    text = "".join(make.text(i) + "\n" for i in range(s * per, (s + 1) * per))
                    pathlib.Path(path).write_text(text, encoding="utf-8")
                    f.write(text)
            kept, reasons = os.path.join(d, "kept.jsonl"), os.path.join(d, "reasons.jsonl")
            answer = self.command("filter", "--json", "--out", kept, "--reasons", reasons, whole)
            want = []
            with open(kept, encoding="utf-8", newline="") as f:
                lines = iter(f)
                why = make.reasons(reasons)
                for s in range(SHARDS):
                    rejected = [(i - s * per, [list(x) for x in why[i]]) for i in range(s * per, (s + 1) * per) if i in why]
                    digest = hashlib.sha256()
                    for _ in range(per - len(rejected)):
                        digest.update(next(lines).encode())
                    want.append((s * per, digest.hexdigest(), rejected))
                self.assertIsNone(next(lines, None))
            pairs = tgd.filter_bag(dask.bag.read_text(paths), format="openai-chat")
            got = self.kill_when((marks, 5), self.client.compute(pairs.map_partitions(shards.summary, marks)))
            self.assertEqual(got, want)
            self.client.wait_for_workers(2, timeout=DEADLINE)
            got = self.client.compute(tgd.count(pairs)).result(timeout=DEADLINE)
            self.assertEqual(got, self.counts(answer))
            self.assertEqual(got.rejected, n // 100)

    def test_parquet(self):
        """50,000 rows in shards of Parquet, a worker killed in the middle: the files that the command writes for each shard.

        The verdicts are those about the same rows as JSON Lines.
        """
        n, count = 50_000, 20
        with tempfile.TemporaryDirectory() as d:
            lines, sources, out, rejects, reasons = (pathlib.Path(d, x) for x in ("lines", "sources", "out", "rejects", "reasons"))
            for x in (lines, sources, out, rejects, reasons):
                x.mkdir()
            whole = pathlib.Path(d, "whole.jsonl")
            with open(whole, "w", encoding="utf-8") as f:
                for s in range(count):
                    text = "".join(make.whole(i) + "\n" for i in range(s * n // count, (s + 1) * n // count))
                    (lines / shards.of(s)).write_text(text, encoding="utf-8")
                    f.write(text)
            names = sorted(lines.iterdir())
            subprocess.run([os.environ["TOOLGUARD_SHARDS"], "parquet", sources, *names], check=True, timeout=DEADLINE)
            paths = sorted(sources.iterdir())
            task = tgd.filter_parquet(paths, out, rejects=rejects, reasons=reasons)
            got = self.kill_when((out, 4), self.client.compute(task))
            want, told = tg.Counts(), []
            for path in paths:
                own = [os.path.join(d, f"own-{x}") for x in ("out.parquet", "rejects.parquet", "reasons.jsonl")]
                answer = self.command(
                    "parquet", "filter", "--json", "--overwrite", "--out", own[0], "--rejects", own[1], "--reasons", own[2], str(path)
                )
                want += self.counts(answer)
                for x, made in zip((out, rejects), own):
                    self.assertEqual((x / path.name).read_bytes(), pathlib.Path(made).read_bytes())
                mine = (reasons / path.name).with_suffix(".jsonl").read_text(encoding="utf-8")
                told += [[f["rule"] for f in json.loads(line)["findings"]] for line in mine.splitlines()]
            self.assertEqual(got, want)
            as_lines = os.path.join(d, "reasons.jsonl")
            answer = self.command("filter", "--json", "--out", os.path.join(d, "kept.jsonl"), "--reasons", as_lines, str(whole))
            self.assertEqual(got, self.counts(answer))
            self.assertEqual(told, [[rule for rule, _, _ in why] for _, why in sorted(make.reasons(as_lines).items())])
            self.assertEqual((got.conversations, got.rejected), (n, n // 100))
            for x in (out, rejects, reasons):
                left = [y.name for y in x.iterdir() if not y.name.startswith("shard-")]
                self.assertLessEqual(len(left), 1, "only the killed task may leave its directory")

    def test_inputs_stay(self):
        """No file that is read is replaced, whatever it is called, and what an earlier run wrote does not stay."""
        with tempfile.TemporaryDirectory() as d:
            lines, path = pathlib.Path(d, "x.jsonl"), pathlib.Path(d, "x.parquet")
            lines.write_text("".join(make.whole(i) + "\n" for i in range(1, 50)), encoding="utf-8")
            subprocess.run([os.environ["TOOLGUARD_SHARDS"], "parquet", d, lines], check=True, timeout=DEADLINE)
            before = path.read_bytes()
            links, out, rejects = (pathlib.Path(d, x) for x in ("links", "out", "rejects"))
            for x in (links, out, rejects):
                x.mkdir()
            os.link(path, links / "x.parquet")
            for to in (d, pathlib.Path(d, "out", ".."), links):
                with self.assertRaisesRegex(ValueError, "is a file that is read"):
                    tgd.filter_parquet([path], to)
                with self.assertRaisesRegex(ValueError, "is a file that is read"):
                    tgd.filter_parquet([path], out, rejects=to)
            self.assertEqual((path.read_bytes(), os.listdir(out)), (before, []))
            (rejects / "x.parquet").write_bytes(b"old")
            got = self.client.compute(tgd.filter_parquet([path], out, rejects=rejects)).result(timeout=DEADLINE)
            self.assertEqual((got.kept, got.rejected), (49, 0))
            if (rejects / "x.parquet").exists():
                self.assertNotEqual((rejects / "x.parquet").read_bytes(), b"old")
            self.assertEqual((os.listdir(out), path.read_bytes()), (["x.parquet"], before))

    def test_file_systems(self):
        """Rejects and reasons may be on another file system."""
        with tempfile.TemporaryDirectory() as d, tempfile.TemporaryDirectory(dir="/dev/shm") as other:
            self.assertNotEqual(os.stat(d).st_dev, os.stat(other).st_dev)
            lines = pathlib.Path(d, "x.jsonl")
            lines.write_text("".join(make.whole(i) + "\n" for i in range(300)), encoding="utf-8")
            subprocess.run([os.environ["TOOLGUARD_SHARDS"], "parquet", d, lines], check=True, timeout=DEADLINE)
            out = pathlib.Path(d, "out")
            out.mkdir()
            task = tgd.filter_parquet([pathlib.Path(d, "x.parquet")], out, rejects=other, reasons=other)
            got = self.client.compute(task).result(timeout=DEADLINE)
            self.assertEqual((got.rejected, sorted(os.listdir(other)), os.listdir(out)), (3, ["x.jsonl", "x.parquet"], ["x.parquet"]))

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, r"^b/x\.parquet: out/x\.parquet is also written for a/x\.parquet"):
            tgd.filter_parquet(["a/x.parquet", "b/x.parquet"], "out")
        with self.assertRaisesRegex(ValueError, r"^x\.pq: why/x\.jsonl is also written for x\.parquet"):
            tgd.filter_parquet(["x.parquet", "x.pq"], "out", reasons="why")
        with self.assertRaisesRegex(ValueError, r"is also written for x\.parquet"):
            tgd.filter_parquet(["x.parquet"], "out", rejects="./out")
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "x.parquet")
            os.mkdir(os.path.join(d, "out"))
            with self.assertRaises(tg.ToolguardError) as caught:
                self.client.compute(tgd.filter_parquet([path], os.path.join(d, "out"))).result(timeout=DEADLINE)
            self.assertEqual((caught.exception.code, str(caught.exception)), ("unreadable", f"{path}: no such file or directory"))
            self.assertEqual(os.listdir(os.path.join(d, "out")), [])
        bag = dask.bag.from_sequence([{"messages": []}], npartitions=1)
        with self.assertRaisesRegex(tg.ToolguardError, 'unknown format "x"'):
            self.client.compute(tgd.filter_bag(bag, format="x")).result(timeout=DEADLINE)


if __name__ == "__main__":
    unittest.main()
