package main

import (
	"bytes"
	"encoding/csv"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/hostile"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/sample"
)

// annotation is a command of the github format.
var annotation = regexp.MustCompile(`^::(error|warning|notice) file=[^:]*,(?:line=\d+,[^:]*)?title=[a-z0-9-]+::`)

// taken lists transcripts with a placeholder, $, at every place of a string or a
// key.
var taken = map[string]string{
	"openai-chat": `[{"role":"user","content":"$","$":"$"},
 {"role":"assistant","content":"$","name":"$","tool_calls":[
  {"id":"$","type":"function","function":{"name":"$","arguments":"$"},"$":1,"$":2},
  {"id":"$2","type":"$","function":{"name":"$","arguments":"{\"$\":$"}}]},
 {"role":"$","content":"$"},
 {"role":"tool","tool_call_id":"$3","name":"$","content":"$"},
 {"role":"user","content":"$"}]`,
	"body": `{"model":"gpt-4.1","$":"$","tools":[{"type":"function","function":{"name":"$","parameters":{"type":"object","properties":{"$":{"enum":["$"]}},"required":["x$"],"additionalProperties":false}}}],
 "messages":[{"role":"user","content":"$"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"$","type":"function","function":{"name":"$","arguments":{"$":"$2","$3":"$"}}},{"id":"c2","type":"function","function":{"name":"$4","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"$","content":"$"},{"role":"tool","tool_call_id":"c2","content":"$"},{"role":"user","content":"$"}]}`,
	"anthropic": `{"role":"user","content":"$"}
{"role":"assistant","content":[{"type":"text","text":"$","$":"$"},{"type":"tool_use","id":"$","name":"$","input":{"$":"$"}},{"type":"tool_use","id":"$","name":"$","input":"$"}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"$2","content":"$"},{"type":"$","$":"$"}]}
{"role":"assistant","content":"$"}
`,
	"claude-code": `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"$","cwd":"$","message":{"role":"user","content":"$"}}
{"type":"assistant","uuid":"$","parentUuid":"u1","sessionId":"$","message":{"id":"$","role":"assistant","model":"$","content":[{"type":"tool_use","id":"$","name":"$","input":{"$":"$"}}]}}
{"type":"assistant","uuid":"$","parentUuid":"u1","sessionId":"$","message":{"id":"$","role":"assistant","content":[]}}
{"type":"user","uuid":"u4","parentUuid":"$5","sessionId":"$","toolUseResult":"$","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"$","content":"$"},{"type":"tool_result","tool_use_id":"$6","content":"$"}]}}
{"$":"$
`,
	"openai-responses": `{"model":"$","input":[{"role":"user","content":"$"},
 {"type":"reasoning","id":"$","summary":[{"type":"summary_text","text":"$"}]},
 {"type":"function_call","id":"$","call_id":"$","name":"$","arguments":"$"},
 {"type":"function_call_output","call_id":"$2","output":"$"},{"type":"$","$":"$"},{"role":"user","content":"$"}]}`,
	"gemini": `{"contents":[{"role":"user","parts":[{"text":"$"}]},
 {"role":"model","parts":[{"functionCall":{"id":"$","name":"$","args":{"$":"$"}}},{"functionCall":{"name":"$","args":["$"]}}]},
 {"role":"user","parts":[{"functionResponse":{"id":"$2","name":"$","response":{"$":"$"}}}]},{"role":"$","parts":[{"text":"$"}]}]}`,
	"no transcript": `{"$":"$","$2":["$"]}`,
	"no JSON":       `{"messages":[{"role":"assistant","tool_calls":[$`,
	"config": `placeholder = "$"
exclude = ["x$"]
[[per-file]]
paths = ["x"]
ids = ["$"]
[[dialect]]
name = "own"
title = "$"
summary = "$"
where = "$"
check-only = "$"
driver = "side-list"
marks = ["$", "says"]
[dialect.side-list]
role = "$"
user = "user"
assistant = "assistant"
tool = "tool"
content = "says"
calls = "$s"
id = "id"
name = "tool"
args = "input"
result-id = "answers"
`,
	"config with wrong keys":   "# $\n\"$\" = 1\n[rules]\n\"$\" = \"$\"\n",
	"config with wrong values": "fail-on = \"$\"\nexclude = [\"$\"]\n[[dialect]]\nname = \"$\"\ndriver = \"$\"\n",
}

// fileName makes a file name from a text.
func fileName(text string) string {
	if runtime.GOOS == "windows" {
		return "name"
	}
	return strings.NewReplacer("/", "_", "\x00", "_").Replace(text) + "x"
}

