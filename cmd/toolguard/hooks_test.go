package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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

// An actionStep is a step of action.yml that runs a script.
type actionStep struct {
	name   string
	env    map[string]string
	script string
}

// actionSteps reads the scripts of action.yml. It understands only the YAML that the
// file uses.
func actionSteps(t *testing.T) []actionStep {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var steps []actionStep
	env, script := false, false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case script && (indent >= 8 || line == ""):
			steps[len(steps)-1].script += strings.TrimPrefix(line, "        ") + "\n"
			continue
		case env && indent >= 8:
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			steps[len(steps)-1].env[key] = value
			continue
		}
		env, script = line == "      env:", line == "      run: |"
		if name, ok := strings.CutPrefix(line, "    - name: "); ok {
			steps = append(steps, actionStep{name: name, env: map[string]string{}})
		}
	}
	return steps
}

// TestAction runs the scripts of action.yml like a runner.
func TestAction(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	if testing.Short() {
		t.Skip("it builds the program")
	}
	project, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	temp, work := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"runs/cut.jsonl": cut, "a b/ok.jsonl": `{"role":"user","content":"q"}` + "\n"} {
		name = filepath.Join(work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	step := func(s actionStep, inputs map[string]string) (string, int) {
		t.Helper()
		path, _ := os.ReadFile(filepath.Join(temp, "path"))
		cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", s.script)
		cmd.Dir = work
		cmd.Env = append(os.Environ(),
			"GITHUB_ACTION_PATH="+project, "RUNNER_TEMP="+temp, "GITHUB_PATH="+filepath.Join(temp, "path"),
			"GITHUB_OUTPUT="+filepath.Join(temp, "output"),
			"PATH="+strings.TrimSpace(string(path))+string(os.PathListSeparator)+os.Getenv("PATH"))
		for key, value := range s.env {
			input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
			v, ok := inputs[input]
			if !ok {
				t.Fatalf("%s: %s is set to %s", s.name, key, value)
			}
			cmd.Env = append(cmd.Env, key+"="+v)
		}
		out, err := cmd.CombinedOutput()
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	steps := actionSteps(t)
	if len(steps) != 3 || steps[0].name != "Install toolguard" || steps[1].name != "Check transcripts" {
		t.Fatalf("steps are %+v", steps)
	}
	if out, code := step(steps[0], nil); code != 0 {
		t.Fatalf("install: exit code %d\n%s", code, out)
	}
	inputs := map[string]string{"paths": "runs\na b", "args": "--fail-on=error\n--quiet", "annotations": "true"}
	out, code := step(steps[1], inputs)
	annotation := "::error file=runs/cut.jsonl,line=2,col=56,endColumn=60,title=missing-tool-result::call \"c1\" to \"ls\" has no result"
	if code != exitFindings || !strings.HasPrefix(out, "runs/cut.jsonl:2:56: error: ") || !strings.Contains(out, "\n"+annotation) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if sarif, err := os.ReadFile(filepath.Join(temp, "toolguard.sarif")); err != nil || !bytes.Contains(sarif, []byte(`"uri":"runs/cut.jsonl"`)) {
		t.Errorf("SARIF: %v\n%s", err, sarif)
	}
	if output, err := os.ReadFile(filepath.Join(temp, "output")); err != nil || string(output) != "sarif="+filepath.Join(temp, "toolguard.sarif")+"\n" {
		t.Errorf("output: %q, %v", output, err)
	}
	inputs = map[string]string{"paths": "a b", "args": "", "annotations": "false"}
	if out, code := step(steps[1], inputs); code != exitOK || out != "No problems found. 1 file checked.\n" {
		t.Errorf("a clean directory: exit code %d\n%s", code, out)
	}
	// Commands in an input are not run.
	inputs["paths"] = "$(touch owned); touch owned\n`touch owned`\n\"; touch owned; \""
	if out, code := step(steps[1], inputs); code != exitTrouble {
		t.Errorf("no such paths: exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(work, "owned")); err == nil {
		t.Error("an input was run as a script")
	}
}
