# Records the cassettes of this directory with vcrpy, against a server of its own, and writes the
# same cassettes in other styles of YAML. Needs Debian's python3-vcr: /usr/bin/python3 record.py
import gzip, http.server, io, json, os, threading, urllib.request

import vcr, yaml

HERE = os.path.dirname(os.path.abspath(__file__))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        out = json.dumps({"error": {"message": "no result \u00e9", "type": "invalid_request_error"}}, ensure_ascii=False).encode()
        if self.headers.get("Accept-Encoding") == "gzip":
            out = gzip.compress(out, mtime=0)
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        if self.headers.get("Accept-Encoding") == "gzip":
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *args):
        pass


def chat(text):
    return "/v1/chat/completions", {"model": "gpt-4o", "messages": [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_lost", "type": "function", "function": {"name": "ls", "arguments": json.dumps({"path": text})}},
            {"id": "call_kept", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_kept", "content": text},
        {"role": "user", "content": "go on"}]}


def messages(text):
    return "/v1/messages", {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": text},
        {"role": "assistant", "content": [{"type": "text", "text": text}, {"type": "tool_use", "id": "call_lost", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "text", "text": "go on"}]}]}


TEXTS = {
    "short": "list it",
    "long": "It's a \"long\" text: with, all {kinds} of [marks] # and words that are folded; " * 4,
    "lines": "first line\n\n  second line, indented\n\ttab\nlast line  \n",
    "letters": "h\u00e9llo \u4e16\u754c \U0001f600 \u2028 \u00a0 \x85 end",
}
BODIES = {
    "compact": lambda b: json.dumps(b).encode(),
    "pretty": lambda b: json.dumps(b, indent=2, ensure_ascii=False).encode(),
    "packed": lambda b: gzip.compress(json.dumps(b).encode(), mtime=0),
}


def main():
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = "http://127.0.0.1:%d" % server.server_address[1]
    made = []
    for api in (chat, messages):
        for text in TEXTS:
            for body in BODIES:
                for serializer in ("yaml", "json"):
                    if body == "packed" and (serializer == "json" or text != "long"):
                        continue
                    if serializer == "json" and text != "letters":
                        continue
                    path, request = api(TEXTS[text])
                    name = os.path.join(HERE, "vcrpy-%s-%s-%s.%s" % (api.__name__, text, body, serializer))
                    if os.path.exists(name):
                        os.remove(name)
                    with vcr.VCR(serializer=serializer).use_cassette(name):
                        req = urllib.request.Request(base + path, data=BODIES[body](request), headers={"Content-Type": "application/json", "Accept-Encoding": "gzip" if body == "packed" else "identity"})
                        try:
                            urllib.request.urlopen(req).read()
                        except urllib.error.HTTPError as e:
                            e.read()
                    with io.open(name, encoding="utf-8", newline="") as f:
                        out = f.read().replace(base, "http://127.0.0.1:8080").replace(base[7:], "127.0.0.1:8080")
                    out = "\n".join(l for l in out.split("\n") if not l.strip().startswith(("- Python-urllib", "- BaseHTTP")))
                    with io.open(name, "w", encoding="utf-8", newline="") as f:
                        f.write(out)
                    made.append(name)
    styles(made)


def styles(made):
    """Writes the cassette with the longest text in each style, in several documents, and with anchors."""
    class Dumper(yaml.SafeDumper):
        style = None

        def represent_str(self, data):
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=self.style)

    Dumper.add_representer(str, Dumper.represent_str)

    def write(name, docs, **how):
        with io.open(os.path.join(HERE, name + ".yaml"), "w", encoding="utf-8", newline="") as f:
            yaml.dump_all(docs, f, Dumper=Dumper, sort_keys=False, **how)

    for api in ("chat", "messages"):
        for text in ("long", "lines", "letters"):
            with io.open(os.path.join(HERE, "vcrpy-%s-%s-pretty.yaml" % (api, text)), encoding="utf-8") as f:
                doc = yaml.safe_load(f)
            for style, mark in (("literal", "|"), ("folded", ">"), ("single", "'"), ("double", '"')):
                Dumper.style = mark
                write("style-%s-%s-%s" % (api, text, style), [doc], allow_unicode=text != "letters" or mark != '"')
            Dumper.style = None
            write("style-%s-%s-plain" % (api, text), [doc], width=40, allow_unicode=True)
            if text == "lines":
                write("documents-%s" % api, [{"interactions": []}, doc, doc], explicit_start=True, explicit_end=True)
                one = doc["interactions"][0]
                write("anchors-%s" % api, [{"interactions": [one, {"request": one["request"], "response": {"status": {"code": 200}}}], "version": 1}])


main()
