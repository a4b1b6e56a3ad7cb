package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSpread: on a terminal, a check of many files ends with which of them have errors, and stats shows
// the same.
func TestSpread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sound := `[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"assistant","content":"a"}]`
	write := func(i int) {
		text := sound
		if i >= 30 && i < 36 {
			text = cut
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d.json", i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const want = "6 of 60 files have errors, in the order of their paths"
	for i := range leastSpread - 1 {
		write(i)
	}
	if out := runWithin(t, 80, "check", dir); strings.Contains(out, "in the order of their paths") {
		t.Errorf("few files have a picture:\n%s", out)
	}
	for i := leastSpread - 1; i < 60; i++ {
		write(i)
	}
	picture := strings.Repeat("▁", 30) + "██████" + strings.Repeat("▁", 24) + "\n"
	for _, columns := range []int{narrowest, 80} {
		out := runWithin(t, columns, "check", dir)
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want+". Causes: all with calls without a result.") || columns == 80 && !strings.Contains(out, picture) {
			t.Errorf("check prints\n%s", out)
		}
		if wide := tooWide(out, columns); len(wide) > 0 {
			t.Errorf("too wide:\n%s", strings.Join(wide, "\n"))
		}
	}
	if out := runWithin(t, 80, "stats", dir); !strings.Contains(out, picture+want+".\n") {
		t.Errorf("stats prints\n%s", out)
	}
	for _, args := range [][]string{{"check", "-q", dir}, {"check", "-o", "json", dir}, {"fix", dir}} {
		if out := runWithin(t, 80, args...); strings.Contains(out, want) {
			t.Errorf("%q prints a picture:\n%s", args, out)
		}
	}
	var stdout, stderr bytes.Buffer
	run(t.Context(), []string{"check", dir}, strings.NewReader(""), &stdout, &stderr, noEnv)
	if strings.Contains(stdout.String()+stderr.String(), want) {
		t.Error("without a terminal there is a picture")
	}
}

// TestSpreadOfDoctor: doctor ends with which of many sessions are broken, the oldest first.
func TestSpreadOfDoctor(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "p")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	broken, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "claude-code", "broken", "missing-results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "claude-code", "ok", "parallel-siblings.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		path, text := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), sound
		if i < 3 { // the newest ones
			text = broken
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-time.Duration(i+1) * time.Hour)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	env := func(key string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LANG": "C.UTF-8"}[key]
	}
	var stdout, stderr bytes.Buffer
	a := newApp(strings.NewReader(""), &stdout, &stderr, env)
	a.terminal, a.stderrTerminal = true, true
	a.run(t.Context(), []string{"doctor"})
	end := regexp.MustCompile(`▁{57}███\n3 of 60 sessions have errors, the oldest first\.\nCauses: all with calls without a result\.\n$`)
	if !end.MatchString(stderr.String()) {
		t.Errorf("doctor prints\n%s\n%s", stdout.String(), stderr.String())
	}
}
