package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// maxReadme is how many words README.md may have, as wc counts them. A reader
// takes a minute for the prose and skims the rest.
const maxReadme = 900

// TestReadme compares README.md with the program: the numbers, the summaries of
// rules, the output of commands and the Go example.
func TestReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	path := filepath.Join(root, "README.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := counts(t, string(raw))
	want = ruleSummaries(t, want)
	want = section(t, want, "program", exampleCode(t, filepath.Join(root, "example_test.go")))
	t.Chdir(root)
	want = console(t, want)
	golden.File(t, "README.md", want)
	if n := len(strings.Fields(want)); n > maxReadme {
		t.Errorf("README.md has %d words, at most %d are allowed", n, maxReadme)
	}
}

// counts puts the numbers of formats and profiles into the README.
func counts(t *testing.T, text string) string {
	t.Helper()
	for pattern, n := range map[string]int{
		`\d+( formats\b)`:   len(dialect.All()),
		`\d+( providers\b)`: len(profile.Names()),
		`\d+( rules\b)`:     len(rules.Names()),
	} {
		re := regexp.MustCompile(pattern)
		if len(re.FindAllString(text, -1)) != 1 {
			t.Fatalf("README.md says not once how many %q there are", pattern)
		}
		text = re.ReplaceAllString(text, fmt.Sprintf("%d$1", n))
	}
	return text
}

// ruleSummaries fills in what the rules that the README lists find.
func ruleSummaries(t *testing.T, text string) string {
	t.Helper()
	listed := 0
	row := regexp.MustCompile("(?m)^- \\[`([a-z0-9-]+)`\\]\\(docs/rules/([a-z0-9-]+)\\.md\\):.*$")
	text = row.ReplaceAllStringFunc(text, func(line string) string {
		listed++
		m := row.FindStringSubmatch(line)
		r := rules.ByName(m[1])
		if r == nil || m[2] != m[1] {
			t.Fatalf("README.md: no rule is described by %q", line)
		}
		return fmt.Sprintf("- [`%[1]s`](docs/rules/%[1]s.md): %[2]s", r.Name, r.Summary)
	})
	if listed != 8 {
		t.Errorf("README.md lists %d rules, want 8", listed)
	}
	return text
}

// section replaces the text between two marks.
func section(t *testing.T, text, name, body string) string {
	t.Helper()
	open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(text, open)
	if !ok {
		t.Fatalf("the page has no %q", open)
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("the page has no %q", end)
	}
	return before + open + body + end + after
}

// exampleCode returns the body of the package's example, with its output, as a
// block of Markdown.
func exampleCode(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, opened := strings.Cut(string(source), "\nfunc Example() {\n")
	body, _, closed := strings.Cut(rest, "\n}\n")
	if !opened || !closed {
		t.Fatalf("%s has no Example", path)
	}
	var b strings.Builder
	b.WriteString("```go\n")
	for line := range strings.SplitSeq(body, "\n") {
		b.WriteString(strings.TrimPrefix(line, "\t") + "\n")
	}
	b.WriteString("```\n")
	return b.String()
}

// console runs the commands of console blocks and puts their output behind them.
func console(t *testing.T, text string) string {
	t.Helper()
	const open = "```console\n$ toolguard "
	var out strings.Builder
	ran := 0
	for {
		before, rest, ok := strings.Cut(text, open)
		out.WriteString(before)
		if !ok {
			break
		}
		line, rest, _ := strings.Cut(rest, "\n")
		_, after, ok := strings.Cut(rest, "```")
		if !ok {
			t.Fatal("README.md: a console block has no end")
		}
		var both bytes.Buffer
		run(context.Background(), strings.Fields(line), strings.NewReader(""), &both, &both, func(string) string { return "" })
		out.WriteString(open + line + "\n" + both.String() + "```")
		text = after
		ran++
	}
	if ran != 2 {
		t.Errorf("README.md shows the output of %d commands, want 2", ran)
	}
	return out.String()
}

// TestReadmeBlocks: each code block of the README is of a kind that a test runs.
func TestReadmeBlocks(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, b := range readmeBlocks(t) {
		kinds = append(kinds, b.kind)
	}
	// TestReadmeShell runs sh, TestReadme console and go, and TestReadmeHook yaml.
	want := []string{"sh", "sh", "console", "console", "yaml", "go"}
	if !slices.Equal(kinds, want) {
		t.Errorf("README.md has code blocks of the kinds %q, want %q", kinds, want)
	}
}

// A block is a code block of a page.
type block struct {
	kind string // the word behind the opening fence
	text string
}

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+string(raw), "\n```")
	if len(parts)%2 == 0 {
		t.Fatal("README.md: a code block has no end")
	}
	var blocks []block
	for i := 1; i < len(parts); i += 2 {
		kind, text, _ := strings.Cut(parts[i], "\n")
		blocks = append(blocks, block{kind, text + "\n"})
	}
	return blocks
}

