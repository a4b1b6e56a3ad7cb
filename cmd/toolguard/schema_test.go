package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/reference"
	"github.com/toolguard/toolguard/internal/sample"
)

var reportSchemaPath = filepath.Join("..", "..", "docs", "report.schema.json")

// A reportSchema is the schema of the JSON report: of the document, of a line of -o jsonl, and of
// those of trim, redact and extract.
type reportSchema struct {
	raw            map[string]any
	document, line string
	trim, redact   string
	extract        string
	validator      *reference.Validator
}

// loadReportSchema reads docs/report.schema.json.
var loadReportSchema = sync.OnceValues(func() (*reportSchema, error) {
	text, err := os.ReadFile(reportSchemaPath)
	if err != nil {
		return nil, err
	}
	s := &reportSchema{document: string(text)}
	numbers := json.NewDecoder(strings.NewReader(s.document))
	numbers.UseNumber()
	if err := numbers.Decode(&s.raw); err != nil {
		return nil, err
	}
	for anchor, to := range map[string]*string{"line": &s.line, "trim": &s.trim, "redact": &s.redact, "extract": &s.extract} {
		b, err := json.Marshal(map[string]any{"$schema": s.raw["$schema"], "$id": s.raw["$id"], "$defs": s.raw["$defs"], "$ref": "#" + anchor})
		if err != nil {
			return nil, err
		}
		*to = string(b)
	}
	s.validator, err = reference.Start()
	return s, err
})

func newReportSchema(t *testing.T) *reportSchema {
	t.Helper()
	s, err := loadReportSchema()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks values of a report and returns them.
func (s *reportSchema) validate(t *testing.T, where, schema string, texts ...string) []any {
	t.Helper()
	a, err := s.validator.Validate(reference.Request{Schema: schema, URL: s.raw["$id"].(string), Formats: true, Values: texts})
	if err != nil {
		t.Fatal(err)
	}
	if a.Invalid != "" {
		t.Fatalf("%s: the schema is invalid: %s", where, a.Invalid)
	}
	var out []any
	for i, text := range texts {
		for _, f := range a.Failures[i] {
			t.Errorf("%s: %q: %s\n%s", where, f.At, f.Message, text)
		}
		numbers := json.NewDecoder(strings.NewReader(text))
		numbers.UseNumber()
		var v any
		if err := numbers.Decode(&v); err != nil {
			t.Errorf("%s: %v\n%s", where, err, text)
		}
		out = append(out, v)
	}
	return out
}

// report checks a JSON report and returns it.
func (s *reportSchema) report(t *testing.T, where, text string) any {
	t.Helper()
	return s.validate(t, where, s.document, text)[0]
}

// lines checks a JSONL report and returns its lines.
func (s *reportSchema) lines(t *testing.T, where, text string) []any {
	t.Helper()
	if !strings.HasSuffix(text, "\n") {
		t.Errorf("%s: the last line does not end", where)
	}
	return s.validate(t, where, s.line, slices.Collect(strings.Lines(text))...)
}

// resolve follows a reference to a definition. The place of a definition is its name,
// wherever it is used.
func (s *reportSchema) resolve(place string, schema map[string]any) (string, map[string]any) {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		return name, s.raw["$defs"].(map[string]any)[name].(map[string]any)
	}
	return place, schema
}

