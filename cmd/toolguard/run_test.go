package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/suggest"
)

const cut = `{"role":"user","content":"q"}
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}
{"role":"user","content":"well?"}
`

func noEnv(string) string { return "" }

// brokenWriter fails like a broken pipe or a full disk.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: w.err}
}

func TestBrokenPipeIsQuiet(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "-"}, {"check", "-o", "json", "-"}, {"detect", "-"}, {"rules"}, {"explain", "broken-link"}, {"version"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(cut), brokenWriter{syscall.EPIPE}, &stderr, noEnv)
		if code == exitTrouble || stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

func TestBrokenPipeBesideFile(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "report.json")
	var stderr bytes.Buffer
	args := []string{"check", "-q", "-o", "text", "-o", "json=" + out, "-"}
	code := run(t.Context(), args, strings.NewReader(cut), brokenWriter{syscall.EPIPE}, &stderr, noEnv)
	if code != exitFindings || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
	if b, err := os.ReadFile(out); err != nil || !bytes.Contains(b, []byte("missing-tool-result")) {
		t.Errorf("the file holds %q, %v", b, err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "-"}, {"check", "-o", "json", "-"}, {"detect", "-"}, {"rules"}, {"version"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(cut), brokenWriter{syscall.ENOSPC}, &stderr, noEnv)
		want := "toolguard: standard output: no space left on device\n"
		if code != exitTrouble || stderr.String() != want {
			t.Errorf("%v: exit code %d, stderr %q, want %q", args, code, stderr.String(), want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "report.json")
	for _, args := range [][]string{{"check", "-o", "json=" + out, "-"}, {"detect", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		// Standard input that never ends must not keep the process alive.
		stdin, w := io.Pipe()
		defer w.Close()
		time.AfterFunc(10*time.Millisecond, cancel)
		var stderr bytes.Buffer
		code := run(ctx, args, stdin, io.Discard, &stderr, noEnv)
		if code != exitInterrupted || stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) > 0 {
		t.Errorf("an interrupted run left %v, %v", entries, err)
	}
}

// TestExplainEveryRule: a page has an example, which comes before what providers
// answer. It has no marks of Markdown left, and no line but code is wider than 100
// columns. Colours change nothing but the colours.
func TestExplainEveryRule(t *testing.T) {
	t.Parallel()
	forceColor := func(key string) string { return map[string]string{"FORCE_COLOR": "1"}[key] }
	colors := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, r := range rules.All() {
		var stdout, colored, stderr bytes.Buffer
		code := run(t.Context(), []string{"explain", r.Name}, strings.NewReader(""), &stdout, &stderr, noEnv)
		page := stdout.String()
		if code != exitOK || stderr.Len() > 0 || !strings.HasPrefix(page, r.Name+"\n\n"+r.Summary+".\n\n") || !strings.Contains(page, "["+r.Name+"]\n") {
			t.Errorf("%s: exit code %d, stderr %q, stdout:\n%s", r.Name, code, stderr.String(), page)
		}
		if example, answers := strings.Index(page, "\nEXAMPLE\n"), strings.Index(page, "\nWHAT PROVIDERS ANSWER\n\n- "); example < 0 || answers < example && len(r.Answers()) > 0 {
			t.Errorf("%s: the example is at byte %d, and what providers answer at byte %d", r.Name, example, answers)
		}
		before, _, _ := strings.Cut(page, "\nWHAT PROVIDERS ANSWER\n") // providers quote with backticks
		if strings.Contains(before, "`") || strings.Contains(page, "``") || strings.Contains(page, "**") || strings.Contains(page, "|---") {
			t.Errorf("%s has marks:\n%s", r.Name, page)
		}
		for line := range strings.Lines(page) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 100 && !strings.HasPrefix(line, "    ") && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: a line is wider than 100 columns: %s", r.Name, line)
			}
		}
		code = run(t.Context(), []string{"explain", r.Name}, strings.NewReader(""), &colored, &stderr, forceColor)
		if code != exitOK || colored.String() == page || colors.ReplaceAllString(colored.String(), "") != page {
			t.Errorf("%s: in colour it is\n%s", r.Name, colored.String())
		}
	}
}