// TestReadmeShell runs the lines of the README that install the program and try
// it out, and looks at what was installed.
func TestReadmeShell(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("README.md is written for a shell")
	}
	t.Parallel()
	root := filepath.Join("..", "..")
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	installed := filepath.Join(bin, "toolguard")
	const install = "go install ./cmd/toolguard && go -C proxy install ./cmd/toolguard-proxy"
	const broken = "testdata/transcripts/anthropic/broken/cut-session.json"
	var got []string
	for _, b := range readmeBlocks(t) {
		if b.kind != "sh" {
			continue
		}
		for line := range strings.Lines(b.text) {
			line = strings.TrimSuffix(line, "\n")
			got = append(got, line)
			switch line {
			case install:
				cmd := exec.Command("sh", "-c", line)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "GOBIN="+bin)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			default:
				// To run the tests from a test would not end, and go run would
				// link the program once more.
				if !regexp.MustCompile(`(?m)^step (exits 1 )?` + regexp.QuoteMeta(line) + `$`).Match(ci) {
					t.Errorf(".ci/run does not run %q as README.md shows it", line)
				}
			}
		}
	}
	want := []string{install, "go run ./cmd/toolguard check " + broken, "go test ./..."}
	if !slices.Equal(got, want) {
		t.Fatalf("README.md runs %q, want %q", got, want)
	}
	cmd := exec.Command(installed, "check", broken)
	cmd.Dir = root
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitFindings {
		t.Errorf("the installed program: exit code %d, want %d\n%s", cmd.ProcessState.ExitCode(), exitFindings, out)
	}
	linked(t, installed)
	cmd = exec.Command(installed, "proxy", "--version")
	cmd.Env = append(os.Environ(), "PATH="+bin)
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("toolguard-proxy ")) {
		t.Errorf("the installed proxy: %v\n%s", err, out)
	}
}

// linked fails if the program has the network in it, or anything that makes the
// linker keep functions that nobody calls, or a library that works before main.
func linked(t *testing.T, file string) {
	t.Helper()
	binary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The names of functions are in every binary, each with a zero before it.
	has := func(name string) bool { return bytes.Contains(binary, []byte("\x00"+name)) }
	for _, name := range []string{"net/http.", "crypto/tls.", "github.com/santhosh-tekuri/jsonschema/", "golang.org/x/text/", "text/template.(*state).", "reflect.Value.MethodByName\x00"} {
		if has(name) {
			t.Errorf("%q is linked in", name)
		}
	}
	if !has("os.ReadFile\x00") {
		t.Error("the binary names no function at all")
	}
}

// TestReadmeHook: the hook of the README is one of .pre-commit-hooks.yaml.
// TestScripts/pre-commit runs the hooks, and TestVersions compares the
// revision.
func TestReadmeHook(t *testing.T) {
	t.Parallel()
	hooks, err := os.ReadFile(filepath.Join("..", "..", ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const head = "repos:\n  - repo: https://github.com/toolguard/toolguard\n    rev: "
	for _, b := range readmeBlocks(t) {
		if b.kind != "yaml" {
			continue
		}
		rest, ok := strings.CutPrefix(b.text, head)
		_, list, found := strings.Cut(rest, "\n    hooks:\n")
		id := strings.TrimSpace(list)
		if !ok || !found || !strings.HasPrefix(id, "- id: ") || !strings.Contains("\n"+string(hooks), "\n"+id+"\n") {
			t.Errorf("README.md: no hook of .pre-commit-hooks.yaml is used by\n%s", b.text)
		}
	}
}

// TestReadmeCommands runs the commands that the README names in its text. None
// may end with anything but 0 or findings.
func TestReadmeCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("README.md is written for a shell")
	}
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	const history = `[{"role":"user","content":"q"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"user","content":"well?"}]`
	var ran []string
	for _, m := range regexp.MustCompile("`((?:toolguard|fix) [^`]+)`").FindAllStringSubmatch(string(raw), -1) {
		line := m[1]
		if strings.HasPrefix(line, "fix ") { // said of toolguard fix
			line = "toolguard " + line + " session.jsonl"
		}
		dir := t.TempDir()
		for name, text := range map[string]string{
			"session.jsonl": cut, "request.json": history, "fixtures/a.json": history,
			"train.jsonl": "{\"messages\":" + strings.ReplaceAll(history, "\n", "") + "}\n",
			// The tests of the proxy run docs/proxy.md.
			"bin/toolguard-proxy": "#!/bin/sh\necho toolguard-proxy " + programVersion() + "\n",
		} {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CI=", "HOME="+dir, "XDG_STATE_HOME=", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitOK && code != exitFindings || bytes.Contains(out, []byte("toolguard: ")) {
			t.Errorf("%s: exit code %d\n%s", line, code, out)
		}
		ran = append(ran, line)
	}
	if len(ran) < 7 {
		t.Errorf("README.md names %d commands: %q", len(ran), ran)
	}
}