// each calls f for every part of the schema that a report can take: the types and the texts
// that a value can have. If of is not nil, it calls f only for those that the value takes.
func (s *reportSchema) each(place string, schema map[string]any, of *any, f func(part string)) {
	if properties, ok := schema["properties"].(map[string]any); ok {
		for name, p := range properties {
			p, below := p.(map[string]any), place+"."+name
			if of == nil {
				s.each(below, p, nil, f)
			} else if v, ok := (*of).(map[string]any)[name]; ok {
				s.each(below, p, &v, f)
			}
		}
	}
	if to, target := s.resolve(place, schema); to != place {
		s.each(to, target, of, f)
		return
	}
	var types []any
	switch t := schema["type"].(type) {
	case string:
		types = []any{t}
	case []any:
		types = t
	}
	for _, t := range types {
		if of == nil || t == typeOf(*of) {
			f(place + ": " + t.(string))
		}
	}
	texts, _ := schema["enum"].([]any)
	if c, ok := schema["const"]; ok {
		texts = []any{c}
	}
	for _, text := range texts {
		if of == nil || cmp.Equal(text, *of) {
			b, _ := json.Marshal(text)
			f(place + ": " + string(b))
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		if of == nil {
			s.each(place+"[]", items, nil, f)
		} else if list, ok := (*of).([]any); ok {
			for i := range list {
				s.each(place+"[]", items, &list[i], f)
			}
		}
	}
	options, _ := schema["oneOf"].([]any)
	for _, o := range options {
		if o := o.(map[string]any); of == nil || s.fits(o, *of) {
			s.each(place, o, of, f)
		}
	}
}

// fits reports whether a value is the one that an option of a oneOf is for: its type and,
// in a line, its field type tell.
func (s *reportSchema) fits(option map[string]any, v any) bool {
	if properties, ok := option["properties"].(map[string]any); ok {
		line, _ := v.(map[string]any)
		return cmp.Equal(properties["type"].(map[string]any)["const"], line["type"])
	}
	_, option = s.resolve("", option)
	return option["type"] == typeOf(v)
}

// typeOf names the type of a decoded JSON value. The schema has no numbers with fractions.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "integer"
}

