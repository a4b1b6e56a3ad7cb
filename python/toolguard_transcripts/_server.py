"""One process of ``toolguard serve --stdio`` for all callers of this Python process.

The process is started by the first request. If it dies, it is started again, and every request without an
answer is sent again: requests have no side effects, so none is lost and none is done twice for a caller.
"""

from __future__ import annotations

import atexit
import collections
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from typing import IO, Any, Deque, Dict, List, Optional, Tuple

# How many bytes of requests may be without an answer. Callers wait while there are more.
MOST_WAITING = 16 << 20
# How often the process may die without any answer before the first request in the line is given up.
MOST_DEATHS = 10
# How large the pipes are made where the system allows it. Small ones cost a switch of processes each.
PIPE = 1 << 20


class ToolguardError(Exception):
    """A request that toolguard could not do. ``code`` is one of those in docs/serve.md, or ``"crashed"``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.code, str(self))


class NotTranscriptError(ToolguardError):
    """The input is not a transcript, or not certainly one: name its format."""


def binary() -> str:
    """The path of the program: ``$TOOLGUARD_BINARY``, or that of the wheel, or the one on the ``PATH``."""
    given = os.environ.get("TOOLGUARD_BINARY")
    if given:
        return given
    name = "toolguard.exe" if os.name == "nt" else "toolguard"
    places = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    user = "nt_user" if os.name == "nt" else "posix_user"
    if user in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", user))
    for place in places:
        path = os.path.join(place, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which(name)
    if found is None:
        raise ToolguardError("not-installed", "toolguard is not installed: pip install toolguard-transcripts brings it")
    return found


class Pending:
    """A request and, later, its answer."""

    __slots__ = ("line", "answer", "error", "done", "forked")

    def __init__(self, line: bytes) -> None:
        self.line = line
        self.answer = b""
        self.error: Optional[ToolguardError] = None
        self.done = threading.Event()
        self.forked = False  # it was sent by the parent of this process, whose answer it is

    def fail(self, error: ToolguardError) -> None:
        self.error = error
        self.done.set()

    def wait(self) -> Dict[str, Any]:
        """The answer. An error in it is raised."""
        if self.forked:
            return _place.server.send(self.line).wait()
        self.done.wait()
        if self.error is not None:
            raise self.error
        answer: Dict[str, Any] = json.loads(self.answer)
        error = answer.get("error")
        if error is not None:
            kind = NotTranscriptError if error["code"] == "not-transcript" else ToolguardError
            raise kind(error["code"], error["message"])
        return answer


class Server:
    """The process, and the requests that it has not answered yet, in order."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.pending: Deque[Pending] = collections.deque()
        self.sent = 0  # how many of them the current process has been sent
        self.bytes = 0  # of all of them
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.deaths = 0  # since the last answer
        self.answers = 0
        self.closed = False
        self.threads: List[threading.Thread] = []

    def send(self, line: bytes) -> Pending:
        """Sends a request, which ends with a line feed. It waits while too much is without an answer."""
        p = Pending(line)
        with self.changed:
            while self.bytes and self.bytes + len(line) > MOST_WAITING and not self.closed:
                self.changed.wait()
            if self.closed:
                raise ToolguardError("closed", "the server was closed")
            if self.process is None:
                self._start()
            if not self.threads:
                self.threads = [threading.Thread(target=f, name="toolguard", daemon=True) for f in (self._write, self._read)]
                for t in self.threads:
                    t.start()
            self.pending.append(p)
            self.bytes += len(line)
            self.changed.notify_all()
        return p

    def _start(self) -> None:
        """Starts the process. The lock is held."""
        # It is no part of the terminal's group, so that Ctrl-C ends the program and not only the process, which
        # ends with its input.
        self.process = subprocess.Popen(
            [binary(), "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        for pipe in (self.process.stdin, self.process.stdout):
            _widen(pipe)
        self.sent = 0

    def _write(self) -> None:
        """Writes requests in the order in which they came."""
        while True:
            with self.changed:
                while not self.closed and (self.process is None or self.sent >= self._most()):
                    self.changed.wait()
                if self.closed:
                    return
                assert self.process is not None and self.process.stdin is not None
                pipe, line = self.process.stdin, self.pending[self.sent].line
                self.sent += 1
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[pipe.write(rest) :]
            except (OSError, ValueError):
                pass  # whoever reads learns that the process has died, and all is sent again

    def _most(self) -> int:
        """How many requests may be sent. After deaths without an answer, one of many requests may be to blame."""
        return min(len(self.pending), 1) if self.deaths > 1 else len(self.pending)

    def _read(self) -> None:
        """Reads answers, and starts the process again if it dies."""
        while True:
            with self.changed:
                while self.process is None and not self.closed:
                    self.changed.wait()
                if self.closed:
                    return
                process = self.process
            assert process is not None and process.stdout is not None
            try:
                self._answers(process.stdout)
            except (OSError, ValueError):
                pass
            self._died(process)
            if self.closed:
                return

    def _answers(self, pipe: IO[bytes]) -> None:
        """Passes answers on until the pipe ends. An answer that is not complete is none."""
        parts: List[bytes] = []
        while True:
            got = pipe.read(256 << 10)
            if not got:
                return
            lines = got.split(b"\n")
            parts.append(lines[0])
            if len(lines) == 1:
                continue
            lines[0] = b"".join(parts)
            parts = [lines.pop()]
            with self.changed:
                if self.closed:
                    return
                for line in lines:
                    p = self.pending.popleft()
                    self.sent -= 1
                    self.bytes -= len(p.line)
                    p.line, p.answer = b"", line
                    p.done.set()
                self.deaths = 0
                self.answers += len(lines)
                self.changed.notify_all()

    def _died(self, process: subprocess.Popen[bytes]) -> None:
        """Starts the process again if there are requests without an answer."""
        _close(process)
        process.kill()
        code = process.wait()
        with self.changed:
            self.process = None
            if self.closed or not self.pending:
                return
            self.deaths += 1
            if self.answers == 0 and code == 2:
                self._give_up(len(self.pending), f"{binary()} serve ended with the exit code 2: is it too old?")
            elif self.deaths > MOST_DEATHS:
                self._give_up(1, f"toolguard died {self.deaths} times at this request, at last with the exit code {code}")
                self.deaths = 0
            if self.pending:
                try:
                    self._start()
                except (OSError, ToolguardError) as error:
                    self._give_up(len(self.pending), str(error))
            self.changed.notify_all()

    def _give_up(self, n: int, message: str) -> None:
        """Fails the first requests. The lock is held."""
        for _ in range(n):
            p = self.pending.popleft()
            self.bytes -= len(p.line)
            p.fail(ToolguardError("crashed", message))
        self.sent = 0

    def close(self) -> None:
        """Ends the process. Requests without an answer fail."""
        with self.changed:
            process, self.closed, self.process = self.process, True, None
            while self.pending:
                self.pending.popleft().fail(ToolguardError("closed", "the server was closed"))
            self.changed.notify_all()
        if process is not None:
            process.kill()
            process.wait()
            for t in self.threads:
                t.join()
            _close(process)

    def forget(self) -> None:
        """In the child of a fork: the process and the threads are those of the parent."""
        self.closed = True
        process, self.process = self.process, None
        if process is not None:
            _close(process)  # else the process of the parent would not see the end of its input
            process.returncode = 0  # it is no child of this process
        for p in self.pending:
            p.forked = True


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass


def _widen(pipe: Any) -> None:
    try:
        import fcntl

        fcntl.fcntl(pipe, 1031, PIPE)  # F_SETPIPE_SZ, which fcntl names from Python 3.10 on
    except (ImportError, OSError):
        pass


class _Place:
    """Holds the server of this process."""

    def __init__(self) -> None:
        self.server = Server()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.before, after_in_parent=self.parent, after_in_child=self.child)

    # The lock is held while the process is forked, so that the child has no half of a change.
    def before(self) -> None:
        self.server.lock.acquire()

    def parent(self) -> None:
        self.server.lock.release()

    def child(self) -> None:
        old, self.server = self.server, Server()
        old.forget()


_place = _Place()
atexit.register(lambda: _place.server.close())


def send(fields: Dict[str, Any], parts: Tuple[str, List[str]] = ("", [])) -> Pending:
    """Sends a request with some fields, and with a list of values that are JSON already."""
    text = json.dumps({"v": 1, "id": None, **fields}, allow_nan=False)
    name, values = parts
    if name:
        text = text[:-1] + ', "' + name + '": [' + ",".join(values) + "]}"
    return _place.server.send(text.encode() + b"\n")


def close() -> None:
    """Ends the process of toolguard. The next call starts another one."""
    old, _place.server = _place.server, Server()
    old.close()
