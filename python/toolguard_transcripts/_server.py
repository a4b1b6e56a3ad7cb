"""One process of ``toolguard serve --stdio`` for all callers of this Python process.

The process is started by the first request. If it dies, it is started again, and every request without an
answer is sent again: requests have no side effects, so none is lost and none is done twice for a caller.
"""

from __future__ import annotations

import atexit
import collections
import json
import os
import queue
import shutil
import subprocess
import sys
import sysconfig
import threading
from typing import IO, Any, Deque, Dict, List, Optional, Tuple, Union

# How many bytes of requests may be without an answer. Callers wait while there are more.
MOST_WAITING = 16 << 20
# How often the process may die without any answer before the first request in the line is given up.
MOST_DEATHS = 10
# How large the pipes are made where the system allows it. Small ones cost a switch of processes each.
PIPE = 1 << 20


class ToolguardError(Exception):
    """A request that toolguard could not do.

    ``code`` is one of those in docs/serve.md, ``"not-installed"``, ``"crashed"`` or ``"closed"``.
    """

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

    __slots__ = ("line", "size", "end", "answer", "error", "done", "pid")

    def __init__(self, line: bytes) -> None:
        self.line = line
        self.size = len(line)
        self.end = 0  # the size of all requests up to this one, from some request on
        self.answer = b""
        self.error: Optional[ToolguardError] = None
        self.done = threading.Lock()  # free once there is an answer or an error. An interrupt leaves it as it is
        self.done.acquire()
        self.pid = os.getpid()

    def settle(self, answer: bytes = b"", error: Optional[ToolguardError] = None) -> None:
        self.answer, self.error = answer, error
        self.done.release()
        self.line = b""

    def join(self) -> None:
        with self.done:
            pass

    def wait(self) -> Dict[str, Any]:
        """The answer. An error in it is raised."""
        if not self.answer and self.error is None:
            if self.pid != os.getpid():  # a fork: the answer goes to the parent
                return _place.server.send(self.line).wait()
            self.join()
        if self.error is not None:
            raise self.error
        answer: Dict[str, Any] = json.loads(self.answer)
        error = answer.get("error")
        if error is not None:
            kind = NotTranscriptError if error["code"] == "not-transcript" else ToolguardError
            raise kind(error["code"], error["message"])
        return answer