// copyFixtures copies the transcripts of the project to a directory. No agent seems to use
// the copies.
func copyFixtures(t *testing.T, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "transcripts"))); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(path, before, before)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReportSchema checks reports of all fixtures with docs/report.schema.json: of check and
// fix, with and without a baseline, with failed and skipped files. Together they use
// everything that the schema allows, so the schema allows nothing that never happens.
func TestReportSchema(t *testing.T) {
	s := newReportSchema(t)
	dir := t.TempDir()
	copyFixtures(t, filepath.Join(dir, "runs"))
	for name, text := range map[string]string{
		"cut.jsonl":       cut,
		"empty.json":      "",
		"package.json":    `{"name":"left-pad","version":"1.3.0"}`,
		"look/odd.json":   `{"steps":{"one":{"kind":"ask","toolUseId":"t1","args":{}},"two":{"kind":"told","toolUseId":"t1","said":"a.txt"}}}`,
		"look/torn.gz":    "\x1f\x8b",
		"look/.gitignore": "hidden.json\n",
		"own/toolguard.toml": `[[dialect]]
name = "own"
driver = "side-list"
marks = ["says", "who"]
[dialect.side-list]
role = "who"
user = "me"
assistant = "it"
tool = "tool"
content = "says"
calls = "asks"
id = "id"
name = "name"
args = "input"
result-id = "answers"
`,
		"own/s.jsonl":      "{\"who\":\"me\",\"says\":\"q\"}\n{\"who\":\"it\",\"says\":\"a\"}\n",
		"look/hidden.json": "[]",
		"look/tape.yaml":   "interactions:\n- request: {body: '{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}'}\n  response: {}\n",
		"late/long.json":   `[{"role":"tool","tool_call_id":"` + strings.Repeat("long ", 1<<17) + `","content":"a.txt"}]`,
		"torn/nul.jsonl":   "\x00\x00\x00",
		"torn/cut.json":    `{"role":"assistant","tool_calls":[x`,
		"late/trimmed.json": `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"user","content":"wait"},{"role":"tool","tool_call_id":"c1 ","content":"a.txt"}]`,
		"late/alias.json": `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","call_id":"d1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"user","content":"wait"},{"role":"tool","tool_call_id":"d1","content":"a.txt"}]`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)

	left := map[string]bool{}
	s.each("document", s.raw, nil, func(part string) { left[part] = true })
	line := s.raw["$defs"].(map[string]any)["line"].(map[string]any)
	s.each("line", line, nil, func(part string) { left[part] = true })

	// Two runs with all of them have everything that these can have.
	some := []string{"runs"}
	if !sample.Long() {
		some = []string{"runs/anthropic", "runs/claude-code", "runs/openai-chat", "runs/openai-responses", "runs/gemini"}
	}
	codes := map[int]int{}
	for _, args := range [][]string{
		{"check", "runs", "cut.jsonl"},
		{"check", "empty.json", "package.json", "gone.json", "runs/not-transcripts"},
		{"check", "look", "own", "look/torn.gz", "late", "torn/nul.jsonl", "torn/cut.json"},
		append([]string{"check", "--send", "--provider", "gemini", "--fail-on", "info"}, some...),
		append([]string{"check", "--no-excerpt"}, some...),
		{"check", "--baseline", "known", "cut.jsonl"},
		{"fix", "runs", "gone.json"},
		{"fix", "--unsafe", "--send", "--strategy", "orphan-tool-result=relink", "--strategy", "reused-call-id=rename", "--strategy", "ambiguous-pairing=mint", "runs"},
		append([]string{"fix", "--write", "--backup=none"}, some...),
	} {
		if slices.Contains(args, "known") {
			if code, _, stderr := runCommand(t, nil, "baseline", "--baseline", "known", "cut.jsonl"); code != exitOK {
				t.Fatal(stderr)
			}
		}
		where := strings.Join(args, " ")
		args = append(args, "-q", "-o", "json=out.json", "-o", "jsonl=out.jsonl", "--exclude", "out.json")
		code, stdout, stderr := runCommand(t, nil, args...)
		codes[code]++
		if code == exitTrouble && stderr == "" {
			t.Errorf("%s: exit code %d\n%s", where, code, stdout)
		}
		text, err := os.ReadFile("out.json")
		if err != nil {
			t.Fatalf("%s: %v\n%s", where, err, stderr)
		}
		document := s.report(t, where, string(text))
		s.each("document", s.raw, &document, func(part string) { delete(left, part) })
		if text, err = os.ReadFile("out.jsonl"); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, l := range s.lines(t, where, string(text)) {
			s.each("line", line, &l, func(part string) { delete(left, part) })
			n++
		}
		// The two reports say the same.
		d := document.(map[string]any)
		want := 1
		for _, list := range []string{"findings", "files", "failed", "applied"} {
			elements, _ := d[list].([]any)
			want += len(elements)
		}
		if n != want {
			t.Errorf("%s: %d lines, want %d", where, n, want)
		}
	}
	for _, part := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("no report has %s", part)
	}
	if codes[exitFindings] == 0 || codes[exitTrouble] == 0 {
		t.Errorf("exit codes %v", codes)
	}
}

