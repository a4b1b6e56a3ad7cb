"""Filters datasets with Dask on many machines.

On one machine ``toolguard filter`` is as fast. What is counted is what tasks return, and a task that writes files gives
them their names once they are whole, so a task that runs twice, because a worker died, counts and writes once. Each
worker needs this package, and its processes share nothing.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
from functools import partial
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from dask.delayed import delayed

from . import Counts, ToolguardError, Verdict, binary, filter_rows

__all__ = ["count", "filter_bag", "filter_parquet"]

Path = Union[str, "os.PathLike[str]"]


def filter_bag(bag: Any, fix: bool = False, *, format: str, **options: Any) -> Any:
    """Judges the rows of a bag: a bag of pairs of a row and its verdict, in order. ``options`` are those of ``filter_rows``.

    The format must be given, because the first rows of a partition need not show it.
    """
    return bag.map_partitions(partial(_judge, fix=fix, format=format, **options))


def count(pairs: Any) -> Any:
    """Counts the pairs of ``filter_bag``: a Dask value that computes to ``Counts``."""
    return pairs.reduction(_count, _sum, split_every=16)


def filter_parquet(
    paths: Sequence[Path], out: Path, *, rejects: Optional[Path] = None, reasons: Optional[Path] = None, options: Sequence[str] = ()
) -> Any:
    """Filters Parquet files with ``toolguard parquet filter``, a file a task: a Dask value that computes to ``Counts``.

    ``out``, ``rejects`` and ``reasons`` are directories that all workers see. They get files of the same names, reasons
    as ``.jsonl``. Files that exist are replaced. ``options`` are flags of the command, such as ``["--fix"]``.
    """
    names: Dict[str, Path] = {}
    for path in paths:
        name = os.path.basename(path)
        if name in names:
            raise ValueError(f"{path}: {names[name]} has the same name; expected another one for each file")
        names[name] = path
    to = {flag: str(dir) for flag, dir in (("--out", out), ("--rejects", rejects), ("--reasons", reasons)) if dir is not None}
    task = delayed(_filter_file)
    return delayed(_sum)([task(str(path), to, list(options)) for path in paths])


def _judge(rows: Iterable[Any], **options: Any) -> List[Tuple[Any, Verdict]]:
    return list(filter_rows(rows, **options))


def _count(pairs: Iterable[Tuple[Any, Verdict]]) -> Counts:
    counts = Counts()
    for _, verdict in pairs:
        counts.add(verdict)
    return counts


def _sum(counts: Iterable[Counts]) -> Counts:
    return sum(counts, Counts())


def _filter_file(path: str, to: Dict[str, str], options: List[str]) -> Counts:
    """Filters a file to new ones, and then gives these their names."""
    name = os.path.basename(path)
    with tempfile.TemporaryDirectory(prefix=".toolguard-", dir=to["--out"]) as scratch:
        made = []
        args = [binary(), "parquet", "filter", "--json", *options]
        for flag, directory in to.items():
            file = name if flag != "--reasons" else str(pathlib.PurePath(name).with_suffix(".jsonl"))
            temporary = os.path.join(scratch, flag[2:] + "-" + file)
            made.append((temporary, os.path.join(directory, file)))
            args += [flag, temporary]
        run = subprocess.run([*args, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if run.returncode not in (0, 1):
            why = run.stderr.decode(errors="replace").strip()
            raise ToolguardError("unreadable", why[len("toolguard: ") :] if why.startswith("toolguard: ") else why)
        answer = json.loads(run.stdout)
        for temporary, final in made:
            if os.path.exists(temporary):
                os.replace(temporary, final)
    numbers = {key: n for key, n in answer["summary"].items() if key in _NUMBERS}
    return Counts(**numbers, rules=answer["rules"], warned_rules=answer["warned_rules"])


_NUMBERS = ("conversations", "kept", "rejected", "repaired", "not_judged", "with_warnings")
