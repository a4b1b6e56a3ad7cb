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

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// hook runs a hook of .pre-commit-hooks.yaml like pre-commit: it runs the entry on
// the staged files whose names match, at once if the hook requires that, else on four
// of them at a time. It fails if the entry fails or changes a file.
//
//	hook toolguard
func hook(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: hook id")
	}
	entry, files, serial := hookOf(ts, args[0])
	cmd := exec.Command("git", "diff", "--cached", "--name-only", "--diff-filter=ACMR", "-z")
	cmd.Dir = ts.MkAbs(".")
	staged, err := cmd.Output()
	ts.Check(err)
	argv := strings.Fields(entry)
	if !serial {
		argv = []string{"sh", "-c", `printf '%s\0' "$@" | xargs -0 -P 2 -n 4 ` + entry, "sh"}
	}
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

// hookOf returns the entry of a hook, the pattern of its file names, and whether it is
// started only once.
func hookOf(ts *testscript.TestScript, id string) (entry string, files *regexp.Regexp, serial bool) {
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
		case "require_serial":
			serial = serial || in && value == "true"
		}
	}
	if entry == "" || files == nil {
		ts.Fatalf("no hook %s", id)
	}
	return entry, files, serial
}

// TestFindingLines checks that editors and problem matchers, which know findings by the form
// of their lines, find each one in the output of check exactly once, whatever the paths and
// the excerpts are.
func TestFindingLines(t *testing.T) {
	t.Parallel()
	finding := regexp.MustCompile(`^(\S.*?):(\d+):(\d+): (error|warning|info): (.*) \[([a-z0-9-]+)\]$`)
	dir := t.TempDir()
	paths := map[string]string{
		// A finding with two excerpts, one whose message looks like a finding, and an info.
		"a b: 1.jsonl": cut + `{"role":"assistant","content":[{"type":"tool_use","id":"x: error: y [z]","name":"ls","input":{}}]}` + "\n",
		"2024 05/12 | x.json": `{"messages":[
{"role":"user","content":"one"},
{"role":"user","content":"c:1:2: error: two [missing-tool-result]"}],"system":"s","max_tokens":1,"model":"m"}`,
		"c:3/late.json": `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"user","content":"d.json:1:2: warning: wait [x]"},
{"role":"tool","tool_call_id":"c1","content":"a.txt"}]`,
		// Lines that look like findings, in excerpts with a short and a long line number.
		"lines.jsonl": `{"role":"user","content":"q"}` + "\nx.json:1:2: error: y [z]\n" + strings.Repeat("\n", 200_000) + "x.json:1:2: error: y [z]\n",
	}
	for name, text := range paths {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Skip(err) // the file system rejects such names
		}
	}
	report := filepath.Join(t.TempDir(), "report.json")
	for _, format := range []string{"text", "concise"} {
		var log bytes.Buffer
		run(t.Context(), []string{"check", "-v", "-o", format, "-o", "json=" + report, dir}, nil, &log, &log, noEnv)
		var got []string
		for line := range strings.Lines(log.String()) {
			if found := finding.FindStringSubmatch(strings.TrimSuffix(line, "\n")); found != nil {
				got = append(got, strings.Join(found[1:], "|"))
			}
		}
		raw, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Findings []struct {
				Path, Severity, Message, Rule string
				Start                         struct{ Line, Column int }
			}
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		var want []string
		severities := map[string]bool{}
		for _, f := range doc.Findings {
			severities[f.Severity] = true
			want = append(want, fmt.Sprintf("%s|%d|%d|%s|%s|%s", f.Path, f.Start.Line, f.Start.Column, f.Severity, f.Message, f.Rule))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-found +matched):\n%s\n%s", format, diff, log.String())
		}
		if len(severities) != 3 {
			t.Errorf("%s: severities %v", format, severities)
		}
		if format == "text" && (!strings.Contains(log.String(), "\n 200003 | x.json:1:2: error: y [z]\n") || !strings.Contains(log.String(), " --") || !strings.Contains(log.String(), "\n\n")) {
			t.Errorf("%s: too few excerpts\n%s", format, log.String())
		}
	}
}