// TestNothingIsObeyed checks that a terminal or a CI interprets no output of
// toolguard as a command, whatever text is in a transcript, a path or a config. Only
// the diff and the repaired text contain raw bytes. Each text is tried with each
// transcript, while encodings, flags and commands take turns. JSON reports keep to their
// schema.
func TestNothingIsObeyed(t *testing.T) {
	schema := newReportSchema(t)
	root, reports := t.TempDir(), t.TempDir()
	var formats []string
	for _, f := range report.Formats()[1:] {
		formats = append(formats, "-o", f.Name+"="+filepath.Join(reports, f.Name))
	}
	looks := [][]string{{"--color=never"}, {"--color=always"}, {"--color=never", "--no-excerpt"}, {"--color=always", "--no-excerpt"}}
	unread := map[string]bool{} // transcripts without findings
	n := 0
	for j, text := range hostile.Texts() {
		clear(unread)
		for k, name := range slices.Sorted(maps.Keys(taken)) {
			before := n
			for i, spelling := range hostile.Spellings(text) {
				// In a long run two of three spellings, else one of a fifth of the transcripts.
				if i == (j+k)%3 || !sample.Long() && ((j+k)%5 != 0 || i != (j+k+1+j%2)%3) {
					continue
				}
				if n == before {
					unread[name] = true
				}
				n++
				dir := filepath.Join(root, strconv.Itoa(n), fileName(text))
				if err := os.MkdirAll(dir, 0o777); err != nil {
					t.Skip(err) // the file system rejects such names
				}
				t.Chdir(dir)
				path, isConfig := fileName(text), strings.HasPrefix(name, "config")
				if isConfig {
					path = "toolguard.toml"
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(taken[name], "$", spelling)), 0o666); err != nil {
					t.Fatal(err)
				}
				judge := func(args []string, what, out string, may hostile.Allowed) {
					t.Helper()
					if err := hostile.Obeyed(out, may); err != nil {
						t.Errorf("%s with %q, spelling %d: %q: %s: %v", name, text, i, args, what, err)
					}
				}
				in := func(ci string, args ...string) string {
					var stdout, stderr bytes.Buffer
					env := func(key string) string {
						if key == "CI" {
							return ci
						}
						return ""
					}
					may := hostile.Allowed{Colors: slices.Contains(args, "--color=always")}
					run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, env)
					judge(args, "standard output", stdout.String(), may)
					judge(args, "standard error", stderr.String(), may)
					return stdout.String()
				}
				if isConfig {
					in("", "check", ".")
					in("", "config", "show")
					in("", "formats", "--config", path)
					in("", "formats", "--config", path, "-o", "json")
					continue
				}
				look := looks[n%len(looks)]
				args := slices.Concat([]string{"check", "--send", "-v", "-o", "text"}, formats, look, []string{path})
				if in("", args...) != "" {
					delete(unread, name)
				}
				for _, f := range report.Formats()[1:] {
					got, err := os.ReadFile(filepath.Join(reports, f.Name))
					if err != nil {
						t.Fatal(err)
					}
					may := hostile.Allowed{Colors: f.Human && look[0] == "--color=always"}
					if f.Name == "github" {
						may.Commands = annotation
					}
					judge(args, f.Name, string(got), may)
					switch f.Name {
					case "json":
						schema.report(t, path, string(got))
					case "jsonl":
						schema.lines(t, path, string(got))
					}
				}
				switch n % 6 {
				case 0:
					in("", "check", "--statistics", "-v", path)
				case 1:
					in("", "detect", "-v", path)
				case 2:
					in("", "baseline", "--baseline", filepath.Join(reports, "baseline"), path)
				case 3:
					in("", "check", "--config", path, path+"/"+text)
				case 4:
					in("", "check", "--select", text, "--tools", path, path)
				case 5:
					in("", "explain", text)
				}
				counts := []string{"stats", "-v", "--by", "tool", "--by", "agent,version,model,month,project", "--min-calls", "0"}
				switch n % 4 {
				case 0:
					in("", append(counts, look[0], path)...)
				case 1:
					in("", append(counts, "--json", path)...)
				case 2:
					table, err := csv.NewReader(strings.NewReader(in("", append(counts, "--csv", path)...))).ReadAll()
					for _, field := range slices.Concat(table...) {
						if err != nil || field != "" && strings.ContainsAny(field[:1], "=+-@") {
							t.Errorf("%s with %q: %v: CSV has the field %q", name, text, err, field)
						}
					}
				case 3:
					page := filepath.Join(reports, "page.html")
					in("", append(counts, "--overwrite", "--html", page, path)...)
					if got, err := os.ReadFile(page); err == nil {
						judge(counts, "the page", string(got), hostile.Allowed{})
						judgePage(t, string(got))
					}
				}
				switch n % 5 {
				case 0:
					in("1", "fix", "-v", "--unsafe", "--send", path)
				case 1:
					in("1", "fix", "--no-excerpt", "--unsafe", "--send", path)
				case 2:
					in("", "fix", "--color=always", "--unsafe", "--send", path)
				case 3:
					schema.report(t, path, in("", "fix", "-o", "json", "--send", path))
				case 4:
					in("", "fix", "-v", "--write", "--unsafe", "--send", "--color=always", path)
				}
			}
		}
		for name := range unread {
			if !strings.HasPrefix(name, "no ") && !strings.HasPrefix(name, "config") {
				t.Errorf("%s with %q: nothing is found in it", name, text)
			}
		}
	}
}

// pageTags are the tags of the page of stats.
var pageTags = regexp.MustCompile(`^<(!DOCTYPE html|html lang="en"|meta [a-z-]+="[^"<>]*"( [a-z]+="[^"<>]*")?|br|` +
	`/?(head|title|style|body|main|h1|h2|p|table|thead|tbody|tr|td|caption|span|div|th|svg)|` +
	`(t[dh]|span|div|svg|rect|path)( [a-z-]+="[^"<>]*")+/?|/rect|/html)>$`)

// judgePage checks that a page has no other tags than those that toolguard writes.
func judgePage(t *testing.T, page string) {
	t.Helper()
	for rest := page; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			return
		}
		rest = rest[i:]
		tag := rest[:strings.IndexByte(rest, '>')+1]
		if !pageTags.MatchString(tag) || strings.Contains(tag, " on") || strings.Contains(tag, " style=") || strings.Contains(tag, "href") {
			t.Errorf("the page has the tag %q", tag)
		}
		rest = rest[1:]
	}
}
