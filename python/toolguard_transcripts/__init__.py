"""Checks, repairs, filters and trims transcripts of AI agents.

The functions keep one process of ``toolguard serve --stdio`` alive, so a call costs no start of a process. They may be
called from any thread, and after ``fork`` and ``spawn``. A transcript is text of any format, as ``str`` or ``bytes``, or
a JSON value, such as a list of messages. ``format`` is the name of its format (``toolguard formats`` lists them);
without it, the transcript shows its format. The other options are those of the commands.
"""

from __future__ import annotations

import collections
import itertools
import json
from dataclasses import dataclass, field
from typing import Any, Deque, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypedDict, TypeVar, cast

from ._server import NotTranscriptError, Pending, ToolguardError, binary, close, send

__all__ = [
    "Counts", "Finding", "Fixed", "NotTranscriptError", "Report", "ToolguardError", "Trimmed", "Verdict",
    "binary", "check", "close", "filter_rows", "fix", "fix_messages", "trim", "version",
]  # fmt: skip

Input = TypeVar("Input")
Row = TypeVar("Row")
Message = TypeVar("Message")

# A request for rows has at most so many rows, and ends after so many characters.
_ROWS = 256
_CHARACTERS = 512 << 10
# How many requests for rows are sent before the answer to the first is needed.
_AHEAD = 6


class Position(TypedDict):
    """A place in a text: bytes from 0, line from 1, bytes in the line from 1."""

    offset: int
    line: int
    column: int


class Finding(TypedDict):
    """A problem that a rule found, as in the JSON report (docs/json.md)."""

    rule: str
    category: str
    severity: str
    message: str
    url: str
    dialect: Optional[str]
    conversation: Optional[int]
    turn: Optional[int]
    index: Optional[int]
    place: Optional[str]
    record: int
    pointer: str
    call_id: Optional[str]
    tool: Optional[str]
    start: Position
    end: Position
    provider_error: Optional[str]
    fingerprint: str
    fix: Optional[Dict[str, Any]]
    unfixed: Optional[str]


class Report(TypedDict):
    """What was found in a transcript. ``worst`` is the highest severity of the findings."""

    dialect: Optional[str]
    container: str
    conversations: int
    calls: int
    results: int
    check_only: Optional[str]
    worst: Optional[str]
    errors: int
    warnings: int
    infos: int
    findings: List[Finding]
    omitted: int


@dataclass(frozen=True)
class Fixed:
    """What ``fix`` did. ``output`` is the input itself if nothing changed."""

    output: Any
    changed: bool
    before: Report
    report: Report
    repairs: List[Dict[str, Any]]


@dataclass(frozen=True)
class Trimmed:
    """What ``trim`` did. ``output`` is the input itself if nothing changed.

    ``details`` are as in the JSON report of ``toolguard trim``. ``no_cut`` says why there is no safe cut.
    """

    output: Any
    changed: bool
    details: Dict[str, Any]
    no_cut: Optional[str] = None


@dataclass(frozen=True)
class Verdict:
    """What becomes of a row.

    ``rules`` are the names of what rejects it, and ``findings`` say where. A row without a conversation is not
    ``judged``, and kept. ``error`` says why a row could not be looked at, such as one that is too long; it is rejected.
    """

    keep: bool
    judged: bool = True
    repaired: bool = False
    rules: Tuple[str, ...] = ()
    warned: Tuple[str, ...] = ()
    findings: Tuple[Finding, ...] = ()
    error: Optional[str] = None


_KEEP = Verdict(True)
_NOT_JUDGED = Verdict(True, judged=False)


@dataclass
class Counts:
    """Counts of rows, as ``toolguard filter --json`` has them. Counts of shards add up with ``+``."""

    conversations: int = 0
    kept: int = 0
    rejected: int = 0
    repaired: int = 0
    not_judged: int = 0
    with_warnings: int = 0
    rules: Dict[str, int] = field(default_factory=dict)
    warned_rules: Dict[str, int] = field(default_factory=dict)

    def add(self, verdict: Verdict) -> None:
        """Counts a row."""
        if not verdict.judged:
            self.not_judged += 1
            return
        self.conversations += 1
        if verdict.keep:
            self.kept += 1
            self.repaired += verdict.repaired
        else:
            self.rejected += 1
            for rule in verdict.rules:
                self.rules[rule] = self.rules.get(rule, 0) + 1
        if verdict.warned:
            self.with_warnings += 1
            for rule in verdict.warned:
                self.warned_rules[rule] = self.warned_rules.get(rule, 0) + 1

    def __add__(self, other: Counts) -> Counts:
        out = Counts(*(getattr(self, name) + getattr(other, name) for name in _NUMBERS))
        for of in (self, other):
            for mine, its in ((out.rules, of.rules), (out.warned_rules, of.warned_rules)):
                for rule, n in its.items():
                    mine[rule] = mine.get(rule, 0) + n
        return out


