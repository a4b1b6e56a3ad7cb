"""Tests of the module. TOOLGUARD_BINARY names the program."""

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rows as make

import toolguard_transcripts as tg
from toolguard_transcripts import _server

LONG = os.environ.get("TOOLGUARD_LONG") == "1"
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
OPEN = [{"role": "user", "content": "ls"}, {"role": "assistant", "tool_calls": [CALL]}, {"role": "user", "content": "well?"}]
CLOSED = [*OPEN[:2], {"role": "tool", "tool_call_id": "c1", "content": "a"}, OPEN[2]]


def in_child(queue):
    queue.put((tg.check(OPEN)["errors"], [v.keep for _, v in tg.filter_rows([{"messages": CLOSED}] * 3)]))


def server_pid():
    process = _server._place.server.process
    return process.pid if process else None


class Module(unittest.TestCase):
    maxDiff = 2000

    def command(self, *args, data=None):
        return subprocess.run([tg.binary(), *args], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_check(self):
        report = tg.check(OPEN)
        self.assertEqual([f["rule"] for f in report["findings"]], ["missing-tool-result"])
        self.assertEqual((report["dialect"], report["worst"], report["errors"]), ("openai-chat", "error", 1))
        self.assertEqual(tg.check(CLOSED)["findings"], [])
        text = "\n".join(map(json.dumps, OPEN))
        self.assertEqual(tg.check(text)["findings"][0]["start"]["line"], 2)
        self.assertEqual(tg.check(text.encode())["errors"], 1)
        self.assertEqual(tg.check(OPEN, ignore=["pairing"])["errors"], 0)
        self.assertEqual(tg.check(OPEN, severity={"missing-tool-result": "warning"})["worst"], "warning")
        self.assertEqual(tg.check(OPEN, max_findings=0)["omitted"], 1)
        self.assertEqual("toolguard " + tg.version(), self.command("version").stdout.decode().strip())

    def test_fix(self):
        for given in (OPEN, {"messages": OPEN, "x": 1.5}, json.dumps(OPEN), json.dumps(OPEN).encode()):
            fixed = tg.fix(given)
            self.assertTrue(fixed.changed)
            self.assertIs(type(fixed.output), type(given))
            self.assertEqual((fixed.before["errors"], fixed.report["errors"], fixed.repairs[0]["rule"]), (1, 0, "missing-tool-result"))
            self.assertEqual(tg.check(fixed.output)["errors"], 0)
        want = self.command("fix", "-", data=json.dumps(OPEN).encode()).stdout
        self.assertEqual(tg.fix(json.dumps(OPEN).encode()).output, want)
        self.assertIs(tg.fix(CLOSED).output, CLOSED)
        self.assertIs(tg.fix(OPEN, safe_only=True).output, OPEN)
        self.assertIn("never ran", str(tg.fix(OPEN, placeholder="{tool} never ran").output))

    def test_fix_messages(self):
        self.assertIs(tg.fix_messages(CLOSED), CLOSED)
        out = tg.fix_messages(OPEN, format="openai-chat")
        self.assertEqual([m["role"] for m in out], ["user", "assistant", "tool", "user"])
        for i, k in ((0, 0), (1, 1), (3, 2)):
            self.assertIs(out[i], OPEN[k])
        late = [*OPEN, CLOSED[2], OPEN[2]]  # equal messages are each used once
        out = tg.fix_messages(late)
        self.assertEqual([m["role"] for m in out], ["user", "assistant", "tool", "user", "user"])
        self.assertIs(out[2], late[3])

    def test_trim(self):
        history = [{"role": "user", "content": f"{i}"} if i % 2 == 0 else {"role": "assistant", "content": "x"} for i in range(20)]
        trimmed = tg.trim(history, keep_last=3)
        self.assertEqual((trimmed.output, trimmed.changed, trimmed.no_cut), (history[16:], True, None))
        self.assertIs(tg.trim(history, keep_last=40).output, history)
        none = tg.trim(history, max_bytes=5)
        self.assertIs(none.output, history)
        self.assertFalse(none.changed)
        self.assertTrue(none.no_cut)

    def test_errors(self):
        with self.assertRaises(tg.NotTranscriptError) as caught:
            tg.check("hello")
        self.assertEqual(caught.exception.code, "not-transcript")
        with self.assertRaisesRegex(tg.ToolguardError, 'unknown provider "opnai"; did you mean "openai"'):
            tg.check(OPEN, provider="opnai")
        with self.assertRaisesRegex(tg.ToolguardError, "strategy: unknown rule"):
            list(tg.filter_rows([{"messages": CLOSED}], fix=True, strategy={"x": "y"}))
        with self.assertRaisesRegex(TypeError, r"^1\.content: bytes has no form in JSON$"):
            tg.check([OPEN[0], {"role": "user", "content": b"x"}])
        with self.assertRaisesRegex(TypeError, "keys of the type str, got 7"):
            tg.fix([{"role": "user", "content": {7: "x"}}])
        with self.assertRaisesRegex(ValueError, "1.n: JSON has no nan"):
            tg.check([OPEN[0], {"role": "user", "n": float("nan")}])
        with self.assertRaisesRegex(TypeError, "row 1: messages: set has no form"):
            list(tg.filter_rows([{"messages": CLOSED}, {"messages": {1}}]))
        with self.assertRaisesRegex(ValueError, "row 0: expected one line"):
            list(tg.filter_rows(["{\n}"]))
        circle = {"messages": CLOSED}
        circle["self"] = circle
        deep = CLOSED
        for _ in range(3000):
            deep = [deep]
        for f in (tg.check, tg.fix, lambda t: tg.trim(t, keep_last=1)):
            with self.assertRaisesRegex(ValueError, "Circular reference"):
                f(circle)
            with self.assertRaisesRegex(ValueError, "nested too deep"):
                f(deep)
        with self.assertRaisesRegex(ValueError, "row 0: Circular reference"):
            list(tg.filter_rows([circle]))
        for request in ({"messages": OPEN}, json.dumps(OPEN)):
            with self.assertRaisesRegex(TypeError, "messages: expected a list, got (dict|str)"):
                tg.fix_messages(request, send=True)
        with self.assertRaisesRegex(TypeError, "row 1: the value: expected keys of the type str, got 7"):
            list(tg.filter_rows([{"messages": CLOSED}, {"messages": OPEN, 7: "x"}], True, strategy={"missing-tool-result": "insert"}))
        with self.assertRaisesRegex(TypeError, "select: expected a list"):
            tg.check(OPEN, select="pairing")
        with self.assertRaises(tg.NotTranscriptError):
            list(tg.filter_rows([{"a": 1}]))
        self.assertEqual(list(tg.filter_rows([])), [])

    def test_pickled_errors(self):
        """Errors come whole from other processes."""
        for error in (tg.ToolguardError("too-large", "x"), tg.NotTranscriptError("not-transcript", "y")):
            copy = pickle.loads(pickle.dumps(error))
            self.assertEqual((type(copy), copy.code, str(copy)), (type(error), error.code, str(error)))

    def test_odd_rows(self):
        """A row that cannot be read is rejected, and the rows beside it are judged."""
        good = {"messages": CLOSED}
        deep = "[" * 3000 + "]" * 3000
        odd = [
            (json.dumps(good)[:-9], "invalid-json"), (json.dumps(good).encode()[:-9] + b"\xff", "invalid-json"),
            (json.dumps(good).encode().replace(b"ls", b"\xff"), "invalid-utf8"),
            (deep, "too-deep"), ("\ud800" + json.dumps(good), "bad-request"), (json.dumps("x" * (65 << 20)), "too-large"),
        ]  # fmt: skip
        given = [good]
        for bad, _ in odd:
            given += [bad, good, json.dumps(good)]
        got = list(tg.filter_rows(given))
        for (row, _), want in zip(got, given):
            self.assertIs(row, want)
        self.assertEqual([v.keep for _, v in got], [True] + [False, True, True] * len(odd))
        for (_, v), (_, rule) in zip(got[1::3], odd):
            self.assertEqual(len(v.rules), 1, v)
            if rule != "too-deep":
                self.assertEqual(v.rules, (rule,))
        nested = []
        for _ in range(900):
            nested = [nested]
        self.assertTrue(list(tg.filter_rows([{"messages": CLOSED, "x": nested}]))[0][1].keep)
        for _ in range(100_000):
            nested = [nested]
        got = list(tg.filter_rows([good, {"messages": nested}, good]))
        self.assertEqual([(v.rules, v.error) for _, v in got], [((), None), (("too-deep",), "nested too deep"), ((), None)])
        while nested:  # else freeing it would be as deep
            nested = nested[0]

    def test_rows_that_raise(self):
        """An exception of the rows comes after the rows before it, whether they or this module raise it."""

        def rows(bad):
            for i in range(2000):
                if i == 1500:
                    if bad is None:
                        raise OSError("no more")
                    yield bad
                yield {"messages": CLOSED, "i": i}

        for bad, kind in ((None, OSError), ({"messages": {1}}, TypeError)):
            for options in ({}, {"format": "openai-chat"}, {"batch": 7}):
                got = []
                with self.assertRaisesRegex(kind, "no more|row 1500: messages: set"):
                    for row, v in tg.filter_rows(rows(bad), **options):
                        got.append((row["i"], v.keep))
                self.assertEqual(got, [(i, True) for i in range(1500)])

    def test_interrupts(self):
        """Ctrl-C at any time, also while the process starts or ends, leaves nothing behind that hangs, and no process."""
        code = """
import os, signal, sys, threading, time
import toolguard_transcripts as tg
def interrupts():
    while not stop.is_set():
        time.sleep(0.003)
        os.kill(os.getpid(), signal.SIGINT)
stop, n, end = threading.Event(), 0, time.monotonic() + float(sys.argv[1])
armed = False
def handler(*_):  # it raises once in each turn of the loop, and never outside of try
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
rows = [{"messages": [{"role": "user", "content": "hi"}]}] * 100
thread = threading.Thread(target=interrupts)
while n == 0 or time.monotonic() < end:
    try:
        armed = True
        if not thread.ident:
            thread.start()
        for _ in tg.filter_rows(rows, format="openai-chat", batch=10):
            pass
        tg.close()
        armed = False
    except KeyboardInterrupt:
        n += 1
signal.signal(signal.SIGINT, lambda *_: None)
stop.set()
thread.join()
print(tg.check([])["errors"], flush=True)
os.system("ps -o args= --ppid %d | grep -c 'serve --stdio$'" % os.getpid())
"""
        run = subprocess.run([sys.executable, "-c", code, "20" if LONG else "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(run.stdout.split(), [b"0", b"1"], run.stderr)

    def test_in_handler(self):
        """The handler of a signal may call it, whatever it interrupts."""
        code = """
import signal, time
import toolguard_transcripts as tg
n = 0
def handler(*_):
    global n
    n += tg.check([{"role": "user", "content": "hi"}])["conversations"]
signal.signal(signal.SIGALRM, handler)
tg.version()
rows = [{"messages": [{"role": "user", "content": "hi"}]}] * 100
for _ in range(100):
    signal.setitimer(signal.ITIMER_REAL, 0.004)
    was, end = n, time.monotonic() + 30
    while n == was and time.monotonic() < end:
        assert sum(v.keep for _, v in tg.filter_rows(rows, format="openai-chat", batch=10)) == 100
print(n)
"""
        run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(run.stdout, b"100\n", run.stderr)

    def test_no_thread(self):
        """A call that cannot start a thread fails, and the next one works."""
        tg.close()
        with mock.patch("threading.Thread.start", side_effect=RuntimeError("can't start new thread")):
            with self.assertRaisesRegex(RuntimeError, "can't start"):
                tg.check(OPEN)
        self.assertEqual(tg.check(OPEN)["errors"], 1)

    def test_fork_while_closing(self):
        """A thread closes the server again and again while another one forks."""
        done = threading.Event()

        def closes():
            while not done.is_set():
                tg.close()
                try:
                    tg.check(OPEN)
                except tg.ToolguardError as error:
                    self.assertEqual(error.code, "closed")

        thread, was = threading.Thread(target=closes), sys.getswitchinterval()
        thread.start()
        sys.setswitchinterval(1e-5)
        try:
            with mock.patch("sys.unraisablehook") as unraisable:
                for _ in range(1000 if LONG else 100):
                    pid = os.fork()
                    if pid == 0:
                        os._exit(0)
                    os.waitpid(pid, 0)
            unraisable.assert_not_called()
        finally:
            sys.setswitchinterval(was)
            done.set()
            thread.join(60)
        self.assertFalse(thread.is_alive())

    def test_same_as_filter(self):
        """50,000 rows with 500 broken: what filter keeps, and why it rejects."""
        n = 50_000
        lines = [make.text(i) for i in range(n)]
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "train.jsonl")
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
            at = time.monotonic()
            run = self.command("filter", "--json", "--out", d + "/clean.jsonl", "--reasons", d + "/reasons.jsonl", path)
            command = time.monotonic() - at
            self.assertEqual(run.returncode, 0, run.stderr)
            summary, reasons = json.loads(run.stdout), make.reasons(d + "/reasons.jsonl")
            with open(d + "/clean.jsonl", encoding="utf-8") as f:
                clean = f.read().splitlines()
        self.assertEqual((len(reasons), len(clean)), (500, n - 500))
        whole = [i for i in range(n) if not (i % 100 == 0 and i % 300 == 100)]
        for kind, given in (("lines", lines), ("values", [json.loads(lines[i]) for i in whole])):
            if kind == "values":
                at = time.monotonic()
                for i in whole:
                    json.dumps(json.loads(lines[i]))
                loop = time.monotonic() - at
            at = time.monotonic()
            got = list(tg.filter_rows(given))
            took = time.monotonic() - at
            places = range(n) if kind == "lines" else whole
            counts = tg.Counts()
            kept, why = [], {}
            for place, (row, v), want in zip(places, got, given):
                self.assertIs(row, want)
                counts.add(v)
                if v.keep:
                    kept.append(lines[place])
                else:
                    why[place] = [(f["rule"], f["message"], f["pointer"]) for f in v.findings]
            self.assertEqual(len(got), len(given))
            self.assertEqual(kept, clean)
            if kind == "lines":
                self.assertEqual(why, reasons)
                self.assertEqual(counts.rules, summary["rules"])
                for name in ("conversations", "kept", "rejected", "repaired", "not_judged", "with_warnings"):
                    self.assertEqual(getattr(counts, name), summary["summary"][name], name)
            else:
                self.assertEqual(why, {i: r for i, r in reasons.items() if i in set(whole)})
                print(f"rows a second, by those of a loop over json.loads and dumps: {loop / took:.2f} (command: {loop / command:.2f})")

    def test_repaired_rows(self):
        given = [{"messages": OPEN}, {"messages": CLOSED}]
        options = {"fix": True, "strategy": {"missing-tool-result": "insert"}}
        got = list(tg.filter_rows(given, **options))
        self.assertEqual([(v.keep, v.repaired) for _, v in got], [(True, True), (True, False)])
        self.assertEqual(tg.check(got[0][0])["errors"], 0)
        self.assertIs(got[1][0], given[1])
        line = json.dumps(given[0]) + "\n"
        for kind in (line, line.encode()):
            (row, v), = tg.filter_rows([kind], **options)
            self.assertIs(type(row), type(kind))
            self.assertEqual(json.loads(row), got[0][0])
            self.assertEqual(row[-1:], kind[-1:])
        want = self.command("filter", "-q", "--fix", "--strategy", "missing-tool-result=insert", "-", data=(line + line).encode()).stdout
        self.assertEqual(b"".join(r for r, _ in tg.filter_rows([line.encode()] * 2, **options)), want)

    def test_kills(self):
        """The process is killed at any time: no row is lost, doubled or judged otherwise."""
        kills = 1000 if LONG else 50
        lines = [make.text(i, every=10) for i in range(2000)]
        want = [(r, v.keep, v.rules) for r, v in tg.filter_rows(lines)]
        done = 0
        stop = threading.Event()

        def kill():
            nonlocal done
            pids, answers, since = set(), 0, 0
            while not stop.is_set() and done < kills:
                pid, now = server_pid(), _server._place.server.answers
                since, answers = (0 if now > answers else since), now
                if pid is not None and pid not in pids and since < 5:  # a request is given up after so many deaths
                    since += 1
                    time.sleep(0.002 * (done % 25))
                    if pid == server_pid():
                        pids.add(pid)
                        os.kill(pid, signal.SIGKILL)
                        done += 1
                time.sleep(0.001)

        killer = threading.Thread(target=kill)
        killer.start()
        runs = 0
        try:
            while done < kills:
                got = [(r, v.keep, v.rules) for r, v in tg.filter_rows(lines, batch=20)]
                self.assertEqual(got, want)
                runs += 1
        finally:
            stop.set()
            killer.join()
        print(f"{done} kills in {runs} runs over {len(lines)} rows")
        self.assertEqual(done, kills)

    def test_threads(self):
        given = [{"messages": OPEN if i % 7 == 0 else CLOSED} for i in range(1500)]
        want = [i % 7 != 0 for i in range(1500)]
        faults = []

        def work(k):
            try:
                if k % 2:
                    self.assertEqual([v.keep for _, v in tg.filter_rows(given, batch=50)], want)
                else:
                    for i in range(100):
                        self.assertEqual(tg.check(given[i]["messages"])["errors"], int(i % 7 == 0))
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(faults, [])

    def test_queued(self):
        """10,000 requests are sent before the first answer is read, and each has its own."""
        waiting = [_server.send({"op": "check", "json": OPEN if i % 3 == 0 else CLOSED}) for i in range(10_000)]
        self.assertEqual([p.wait()["report"]["errors"] for p in waiting], [int(i % 3 == 0) for i in range(10_000)])

    def test_processes(self):
        for method in ("fork", "spawn"):
            tg.check(OPEN)
            context = multiprocessing.get_context(method)
            queue = context.Queue()
            children = [context.Process(target=in_child, args=(queue,)) for _ in range(3)]
            for c in children:
                c.start()
            for _ in children:
                self.assertEqual(queue.get(timeout=60), (1, [True] * 3))
            for c in children:
                c.join(60)
                self.assertEqual(c.exitcode, 0)
            self.assertEqual(tg.check(OPEN)["errors"], 1)

    def test_fork_inside(self):
        """A child is forked while rows are filtered. Its iterator and that of the parent both go on."""
        for _ in range(20):
            given = [{"messages": CLOSED}] * 2000
            iterator = tg.filter_rows(given, batch=20)
            next(iterator)
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    rest = [v.keep for _, v in iterator]
                    code = 0 if rest == [True] * 1999 and tg.check(OPEN)["errors"] == 1 else 2
                    tg.close()
                finally:
                    os._exit(code)
            self.assertEqual(sum(1 for _ in iterator), 1999)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_close(self):
        tg.check(OPEN)
        pid = server_pid()
        tg.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        self.assertEqual(tg.check(OPEN)["errors"], 1)
        self.assertNotEqual(server_pid(), pid)

    def test_ends_with_python(self):
        """The process ends when Python does, however that ends."""
        for end in ("", "import os; os._exit(0)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"):
            code = "import toolguard_transcripts as tg; from toolguard_transcripts import _server; tg.version(); print(_server._place.server.process.pid, flush=True); "
            run = subprocess.run([sys.executable, "-c", code + end], stdout=subprocess.PIPE)
            pid = int(run.stdout)
            for _ in range(500):
                try:
                    os.kill(pid, 0)
                    with open(f"/proc/{pid}/stat") as f:  # nobody may wait for it here
                        if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                            break
                except (ProcessLookupError, FileNotFoundError):
                    break
                time.sleep(0.02)
            else:
                self.fail(f"the process outlives Python after {end!r}")

    def test_bad_programs(self):
        """A program that is missing, too old or always dies is an exception and no hang."""
        with tempfile.TemporaryDirectory() as d:
            for script, want in (
                (None, "not-installed: .*/toolguard cannot be started: .*No such file"), ("exit 2", "not-installed: .* ended with the exit code 2"),
                ("read line; exit 7", "not-installed: .* exit code 7"), ("printf half; exit 1", "not-installed: .* exit code"),
                ("echo '{}'; read line; exec sleep 9", "not-installed: .* answers nothing"), ("exec yes", "not-installed: .* answers nothing"), ("exec cat /dev/zero", "not-installed"),
                ("[ -e $0.once ] && exit 7; touch $0.once; read line; echo '{\"v\":1,\"report\":{}}'; read line", "{}\ncrashed: toolguard died 11 times"),
            ):  # fmt: skip
                path = os.path.join(d, "toolguard")
                if script is not None:
                    with open(path, "w") as f:
                        f.write("#!/bin/sh\n" + script + "\n")
                    os.chmod(path, 0o755)
                code = "import toolguard_transcripts as tg\ntry:\n print(tg.check([]))\n tg.check([])\nexcept tg.ToolguardError as e: print(f'{e.code}: {e}')"
                run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, timeout=60, env={**os.environ, "TOOLGUARD_BINARY": path})
                self.assertRegex(run.stdout.decode(), want)
                rows = "import toolguard_transcripts as tg\nprint([v.rules for _, v in tg.filter_rows([{}], format='openai-chat')])"
                run = subprocess.run([sys.executable, "-c", rows], stderr=subprocess.PIPE, timeout=60, env={**os.environ, "TOOLGUARD_BINARY": path})
                if not want.startswith("{"):
                    self.assertIn(b"ToolguardError", run.stderr, "rows are not to blame")


if __name__ == "__main__":
    unittest.main()