class Server:
    """The process, and the requests that it has not answered yet, in order.

    Callers take no lock, so that an interrupt or the handler of a signal can come at any time. One thread starts the process,
    writes to it and sees to its end, and another one reads from it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()  # of the two threads; a fork waits for it
        self.pending: Deque[Pending] = collections.deque()
        # What wakes the thread that writes: True, a process that has died, or None at the end.
        self.wakes: queue.SimpleQueue[Union[bool, subprocess.Popen[bytes], None]] = queue.SimpleQueue()
        self.sent = 0  # how many of them the current process has been sent
        self.path = ""
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.deaths = 0  # since the last answer
        self.answers = 0
        self.closing = self.closed = False
        self.only = threading.Lock()  # held by the thread that writes
        self.writer: Optional[threading.Thread] = None
        self.reader: Optional[threading.Thread] = None

    def send(self, line: bytes) -> Pending:
        """Sends a request, which ends with a line feed. It waits while too much is without an answer."""
        p = Pending(line)
        while True:
            try:
                first, last = self.pending[0], self.pending[-1]
            except IndexError:
                p.end = p.size
                break
            p.end = last.end + p.size
            if p.end - first.end + first.size <= MOST_WAITING:
                break
            first.join()
        if self.writer is None:
            threading.Thread(target=self._write, name="toolguard", daemon=True).start()
        self.pending.append(p)
        if self.closed:
            raise ToolguardError("closed", "the server was closed")
        self.wakes.put(True)
        return p

    def _write(self) -> None:
        """Writes requests in the order in which they came."""
        if not self.only.acquire(blocking=False):
            return  # two first calls at a time
        self.writer = threading.current_thread()
        while True:
            wake = self.wakes.get()
            if wake is None or self.closing:
                break
            if not isinstance(wake, bool):
                self._died(wake)
            try:
                self._pump()
            except (OSError, RuntimeError) as error:
                self._give_up("not-installed", f"{self.path} cannot be started: {error}")
            except ToolguardError as error:
                self._give_up(error.code, str(error))
        self.closed = True
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.reader is not None:
                self.reader.join()
            _close(self.process)
            self.process = None
        self._give_up("closed", "the server was closed")

    def _pump(self) -> None:
        """Writes all that may be written. After deaths without an answer, one of many requests may be to blame."""
        while not self.closing:
            with self.lock:
                if self.sent >= (min(len(self.pending), 1) if self.deaths > 1 else len(self.pending)):
                    return
                if self.process is None:
                    self._start()
                assert self.process is not None and self.process.stdin is not None
                process, pipe, line = self.process, self.process.stdin, self.pending[self.sent].line
                self.sent += 1
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[pipe.write(rest) :]
            except (OSError, ValueError):
                process.kill()  # its reader wakes this thread
                return

    def _start(self) -> None:
        """Starts the process, and a thread that reads its answers. The lock is held."""
        # It is no part of the terminal's group, so that Ctrl-C ends the program and not only the process, which
        # ends with its input.
        self.path = binary()
        process = subprocess.Popen(
            [self.path, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        for pipe in (process.stdin, process.stdout):
            _widen(pipe)
        try:
            self.reader = threading.Thread(target=self._read, args=(process,), name="toolguard", daemon=True)
            self.reader.start()
        except RuntimeError:
            process.kill()
            process.wait()
            _close(process)
            raise
        self.process, self.sent = process, 0

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Reads answers until the process dies."""
        try:
            assert process.stdout is not None
            self._answers(process.stdout)
        except (OSError, ValueError):
            pass
        process.kill()
        self.wakes.put(process)

    def _answers(self, pipe: IO[bytes]) -> None:
        """Passes answers on until the pipe ends. An answer that is not complete is none."""
        parts: List[bytes] = []
        while True:
            got = pipe.read(256 << 10)
            if not got:
                return
            if not parts and got[:1] != b"{":
                raise ValueError("not an answer")
            lines = got.split(b"\n")
            parts.append(lines[0])
            if len(lines) == 1:
                continue
            lines[0] = b"".join(parts)
            parts = [lines.pop()]
            if not parts[0]:
                parts = []
            with self.lock:
                for line in lines:
                    if not line.startswith(b'{"v":1,') or not self.sent:
                        raise ValueError("not an answer")
                    self.sent -= 1
                    self.answers += 1
                    self.deaths = 0
                    self.pending.popleft().settle(line)
                more = self.sent < len(self.pending)
            if more:
                self.wakes.put(True)

    def _died(self, process: subprocess.Popen[bytes]) -> None:
        """Notes that the process has died."""
        code = process.wait()
        _close(process)
        with self.lock:
            self.process, self.sent = None, 0
        if not self.pending:
            return
        self.deaths += 1
        if self.answers == 0 and (code == 2 or self.deaths > MOST_DEATHS):
            end = f"answers nothing and ended with the exit code {code}: is it toolguard, and new enough?"
            self._give_up("not-installed", f"{self.path} serve {end}")
        elif self.deaths > MOST_DEATHS:
            self._give_up("crashed", f"toolguard died {self.deaths} times at this request, at last with the exit code {code}", 1)
        else:
            return
        self.deaths = 0

    def _give_up(self, code: str, message: str, most: int = sys.maxsize) -> None:
        """Fails the first requests. There is no process."""
        with self.lock:
            for _ in range(min(most, len(self.pending))):
                self.pending.popleft().settle(error=ToolguardError(code, message))
            self.sent = 0

    def close(self) -> None:
        """Ends the process. Requests without an answer fail."""
        self.wakes.put(None)
        self.closing = True
        process, writer = self.process, self.writer
        if process is not None:
            process.kill()  # else a write may take for ever
        if writer is not None:
            writer.join()

    def forget(self) -> None:
        """In the child of a fork: the process and the threads are those of the parent."""
        self.closed = True
        process, self.process = self.process, None
        if process is not None:
            _close(process)  # else the process of the parent would not see the end of its input
            process.returncode = 0  # it is no child of this process


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
        self.held = threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.before, after_in_parent=self.parent, after_in_child=self.child)

    # The lock is held while the process is forked, so that the child has no half of a change. Meanwhile, another thread
    # may close the server, which is then another one.
    def before(self) -> None:
        self.held.server = self.server
        self.held.server.lock.acquire()

    def parent(self) -> None:
        self.held.server.lock.release()

    def child(self) -> None:
        self.held.server.forget()
        self.server.forget()
        self.server = Server()


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