func TestUseColor(t *testing.T) {
	t.Parallel()
	type env map[string]string
	tests := []struct {
		choice   string
		env      env
		terminal bool
		want     bool
	}{
		{"auto", nil, true, true},
		{"auto", nil, false, false},
		{"auto", env{"TERM": "dumb"}, true, false},
		{"auto", env{"NO_COLOR": "1"}, true, false},
		{"auto", env{"FORCE_COLOR": "1"}, false, true},
		{"auto", env{"FORCE_COLOR": "0"}, false, false},
		{"auto", env{"CLICOLOR_FORCE": "1", "TERM": "dumb"}, false, true},
		{"auto", env{"NO_COLOR": "1", "FORCE_COLOR": "1"}, true, false},
		{"always", env{"NO_COLOR": "1", "TERM": "dumb"}, false, true},
		{"never", env{"FORCE_COLOR": "1"}, true, false},
	}
	for _, tt := range tests {
		got, err := useColor(tt.choice, func(key string) string { return tt.env[key] }, tt.terminal)
		if err != nil || got != tt.want {
			t.Errorf("%s, %v, terminal %v: %v, %v", tt.choice, tt.env, tt.terminal, got, err)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"missing-tool-resutl":  "missing-tool-result",
		"Missing-Tool-Result":  "missing-tool-result",
		"missing_tool_result":  "missing-tool-result",
		"orphan":               "orphan-tool-result",
		"surrogate":            "lone-surrogate",
		"x":                    "",
		"":                     "",
		"quite another matter": "",
	} {
		if got := suggest.Nearest(name, rules.Names()); got != want {
			t.Errorf("suggest.Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestInOrder(t *testing.T) {
	t.Parallel()
	var items []int
	for i := range 500 {
		items = append(items, i)
	}
	weight := func(i int) int64 { return int64(i%7) << 27 }
	odd := errors.New("odd")
	work := func(_ context.Context, i int) (int, error) {
		switch {
		case i%100 == 0:
			time.Sleep(time.Millisecond)
		case i%100 == 7:
			panic("planted")
		case i%2 == 1:
			return 0, odd
		}
		return i * i, nil
	}
	for _, jobs := range []int{1, 2, 16} {
		next := 0
		again := false
		err := inOrder(t.Context(), items, jobs, weight, work, func(item, result int, err error) error {
			want, of := item*item, error(nil)
			switch caught := contain.From(err); {
			case item%100 == 7, again:
				if caught == nil || caught.Panic != "planted" {
					t.Errorf("%d: got %v, want the panic", item, err)
				}
				want, of, again = 0, err, false
			case item%100 == 8:
				again = true
				panic("planted") // done is called again
			case item%2 == 1:
				want, of = 0, odd
			}
			if item != next || result != want || !errors.Is(err, of) {
				t.Errorf("got %d, %d, %v, want %d, %d, %v", item, result, err, next, want, of)
			}
			next++
			return nil
		})
		if err != nil || next != len(items) {
			t.Errorf("%d jobs: %d items, %v", jobs, next, err)
		}
	}

	stop := errors.New("stop")
	err := inOrder(t.Context(), items, 4, weight, work, func(item, _ int, _ error) error {
		if item == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v, want the error of done", err)
	}
	err = inOrder(t.Context(), items, 4, weight, work, func(item, _ int, _ error) error { panic(item) })
	if caught := contain.From(err); caught == nil || caught.Panic != "0" {
		t.Errorf("got %v, want the panic of done that it cannot report", err)
	}
}

// TestListens: commands that read or write files listen for signals before they open one,
// and the others do not.
func TestListens(t *testing.T) {
	dir := t.TempDir()
	file := fixture(t, dir, "cut.jsonl", []byte(cut))
	for _, tt := range []struct {
		args  []string
		heard bool
	}{
		{[]string{"check", file}, true},
		{[]string{"fix", file}, true},
		{[]string{"doctor", "--path", file}, true},
		{[]string{"detect", file}, true},
		{[]string{"baseline", "--baseline", filepath.Join(dir, "known"), file}, true},
		{[]string{"config", "show"}, true},
		{[]string{"version"}, false},
		{[]string{"rules"}, false},
		{[]string{"explain", "missing-tool-result"}, false},
	} {
		var did []string
		a := newApp(strings.NewReader(""), io.Discard, io.Discard, noEnv)
		a.listen = func() { did = append(did, "listen") }
		a.beforeFiles = func(int) { did = append(did, "open") }
		if code := a.run(context.Background(), tt.args); code != exitOK && code != exitFindings {
			t.Errorf("%q: exit code %d", tt.args, code)
		}
		if heard := slices.Contains(did, "listen"); heard != tt.heard || slices.Contains(did, "open") && did[0] != "listen" {
			t.Errorf("%q: %q", tt.args, did)
		}
	}
}

// TestErrorIsOneLine: a name in an error cannot look like a line of its own.
func TestErrorIsOneLine(t *testing.T) {
	file := fixture(t, t.TempDir(), "cut.jsonl", []byte(cut))
	var stderr bytes.Buffer
	code := run(context.Background(), []string{"check", "--baseline", "x\nNo problems found.\n::error::y", file}, strings.NewReader(""), io.Discard, &stderr, noEnv)
	const want = "toolguard: x<0a>No problems found.<0a>::error::y: no such file or directory; toolguard baseline creates it\n"
	if code != exitTrouble || stderr.String() != want {
		t.Errorf("exit code %d, %q, want %q", code, stderr.String(), want)
	}
}