_NUMBERS = ("conversations", "kept", "rejected", "repaired", "not_judged", "with_warnings")


def check(
    transcript: Any,
    *,
    format: Optional[str] = None,
    provider: Optional[str] = None,
    send: bool = False,
    tools: Any = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Optional[Mapping[str, str]] = None,
    max_findings: Optional[int] = None,
) -> Report:
    """Says what is wrong with a transcript. Findings are not an exception."""
    request = _request("check", transcript, format, provider, send, tools, select, ignore, severity, max_findings)
    return cast(Report, _ask(request)["report"])


def fix(
    transcript: Any,
    *,
    format: Optional[str] = None,
    provider: Optional[str] = None,
    send: bool = False,
    safe_only: bool = False,
    unsafe: bool = False,
    strip_reasoning: bool = False,
    strategy: Optional[Mapping[str, str]] = None,
    placeholder: Optional[str] = None,
    tools: Any = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Optional[Mapping[str, str]] = None,
    max_findings: Optional[int] = None,
) -> Fixed:
    """Repairs a transcript. It makes safe and additive repairs, unless it is told otherwise.

    The output is of the type of the input. Text keeps every byte outside of the repairs.
    """
    _only_json(transcript)
    request = _request("fix", transcript, format, provider, send, tools, select, ignore, severity, max_findings)
    request.update(_repairs(strip_reasoning, strategy, placeholder), safe_only=safe_only, unsafe=unsafe)
    answer = _ask(request)
    return Fixed(_output(transcript, answer), answer["changed"], answer["before"], answer["report"], answer["repairs"])


def fix_messages(messages: List[Message], *, format: Optional[str] = None, **options: Any) -> List[Message]:
    """Repairs a list of messages for a request: ``fix`` for lists, with its options.

    The list itself is returned if nothing changed. Otherwise the messages that did not change are the same objects.
    """
    if not isinstance(messages, (list, tuple)):
        raise TypeError(f"messages: expected a list, got {type(messages).__name__}")
    fixed = fix(messages, format=format, **options)
    if not fixed.changed:
        return messages
    # Equal JSON is the same message, also if it has moved.
    known: Dict[str, Deque[Message]] = {}
    for m in messages:
        known.setdefault(json.dumps(m), collections.deque()).append(m)
    out: List[Message] = []
    for m in fixed.output:
        same = known.get(json.dumps(m))
        out.append(same.popleft() if same else m)
    return out


def trim(
    transcript: Any,
    *,
    format: Optional[str] = None,
    provider: Optional[str] = None,
    send: bool = False,
    keep_last: Optional[int] = None,
    keep_last_user: Optional[int] = None,
    target_index: Optional[int] = None,
    keep_first: Optional[int] = None,
    max_tokens: Optional[int] = None,
    max_bytes: Optional[int] = None,
    boundary: Optional[str] = None,
    prefer: Optional[str] = None,
    pin: Optional[int] = None,
    results_max_bytes: Optional[int] = None,
    keep_results: Optional[int] = None,
) -> Trimmed:
    """Shortens a history without parting calls from their results. The output is of the type of the input."""
    _only_json(transcript)
    request = {
        "op": "trim", **_input(transcript), "from": format, "provider": provider, "send": send,
        "keep_last": keep_last, "keep_last_user": keep_last_user, "target_index": target_index, "keep_first": keep_first,
        "max_tokens": max_tokens, "max_bytes": max_bytes, "boundary": boundary, "prefer": prefer, "pin": pin,
        "results_max_bytes": results_max_bytes, "keep_results": keep_results,
    }  # fmt: skip
    answer = _ask(request)
    details = answer["trimmed"]
    no_cut = details["no_cut"]["reason"] if details["no_cut"] else None
    return Trimmed(_output(transcript, answer), answer["changed"], details, no_cut)


def version() -> str:
    """The version of the program."""
    return cast(str, send({"op": "version"}).wait()["version"])


def filter_rows(
    rows: Iterable[Row],
    fix: bool = False,
    *,
    format: Optional[str] = None,
    provider: Optional[str] = None,
    send: bool = False,
    fail_on: Optional[str] = None,
    strip_reasoning: bool = False,
    strategy: Optional[Mapping[str, str]] = None,
    placeholder: Optional[str] = None,
    tools: Any = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Optional[Mapping[str, str]] = None,
    max_findings: Optional[int] = 10,
    batch: int = _ROWS,
) -> Iterator[Tuple[Row, Verdict]]:
    """Judges the rows of a dataset as ``toolguard filter`` does. It yields each row once, in order, with its verdict.

    A row is a JSON value, or a line of JSON as ``str`` or ``bytes``. With ``fix``, a repaired row is yielded instead of
    the original; it is kept. Rows are read ahead in batches; an exception of theirs comes after the rows
    before it. Without ``format``, the first rows must show theirs.
    """
    options = {
        "op": "filter", "fix": fix, "fail_on": fail_on, **_judged(format, provider, send, tools, select, ignore, severity, max_findings),
        **_repairs(strip_reasoning, strategy, placeholder),
    }  # fmt: skip
    if batch < 1:
        raise ValueError(f"batch: expected at least 1, got {batch}")
    return _filtered(iter(rows), options, batch)


