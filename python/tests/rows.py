"""Rows for the tests."""

import json


def row(i, broken=False):
    """A conversation with three calls, one of which may have no result."""
    messages = [{"role": "system", "content": "You are a helpful agent."}, {"role": "user", "content": f"what is in /srv/{i}?"}]
    for k in range(3):
        call = {"id": f"c{k}", "type": "function", "function": {"name": "ls", "arguments": json.dumps({"path": f"/srv/{i}/{k}"})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        if not (broken and k == 1):
            messages.append({"role": "tool", "tool_call_id": f"c{k}", "content": "a.txt\nb.txt\n" * 20})
    messages.append({"role": "assistant", "content": "There are files. é " * 10})
    return {"n": i, "messages": messages}


def text(i, every=100):
    """The row as a line. One row in every is broken, in one of three ways."""
    if i % every:
        return json.dumps(row(i))
    if i % (3 * every) == 0:
        return json.dumps(row(i, broken=True))
    if i % (3 * every) == every:
        return json.dumps(row(i))[:-40]
    return json.dumps(row(i)).replace('"tool_call_id": "c2"', '"tool_call_id": "c9"')


def whole(i, every=100):
    """Like text, but every row is JSON."""
    return text(i, every) if i % (3 * every) != every else json.dumps(row(i, broken=True))


def reasons(path):
    """The rules and messages by line of a file that toolguard filter --reasons wrote."""
    out = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            r = json.loads(line)
            out[r["line"] - 1] = [(x["rule"], x["message"], x["pointer"]) for x in r["findings"]]
    return out
