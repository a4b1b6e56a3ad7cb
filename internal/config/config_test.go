package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pelletier/go-toml/v2"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/reference"
)

const example = `fail-on = "warning"
select = ["pairing", "invalid-json"]
ignore = ["reused-call-id"]
exclude = ["testdata/broken/**", "*.tmp.json"]
provider = "anthropic"
placeholder = "gone: {tool}"
baseline = ".toolguard-baseline"
backup = "none"

[rules]
reused-call-id = "warning"
broken-link = "off"

[strategy]
orphan-tool-result = "text"

[[per-file]]
paths = ["fixtures/legacy/*.jsonl"]
ignore = ["orphan-tool-result"]
ids = ["call_abc"]

[[per-file]]
paths = ["a.json"]
ids = ["c1", "c2"]
`

const ownDialect = `[[dialect]]
name = "my-stack"
driver = "side-list"
marks = ["speaker"]
[dialect.side-list]
role = "speaker"
user = "user"
assistant = "assistant"
tool = "tool"
content = "says"
calls = "actions"
id = "id"
name = "tool"
args = "input"
result-id = "answers"
`

// read reads a config file with that text.
func read(t *testing.T, text string) (*File, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "toolguard.toml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return Read(name, "")
}

func TestRead(t *testing.T) {
	t.Parallel()
	got, err := read(t, example)
	if err != nil {
		t.Fatal(err)
	}
	want := &File{
		FailOn: "warning", Select: []string{"pairing", "invalid-json"}, Ignore: []string{"reused-call-id"},
		Exclude: []string{"testdata/broken/**", "*.tmp.json"}, Provider: "anthropic", Placeholder: "gone: {tool}",
		Baseline: ".toolguard-baseline", Backup: "none",
		Rules:    map[string]string{"reused-call-id": "warning", "broken-link": "off"},
		Strategy: map[string]string{"orphan-tool-result": "text"},
		PerFile: []PerFile{
			{Paths: []string{"fixtures/legacy/*.jsonl"}, Ignore: []string{"orphan-tool-result"}, IDs: []string{"call_abc"}},
			{Paths: []string{"a.json"}, IDs: []string{"c1", "c2"}},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(File{}), cmpopts.IgnoreFields(File{}, "Path")); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	text := got.Format()
	again, err := read(t, string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(got, again, cmpopts.IgnoreUnexported(File{}), cmpopts.IgnoreFields(File{}, "Path")); diff != "" {
		t.Errorf("written and read again (-want +got):\n%s", diff)
	}
}

func TestStarterIsValid(t *testing.T) {
	t.Parallel()
	if _, err := read(t, Starter); err != nil {
		t.Error(err)
	}
	// And so is what stands in its comments.
	var lines []string
	for line := range strings.Lines(Starter) {
		if text, ok := strings.CutPrefix(line, "# "); ok && (strings.Contains(text, " = ") || strings.HasPrefix(text, "[")) {
			line = text
		}
		lines = append(lines, line)
	}
	f, err := read(t, strings.Join(lines, ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.PerFile) != 1 || f.FailOn == "" || len(f.Rules) == 0 || len(f.Strategy) == 0 || len(f.Dialects().UserDefined()) != 1 {
		t.Errorf("got %+v", f)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"\n\tfail-on = 1", "2:12: expected a string for fail-on"},
		{"rules = 'all'", "1:9: expected a table for rules"},
		{"[fail-on]", "1:2: expected a string for fail-on"},
		{"[[select]]\nx = 1", "1:3: expected a list of strings for select"},
		{"[[rules]]\nx = 1", "1:3: expected a table for rules"},
		{"[rules.broken-link]\nx = 1", "1:2: expected a string for rules.broken-link"},
		{"[per-file.paths.x]\na = 1", "1:2: expected a list of strings for per-file.paths"},
		{"fail-on.x = 1", "1:9: expected a string for fail-on"},
		{"per-file = 3", "1:12: expected a list of tables for per-file"},
		{"[[per-file]]\npaths = [1]", "2:10: expected a list of strings for per-file.paths"},
		{"[rules]\nbroken-link = 1", "2:15: expected a string for rules.broken-link"},
		{"per-file = [{paths = ['a']}]", `1:1: missing key "ignore" or "ids" in [[per-file]]`},
		{"per-file = [{paths = ['a'], ids = ['b'], ignore = ['c']}]", `1:52: unknown rule or category "c"; toolguard rules lists them`},
		{"rules = {broken-link = 'of'}", `1:24: expected off, info, warning or error for broken-link, got "of"; did you mean "off"?`},
		{"rules.broken-links = 'off'", `1:7: unknown rule "broken-links"; did you mean "broken-link"?`},
		{"placeholder = '  '", "1:15: expected a text for placeholder"},
		{"fail-on =\nprovider = 'openai'", "1:10: unexpected end of the line at start of value"},
		{"fail-on = 'error'\nfail-on = 'error'", "2:1: key fail-on is already defined"},
		{"é = 1", `1:1: invalid character at start of key: U+00C3 'Ã'`},
		{"a = 1\r\nb = 2\r\n", "1:1: unknown key \"a\"; expected one of fail-on, select, ignore, exclude, provider, placeholder, baseline, backup, rules, strategy, per-file, dialect"},
		{"= 1", ""},
		{"[", ""},
		{"[[per-file", ""},
		{"x = [\n\n", ""},
		{"\xff", ""},
		{"exclude = \"\"\"\n", ""},
	} {
		_, err := read(t, tt.text)
		var invalid *Error
		if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		_, got, _ := strings.Cut(strings.Split(err.Error(), "\n")[0], "toolguard.toml:")
		if tt.want != "" && got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
		for _, p := range invalid.Problems {
			if p.Line < 1 || p.Column < 1 || p.Column-1+p.Width > len(p.Text) {
				t.Errorf("%q: problem %+v", tt.text, p)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"a.json", "a.json", true},
		{"a.json", "x/y/a.json", true},
		{"./a.json", "a.json", true},
		{"x/a.json", "x/a.json", true},
		{"x/a.json", "y/x/a.json", false},
		{"**/x/a.json", "y/x/a.json", true},
		{"x", "x/y/a.json", true},
		{"x/", "x/y/a.json", true},
		{"x/**", "x/y/a.json", true},
		{"x/*", "x/y/a.json", true},
		{"x/*.json", "x/y/a.json", false},
		{"*.{json,jsonl}", "x/a.jsonl", true},
		{"A.json", "a.json", false},
		{"**", "a.json", true},
		{"a.json", "../a.json", false},
		{"*", "../a.json", false},
	} {
		if got := Match([]string{tt.glob}, dir, filepath.Join(dir, filepath.FromSlash(tt.path))); got != tt.want {
			t.Errorf("%s matches %s: %t", tt.glob, tt.path, got)
		}
	}
}

func TestFinder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"toolguard.toml":         "provider = 'openai'",
		".toolguard.toml":        "target = 'nobody'", // never read: the other one wins
		"a/b/.toolguard.toml":    "target = 'anthropic'",
		"a/c/toolguard.toml/dir": "",
		"wrong/toolguard.toml":   "x = 1",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var f Finder
	for in, want := range map[string]string{
		".": "openai", "a": "openai", "a/b": "anthropic", "a/b/c/d": "anthropic", "nowhere/at/all": "openai",
	} {
		file, err := f.Find(filepath.Join(dir, filepath.FromSlash(in)))
		if err != nil || file == nil || file.Provider != want {
			t.Errorf("%s: %+v, %v", in, file, err)
		}
	}
	if _, err := f.Find(filepath.Join(dir, "wrong", "x")); err == nil {
		t.Error("a config file that is wrong is taken")
	}
	// What has the name and cannot be read is not passed over.
	in := filepath.Join(dir, "a", "c")
	if _, err := f.Find(in); err == nil || !strings.HasSuffix(err.Error(), "toolguard.toml: is a directory") {
		t.Errorf("got %v", err)
	}
	in = filepath.Join(dir, "a", "d")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	if os.Symlink("none", filepath.Join(in, ".toolguard.toml")) == nil {
		if _, err := f.Find(in); err == nil || !strings.HasSuffix(err.Error(), "toolguard.toml: no such file or directory") {
			t.Errorf("got %v", err)
		}
	}
}

// TestSchema holds the schema to the struct, and to what Read takes.
func TestSchema(t *testing.T) {
	t.Parallel()
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "toolguard.schema.json")
	golden.File(t, path, string(got))

	validator, err := reference.Start()
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		example:                                    true,
		Starter:                                    true,
		"fail-on = 'errors'":                       false,
		"fail_on = 'error'":                        false,
		"exclude = 'a'":                            false,
		"select = ['orphan']":                      false,
		"target = 'anthropc'":                      false,
		"[rules]\nx = 'off'":                       false,
		"[rules]\nbroken-link = 'loud'":            false,
		"[strategy]\nbroken-link = 'leave'":        false,
		"[strategy]\norphan-tool-result = 'leave'": true,
		"[[per-file]]\nignore = ['ids']":           false,
		ownDialect:                                 true,
		ownDialect + "extra = 1":                   false,
		ownDialect + "want = 'strings'":            false,
		ownDialect + "roles = { x = 'robot' }":     false,
		ownDialect + "roles = { x = 'user' }":      true,
		ownDialect + "lists = 'yes'":               false,
		"[[dialect]]\nname = 'a'":                  false,
		"dialect = 1":                              false,
	} {
		var v map[string]any
		if err := toml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		a, err := validator.Validate(reference.Request{Schema: string(got), URL: "schema:///config", Values: []string{string(raw)}})
		if err != nil || a.Invalid != "" || len(a.Unchecked) > 0 {
			t.Fatal(a, err)
		}
		if failures := a.Failures[0]; (failures == nil) != valid {
			t.Errorf("the schema says of\n%s\n%v", text, failures)
		}
		if _, err := read(t, text); (err == nil) != valid {
			t.Errorf("read says of\n%s\n%v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(example)
	f.Add(Starter)
	f.Add(ownDialect)
	f.Add("dialect = [{name = 'a', driver = 'items', items = {pairs = [{}, 1]}}]\ndialect.x = 1")
	f.Add("fail-on = \"error")
	f.Add("per-file = [{paths = ['a'], ids = 'b'}]")
	name := filepath.Join(f.TempDir(), "toolguard.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := Read(name, "")
		var invalid *Error
		if errors.As(err, &invalid) {
			for _, p := range invalid.Problems {
				if p.Line > 0 && (p.Column < 1 || p.Width < 0 || p.Column-1+p.Width > len(p.Text)) {
					t.Errorf("problem %+v", p)
				}
			}
		} else if err != nil || file == nil {
			t.Errorf("%v, %v", file, err)
		}
	})
}

// TestFormat: a file is written as TOML that is read as the same values, whatever they hold.
func TestFormat(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "it's", `"`, `\`, "a\nb\tc", "\x00\x1f\x7f", "é…", "#", "a = b", ""}
	f := &File{FailOn: "error", Rules: map[string]string{}, PerFile: []PerFile{{Paths: texts}, {IDs: []string{"c1"}}}}
	for _, text := range texts {
		f.Rules[text] = text
	}
	f.Dialect = []map[string]any{{
		"name": "a", "n": int64(-3), "yes": true, "none": []any{}, "mixed": []any{"x", map[string]any{"k v": "y"}},
		"deep": map[string]any{"list": []any{map[string]any{"a": "1", "b": map[string]any{"c": "2"}}, map[string]any{}}},
	}}
	text := f.Format()
	var again File
	if err := toml.Unmarshal(text, &again); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(f, &again, cmpopts.IgnoreUnexported(File{})); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, text)
	}
	const want = `fail-on = 'error'

[rules]
'' = ''
"\u0000\u001f\u007f" = "\u0000\u001f\u007f"
'"' = '"'
'#' = '#'
'\' = '\'
a = 'a'
"a\nb\tc" = "a\nb\tc"
'a = b' = 'a = b'
"it's" = "it's"
'é…' = 'é…'

[[per-file]]
paths = ['a', "it's", '"', '\', "a\nb\tc", "\u0000\u001f\u007f", 'é…', '#', 'a = b', '']

[[per-file]]
ids = ['c1']

[[dialect]]
mixed = ['x', {'k v' = 'y'}]
n = -3
name = 'a'
none = []
yes = true

[dialect.deep]

[[dialect.deep.list]]
a = '1'

[dialect.deep.list.b]
c = '2'

[[dialect.deep.list]]
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFormerKey: the former name of a key has its value, and is not offered.
func TestFormerKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`target = "openai"`:                            "openai",
		`provider = "gemini"`:                          "gemini",
		"provider = \"gemini\"\ntarget = \"openai\"\n": "gemini",
	} {
		name := filepath.Join(t.TempDir(), "toolguard.toml")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Read(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if f.Provider != want || f.Target != "" {
			t.Errorf("%s: %q and %q", text, f.Provider, f.Target)
		}
	}
	if slices.Contains(keysOf(nil), "target") {
		t.Error("target is offered")
	}
}