// TestTrimAndRedactSchema checks reports of trim, redact and extract with docs/report.schema.json. Together
// they use everything that the schema allows.
func TestTrimAndRedactSchema(t *testing.T) {
	s := newReportSchema(t)
	long := strings.Repeat("long ", 200)
	exchange := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"` + long + `"}`
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"h.json":     `[{"role":"system","content":"s"},{"role":"user","content":"q"},` + exchange + `,{"role":"assistant","content":"a"},{"role":"user","content":"r"}]`,
		"one.json":   `[{"role":"user","content":"q"},` + exchange + `]`,
		"empty.json": "",
		"bytes.json": "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\"a\xff\",\"tool_calls\":[{\"id\":\"call_001\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"p\xffth\":\"x\"}}}]},{\"role\":\"tool\",\"tool_call_id\":\"call_001\",\"content\":\"x\"}]}",
		"limits.json": `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"n\":9}"}}]},` +
			`{"role":"tool","tool_call_id":"c1","content":"r"}],"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object","properties":{"n":{"maximum":5}}}}}]}`,
		"all.jsonl": `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}
{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"x","parentUuid":"a","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}
{"type":"assistant","uuid":"b","parentUuid":"u","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"x"},{"type":"tool_use","id":"t2","name":"ls","input":{}}]}}
{"type":"user","uuid":"y","parentUuid":"b","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]}}
{"torn
{"type":"user","uuid":"z","parentUuid":null,"isSidechain":true,"agentId":"x","sessionId":"s","message":{"role":"user","content":"look"}}
`,
		"missing.json": `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"arguments":"{}"}}]},{"role":"user","content":"r"}]`,
		"pending.json": `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}]`,
		"unclear.json": `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"ls","arguments":"{}"}},{"type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","content":"r"},{"role":"critic","content":"x"},{"content":"y"}]`,
		"items.json":   `{"model":"m","input":[{"role":"user","content":"q"},{"type":"mcp_call","id":"m1","name":"n","server_label":"s","arguments":"no"}]}`,
		"no-id.json":   `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"` + long + `"}}}]}]}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	left := map[string]bool{}
	defs := s.raw["$defs"].(map[string]any)
	for _, root := range []string{"trim", "redact", "extract"} {
		s.each(root, defs[root].(map[string]any), nil, func(part string) { left[part] = true })
	}
	for _, c := range []struct {
		code int
		args string
	}{
		{exitOK, "trim --keep-last 1 --dry-run h.json"},
		{exitOK, "trim --keep-last 40 --dry-run h.json"},
		{exitOK, "trim --keep-first 2 --dry-run h.json"},
		{exitOK, "trim --results-max-bytes 200 --dry-run h.json"},
		{exitOK, "trim --results-max-bytes 200 --keep-results 0 --out short.json h.json"},
		{exitOK, "trim --results-max-bytes 200 --keep-results 0 --dry-run no-id.json"},
		{exitOK, "trim --keep-last 1 --dry-run empty.json"},
		{exitFindings, "trim --max-bytes 10 --dry-run h.json"},
		{exitFindings, "trim --target-index 2 --dry-run one.json"},
		{exitOK, "trim --keep-last 1 --write h.json"},
		{exitOK, "redact --out shared.json one.json"},
		{exitOK, "redact --out shared.empty empty.json"},
		{exitOK, "redact --out shared.limits limits.json"},
		{exitOK, "redact --out shared.bytes bytes.json"},
		{exitOK, "extract -q --all --scope all all.jsonl"},
		{exitOK, "extract -q h.json"},
		{exitOK, "extract -q no-id.json"},
		{exitOK, "extract -q missing.json"},
		{exitOK, "extract -q pending.json"},
		{exitOK, "extract -q unclear.json"},
		{exitOK, "extract -q items.json"},
	} {
		args := append(strings.Fields(c.args), "--json")
		code, stdout, stderr := runCommand(t, nil, args...)
		if code != c.code || stderr != "" {
			t.Errorf("%s: exit code %d, want %d\n%s", c.args, code, c.code, stderr)
			continue
		}
		schema := map[string]string{"trim": s.trim, "redact": s.redact, "extract": s.extract}[args[0]]
		v := s.validate(t, c.args, schema, stdout)[0]
		s.each(args[0], defs[args[0]].(map[string]any), &v, func(part string) { delete(left, part) })
	}
	for _, part := range slices.Sorted(maps.Keys(left)) {
		t.Errorf("no report has %s", part)
	}
}