class _Batch:
    """Some rows that are sent together."""

    __slots__ = ("first", "rows", "texts", "lines", "size", "sent", "fault")

    def __init__(self, lines: bool, first: int) -> None:
        self.first = first  # the number of the first row
        self.rows: List[Any] = []
        self.texts: List[str] = []  # each as JSON; "" for one that has none
        self.lines = lines
        self.size = 0
        self.sent: Optional[Pending] = None
        self.fault: Optional[Exception] = None  # what came instead of rows

    def send(self, options: Dict[str, Any]) -> None:
        self.sent = send(options, ("lines" if self.lines else "rows", self.texts))


def _batches(rows: Iterator[Any], most: int) -> Iterator[_Batch]:
    """Puts rows together. Lines and values are sent in different ways. An exception comes after the rows before it."""
    b: Optional[_Batch] = None
    fault: Optional[Exception] = None
    dumps = json.JSONEncoder(allow_nan=False).encode
    for n in itertools.count():
        try:
            row = next(rows)
        except StopIteration:
            break
        except Exception as error:
            fault = error
            break
        lines = isinstance(row, (str, bytes))
        if b is not None and (b.lines != lines or len(b.rows) >= most or b.size >= _CHARACTERS):
            yield b
            b = None
        if b is None:
            b = _Batch(lines, n)
        try:
            text = dumps(_line(row) if lines else row)
        except UnicodeDecodeError:
            text = ""
        except RecursionError:
            text = ""
        except (TypeError, ValueError) as error:
            fault = type(error)(f"row {n}: {_fault(row) or error}")
            break
        b.rows.append(row)
        b.texts.append(text or "null")
        b.size += len(text)
        if not text:  # it has a verdict of its own
            yield from _apart(b)
            b = None
    if b is not None and b.rows:
        yield b
    if fault is not None:
        b = _Batch(False, n)
        b.fault = fault
        yield b


def _apart(b: _Batch) -> Iterator[_Batch]:
    """Parts a batch from its last row, which cannot be sent."""
    last = _Batch(b.lines, b.first + len(b.rows) - 1)
    last.rows = [b.rows.pop()]
    b.texts.pop()
    if b.rows:
        yield b
    yield last


def _line(row: Any) -> str:
    text: str = row.decode() if isinstance(row, bytes) else row
    text = text.rstrip("\r\n")
    if "\n" in text:
        raise ValueError("expected one line")
    return text


def _filtered(rows: Iterator[Any], options: Dict[str, Any], most: int) -> Iterator[Tuple[Any, Verdict]]:
    ahead: Deque[_Batch] = collections.deque()
    known = options["from"] is not None
    for b in _batches(rows, most):
        if b.texts:
            b.send(options)
        ahead.append(b)
        # The answer to the first rows says what the format of the others is.
        while ahead and (not known or len(ahead) > _AHEAD):
            dialect = yield from _judge(ahead.popleft(), options)
            if not known and dialect is not None:
                options, known = {**options, "like": dialect}, True
    while ahead:
        yield from _judge(ahead.popleft(), options)


# What says that something is wrong with one row, and not with the options.
_OF_ROWS = ("too-large", "broken", "bad-request", "internal", "crashed")


def _judge(b: _Batch, options: Dict[str, Any]) -> Iterator[Any]:
    """Yields the rows of a batch with their verdicts, and returns their format."""
    if b.fault is not None:
        raise b.fault
    if b.sent is None:
        row = b.rows[0]
        rule, what = ("invalid-utf8", "not UTF-8") if b.lines else ("too-deep", "nested too deep")
        if b.lines:
            try:
                json.loads(row.decode(errors="replace"))
            except (ValueError, RecursionError):
                rule = "invalid-json"
        yield row, Verdict(False, rules=(rule,), error=what)
        return None
    try:
        answer = b.sent.wait()
    except ToolguardError as error:
        if error.code not in _OF_ROWS:
            raise
        if len(b.rows) > 1 or not b.lines:
            return (yield from _one_by_one(b, options))
        if error.code == "bad-request" and not _has_surrogates(b.rows[0]):
            raise
        yield b.rows[0], Verdict(False, rules=(error.code,), error=str(error))
        return None
    for n, (row, v) in enumerate(zip(b.rows, answer["verdicts"]), b.first):
        if len(v) == 1 and v["keep"]:
            yield row, _KEEP
        elif v["keep"]:
            if not v.get("judged", True):
                yield row, _NOT_JUDGED
                continue
            repaired = "row" in v or "line" in v
            if repaired:
                fault = None if b.lines else _fault(row)
                if fault is not None:  # it would not come back
                    raise TypeError(f"row {n}: {fault}")
                row = _as_given(row, v)
            yield row, Verdict(True, repaired=repaired, warned=tuple(v.get("warned", ())))
        else:
            yield row, Verdict(False, rules=tuple(v["rules"]), findings=tuple(v.get("findings", ())), error=v.get("reason"))
    return answer["dialect"]


