package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// hook runs a hook of .pre-commit-hooks.yaml like pre-commit: it runs the entry on
// the staged files whose names match, and fails if the entry fails or changes a
// file.
//
//	hook toolguard
func hook(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: hook id")
	}
	entry, files := hookOf(ts, args[0])
	cmd := exec.Command("git", "diff", "--cached", "--name-only", "--diff-filter=ACMR", "-z")
	cmd.Dir = ts.MkAbs(".")
	staged, err := cmd.Output()
	ts.Check(err)
	argv := strings.Fields(entry)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(staged), "\x00"), "\x00") {
		if files.MatchString(name) {
			argv = append(argv, name)
		}
	}
	err = ts.Exec(argv[0], argv[1:]...)
	diff := exec.Command("git", "diff", "--quiet")
	diff.Dir = cmd.Dir
	if changed := diff.Run(); err == nil && changed != nil {
		ts.Fatalf("%s changed files and did not say so", entry)
	}
	switch {
	case err == nil && neg:
		ts.Fatalf("the hook passes")
	case err != nil && !neg:
		ts.Fatalf("the hook fails: %v", err)
	}
}

// hookOf returns the entry of a hook and the pattern of its file names.
func hookOf(ts *testscript.TestScript, id string) (entry string, files *regexp.Regexp) {
	in := false
	for line := range strings.Lines(ts.ReadFile(filepath.Join(ts.Getenv("PROJECT"), ".pre-commit-hooks.yaml"))) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "- id":
			in = value == id
		case "entry":
			if in {
				entry = value
			}
		case "files":
			if in {
				files = regexp.MustCompile(value)
			}
		}
	}
	if entry == "" || files == nil {
		ts.Fatalf("no hook %s", id)
	}
	return entry, files
}

// TestMatcher checks that the problem matcher matches the output of check.
func TestMatcher(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", ".github", "toolguard-matcher.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		ProblemMatcher []struct {
			Owner   string
			Pattern []struct {
				Regexp                                      string
				File, Line, Column, Severity, Message, Code int
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	p := doc.ProblemMatcher[0].Pattern[0]
	pattern := regexp.MustCompile(p.Regexp)
	dir := t.TempDir()
	path := filepath.Join(dir, "a b: 1.jsonl")
	if err := os.WriteFile(path, []byte(cut+`{"role":"assistant","content":[{"type":"tool_use","id":"x: error: y [z]","name":"ls","input":{}}]}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, format := range []string{"text", "concise"} {
		var stdout bytes.Buffer
		run(t.Context(), []string{"check", "-q", "-o", format, path}, nil, &stdout, &stdout, noEnv)
		var got []string
		for line := range strings.Lines(stdout.String()) {
			if m := pattern.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
				got = append(got, fmt.Sprintf("%s|%s|%s|%s|%s|%s", filepath.Base(m[p.File]), m[p.Line], m[p.Column], m[p.Severity], m[p.Message], m[p.Code]))
			}
		}
		want = []string{
			`a b: 1.jsonl|2|56|error|call "c1" to "ls" has no result|missing-tool-result`,
			"", // its message belongs to the rule
			`a b: 1.jsonl|4|56|warning|call "x: error: y [z]" to "ls" has no result yet|pending-tool-call`,
		}
		if len(got) != len(want) || got[0] != want[0] || got[2] != want[2] || !strings.HasSuffix(got[1], "|invalid-call-id") {
			t.Errorf("%s: matched\n%s", format, strings.Join(got, "\n"))
		}
	}
}