// TestReportSchemaIsClosed: each object of the schema names all its fields, describes them,
// and requires them, except for the field that only fix writes.
func TestReportSchemaIsClosed(t *testing.T) {
	t.Parallel()
	s := newReportSchema(t)
	objects := 0
	var visit func(place string, schema map[string]any, closed bool)
	visit = func(place string, schema map[string]any, closed bool) {
		closed = closed || schema["additionalProperties"] == false || schema["unevaluatedProperties"] == false
		properties, _ := schema["properties"].(map[string]any)
		if schema["type"] == "object" {
			objects++
			if !closed {
				t.Errorf("%s may have other fields", place)
			}
			required, _ := schema["required"].([]any)
			for name := range properties {
				if !slices.Contains(required, any(name)) && (place != "document" || name != "applied") {
					t.Errorf("%s.%s is not required", place, name)
				}
			}
		}
		for name, p := range properties {
			p := p.(map[string]any)
			if place != "line" && p["description"] == nil {
				t.Errorf("%s.%s has no description", place, name)
			}
			visit(place+"."+name, p, false)
		}
		if items, ok := schema["items"].(map[string]any); ok {
			visit(place+"[]", items, false)
		}
		options, _ := schema["oneOf"].([]any)
		for _, o := range options {
			visit(place, o.(map[string]any), closed)
		}
		if to, target := s.resolve(place, schema); to != place {
			visit(to, target, closed)
		}
	}
	visit("document", s.raw, false)
	for _, root := range []string{"line", "trim", "redact", "extract"} {
		visit(root, s.raw["$defs"].(map[string]any)[root].(map[string]any), false)
	}
	if objects < 27 {
		t.Errorf("%d objects", objects)
	}
}

// TestReportSchemaOfHostilePaths: reports keep to the schema and to UTF-8, whatever the files
// are called, and have a finding and all failed files of each.
func TestReportSchemaOfHostilePaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such names")
	}
	s := newReportSchema(t)
	t.Chdir(t.TempDir())
	long := strings.Repeat("long/", 100) + strings.Repeat("n", 240)
	for _, name := range []string{
		"\xff\xfe", "a\xc3", "\xed\xa0\x80", "a\nb", "\r\n", "\x01\x1b[31m\x7f", "\u202e\u2028\u0085", long, "http://example.com/a", "file://a", "c:\\a", "#/%00?", `"}],"`, "::error::x", "..a", "-o",
	} {
		bad, gone, torn, nul := "./"+name+".jsonl", "./"+name+".gone.jsonl", "./"+name+".json.gz", "./"+name+"\x00.jsonl"
		for path, text := range map[string]string{bad: strings.ReplaceAll(cut, "ls", "l\\u0000\\ud800s"), torn: "\x1f\x8b\x08\x00"} {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				if !utf8.ValidString(name) {
					continue // the file system has only names in UTF-8
				}
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(bad); err != nil {
			continue
		}
		for _, args := range [][]string{{"check"}, {"fix"}, {"fix", "--write", "--backup=none"}} {
			for _, more := range [][]string{nil, {"--no-excerpt"}} {
				args := slices.Concat(args, more, []string{"-q"})
				where := fmt.Sprintf("%q of %q", args, name)
				for _, format := range []string{"json", "jsonl"} {
					args := slices.Concat(args, []string{"-o", format, "--", bad, gone, torn, nul})
					code, text, stderr := runCommand(t, nil, args...)
					if code != exitTrouble || !utf8.ValidString(text) {
						t.Fatalf("%s: exit code %d\n%q\n%s", where, code, text, stderr)
					}
					if format == "jsonl" {
						if n := strings.Count(text, `{"type":"failed",`); n != 3 {
							t.Errorf("%s: %d failed files\n%s", where, n, text)
						}
						s.lines(t, where, text)
						continue
					}
					d := s.report(t, where, text).(map[string]any)
					failed, files := d["failed"].([]any), d["files"].([]any)
					if len(failed) != 3 || len(files) != 1 || args[0] == "check" && len(d["findings"].([]any)) == 0 {
						t.Errorf("%s: %d failed and %d other files\n%s", where, len(failed), len(files), text)
					}
				}
			}
		}
	}
}