def _one_by_one(b: _Batch, options: Dict[str, Any]) -> Iterator[Any]:
    """Sends each row of a batch alone, as a line, which may be nested as deep as a row of a file."""
    singles = []
    for n, (row, text) in enumerate(zip(b.rows, b.texts), b.first):
        one = _Batch(True, n)
        one.rows, one.texts = [row], [text if b.lines else json.dumps(text)]
        singles.append(one)
    dialect: Optional[str] = options["from"] or options.get("like")
    for one in singles if dialect is None else ():
        one.send(options)
        assert one.sent is not None
        try:
            dialect = one.sent.wait()["dialect"]
        except ToolguardError:
            continue
        if dialect is not None:
            options = {**options, "like": dialect}
            break
    for one in singles:
        one.send(options)
        yield from _judge(one, options)
    return dialect


def _has_surrogates(row: Any) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _as_given(row: Any, verdict: Dict[str, Any]) -> Any:
    """The repaired row in the form of the row."""
    if not isinstance(row, (str, bytes)):
        return verdict["row"] if "row" in verdict else json.loads(verdict["line"])
    end = "\n" if row[-1:] in ("\n", b"\n") else ""
    text = verdict["line"] + end
    return text.encode() if isinstance(row, bytes) else text


def _judged(
    format: Optional[str], provider: Optional[str], send: bool, tools: Any, select: Sequence[str], ignore: Sequence[str],
    severity: Optional[Mapping[str, str]], max_findings: Optional[int],
) -> Dict[str, Any]:  # fmt: skip
    for name, value in (("select", select), ("ignore", ignore)):
        if isinstance(value, str):
            raise TypeError(f"{name}: expected a list of names, got a str")
    return {
        "from": format, "provider": provider, "send": send, "tools": tools, "select": list(select), "ignore": list(ignore),
        "severity": None if severity is None else dict(severity), "max_findings": max_findings,
    }  # fmt: skip


def _repairs(strip_reasoning: bool, strategy: Optional[Mapping[str, str]], placeholder: Optional[str]) -> Dict[str, Any]:
    return {"strip_reasoning": strip_reasoning, "strategy": None if strategy is None else dict(strategy), "placeholder": placeholder}


def _request(op: str, transcript: Any, *options: Any) -> Dict[str, Any]:
    return {"op": op, **_input(transcript), **_judged(*options)}


def _input(transcript: Any) -> Dict[str, Any]:
    if isinstance(transcript, bytes):
        return {"text": transcript.decode()}
    return {"text" if isinstance(transcript, str) else "json": transcript}


def _output(transcript: Any, answer: Dict[str, Any]) -> Any:
    if not answer["changed"]:
        return transcript
    if isinstance(transcript, bytes):
        return cast(str, answer["text"]).encode()
    return answer["text" if isinstance(transcript, str) else "json"]


def _ask(request: Dict[str, Any]) -> Dict[str, Any]:
    try:
        return send(request).wait()
    except (TypeError, ValueError) as error:
        fault = _fault(request.get("json"))
        if fault is None:
            raise
        raise type(error)(fault) from None
    except RecursionError:
        raise ValueError("the transcript is nested too deep") from None


def _only_json(transcript: Any) -> None:
    """Raises an exception for what JSON would lose: it would not come back."""
    if not isinstance(transcript, (str, bytes)):
        fault = _fault(transcript)
        if fault is not None:
            raise TypeError(fault)


def _fault(value: Any) -> Optional[str]:
    """Says where a value has something that JSON does not, None if nowhere or too deep."""
    try:
        return _fault_in(value, "")
    except RecursionError:
        return None


def _fault_in(value: Any, path: str) -> Optional[str]:
    if value is None or isinstance(value, (bool, int, str)):
        return None
    if isinstance(value, float):
        return None if value - value == 0 else f"{path or 'the value'}: JSON has no {value}"
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                return f"{path or 'the value'}: expected keys of the type str, got {key!r}"
    elif not isinstance(value, (list, tuple)):
        return f"{path or 'the value'}: {type(value).__name__} has no form in JSON"
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        fault = _fault_in(inner, f"{path}.{key}" if path else str(key))
        if fault is not None:
            return fault
    return None
