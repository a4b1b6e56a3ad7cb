"""What the workers of a cluster run in the tests."""

import hashlib
import json
import os
import pathlib


def of(n):
    """The name of a shard."""
    return f"shard-{n:03}.jsonl"


def summary(pairs, marks):
    """What is kept of a shard, as a hash, and why the others are rejected, by row. Notes that the shard is done."""
    kept, rejected = hashlib.sha256(), []
    n = first = None
    for i, (row, verdict) in enumerate(pairs):
        if verdict.keep:
            kept.update(row.encode())
            n = json.loads(row)["n"] if n is None else n
            first = n - i if first is None else first
        else:
            rejected.append((i, [[f["rule"], f["message"], f["pointer"]] for f in verdict.findings]))
    pathlib.Path(marks, f"{first}.{os.getpid()}").touch()
    return [(first, kept.hexdigest(), rejected)]
