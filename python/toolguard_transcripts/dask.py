"""Filters datasets with Dask on many machines.

On one machine ``toolguard filter`` is as fast. What is counted is what tasks return, and a task that writes files gives
them their names once they are whole, so a task that runs twice, because a worker died, counts and writes once. Each
worker needs this package, and its processes share nothing.
"""

from __future__ import annotations

import contextlib
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
    as ``.jsonl``. Files that exist are replaced, but no file that is read. ``options`` are flags of the command, such as
    ``["--fix"]``. A task that is killed leaves directories ``.toolguard-*`` in them.
    """
    to = {flag: str(dir) for flag, dir in (("--out", out), ("--rejects", rejects), ("--reasons", reasons)) if dir is not None}
    sources = {os.path.realpath(path): path for path in paths}
    targets: Dict[str, Path] = {}
    for path in paths:
        for target in _targets(str(path), to).values():
            real = os.path.realpath(target)
            if real in targets:
                raise ValueError(f"{path}: {target} is also written for {targets[real]}; expected other names or directories")
            if real in sources or any(os.path.exists(real) and os.path.exists(s) and os.path.samefile(real, s) for s in sources):
                raise ValueError(f"{path}: {target} is a file that is read; expected other directories")
            targets[real] = path
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


def _targets(path: str, to: Dict[str, str]) -> Dict[str, str]:
    """The files that are written for a file, by flag."""
    name = os.path.basename(path)
    names = {"--reasons": str(pathlib.PurePath(name).with_suffix(".jsonl"))}
    return {flag: os.path.join(directory, names.get(flag, name)) for flag, directory in to.items()}


def _filter_file(path: str, to: Dict[str, str], options: List[str]) -> Counts:
    """Filters a file to new ones, and then gives these their names."""
    with contextlib.ExitStack() as stack:
        made = []
        args = [binary(), "parquet", "filter", "--json", *options]
        for flag, final in _targets(path, to).items():
            # Beside the target, because a file keeps no name across file systems.
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix=".toolguard-", dir=to[flag]))
            made.append((os.path.join(scratch, os.path.basename(final)), final))
            args += [flag, made[-1][0]]
        run = subprocess.run([*args, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if run.returncode not in (0, 1):
            why = run.stderr.decode(errors="replace").strip()
            raise ToolguardError("unreadable", why[len("toolguard: ") :] if why.startswith("toolguard: ") else why)
        answer = json.loads(run.stdout)
        for temporary, final in made:
            if os.path.exists(temporary):
                os.replace(temporary, final)
            elif os.path.exists(final):
                os.remove(final)  # of a run before this one
    numbers = {key: n for key, n in answer["summary"].items() if key in _NUMBERS}
    return Counts(**numbers, rules=answer["rules"], warned_rules=answer["warned_rules"])


_NUMBERS = ("conversations", "kept", "rejected", "repaired", "not_judged", "with_warnings")
