package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/rules"
)

// TestReadme compares the README with what the program does: its tables list the
// dialects and rules, it shows the real output of commands, and its Go code is an
// example that is run as a test.
func TestReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	path := filepath.Join(root, "README.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := section(t, string(raw), "formats", formatsTable())
	want = section(t, want, "rules", rulesTable())
	want = section(t, want, "program", exampleCode(t, filepath.Join(root, "example_test.go")))
	t.Chdir(root)
	want = console(t, want)
	if want == string(raw) {
		return
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("README.md is not what the program prints; go test ./cmd/toolguard -update writes it")
}

// section replaces what stands between two marks.
func section(t *testing.T, text, name, body string) string {
	t.Helper()
	open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(text, open)
	if !ok {
		t.Fatalf("README.md has no %q", open)
	}
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("README.md has no %q", end)
	}
	return before + open + body + end + after
}

func formatsTable() string {
	var b strings.Builder
	b.WriteString("| dialect | what it is | where it lies |\n|---|---|---|\n")
	for _, d := range dialect.All() {
		fmt.Fprintf(&b, "| `%s` | %s. %s | %s |\n", d.Name, d.Title, d.Summary, strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(d.Where))
	}
	return b.String()
}

func rulesTable() string {
	var b strings.Builder
	b.WriteString("| group | rules |\n|---|---|\n")
	for _, c := range rules.Categories() {
		var names []string
		for _, r := range rules.All() {
			if r.Category == c {
				names = append(names, fmt.Sprintf("[`%[1]s`](docs/rules/%[1]s.md)", r.Name))
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", c, strings.Join(names, ", "))
	}
	return b.String()
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

// console runs the commands of console blocks, and puts their output behind
// them.
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
			t.Fatal("README.md: a console block without an end")
		}
		var both bytes.Buffer
		run(context.Background(), strings.Fields(line), strings.NewReader(""), &both, &both, func(string) string { return "" })
		out.WriteString(open + line + "\n" + both.String() + "```")
		text = after
		ran++
	}
	if ran == 0 {
		t.Error("README.md shows no command")
	}
	return out.String()
}
