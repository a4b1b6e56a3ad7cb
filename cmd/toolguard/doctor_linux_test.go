package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/hostile"
)

// TestDoctorAsks: on a terminal doctor asks for each session, and does what is answered.
func TestDoctorAsks(t *testing.T) {
	t.Parallel()
	const prompt = "   Repair it? [y]es [n]o [d]iff [q]uit: "
	for _, tt := range []struct {
		name  string
		types []string // one for each prompt
		code  int
		done  []bool // by session, newest first
		shows string
	}{
		{"all", []string{"y\n", "YES\n", "yes\n"}, exitOK, []bool{true, true, true}, "Repaired 3 sessions. No broken session left."},
		{"some", []string{"n\n", "y\n", "no\n"}, exitFindings, []bool{false, true, false}, "Repaired 1 session. 2 broken sessions left."},
		{"chosen", []string{"y\n"}, exitFindings, []bool{false, true, false}, "Repaired 1 session. 2 broken sessions left."},
		{"quit", []string{"y\n", "q\n"}, exitFindings, []bool{true, false, false}, "Repaired 1 session. 2 broken sessions left."},
		{"end", []string{"y\n", "\x04"}, exitFindings, []bool{true, false, false}, "Repaired 1 session. 2 broken sessions left."},
		{"diff", []string{"d\n", "n\n", "what\n", "\n", "n\n", "n\n"}, exitFindings, []bool{false, false, false}, "messages.3 (additive) [missing-tool-result]\n"},
		{"interrupt", []string{"y\n", "\x03"}, exitInterrupted, []bool{true, false, false}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			original := transcriptFile(t, brokenSession)
			var paths []string
			for i, name := range []string{"a", "b", "c"} {
				path := p.put(t, ".claude/projects/-srv/"+name+".jsonl", original)
				aged(t, path, time.Duration(i+1)*time.Hour)
				paths = append(paths, path)
			}
			user, x := typing(t)
			cmd := exec.Command("toolguard", "doctor", "--fix")
			if tt.name == "chosen" {
				cmd.Args = append(cmd.Args, "2")
			}
			cmd.Env = append(os.Environ(), "HOME="+p.home, "XDG_STATE_HOME=", "CLAUDE_CONFIG_DIR=", "TERM=xterm", "NO_COLOR=1", "COLUMNS=", "CI=", "GORACE=atexit_sleep_ms=0")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = x.program, x.program, x.program
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			for i, line := range tt.types {
				for began := time.Now(); strings.Count(x.drawn.String(), prompt) <= i; time.Sleep(5 * time.Millisecond) {
					if time.Since(began) > 30*time.Second {
						t.Fatalf("prompt %d does not come: %q", i, x.drawn.String())
					}
				}
				if _, err := io.WriteString(user, line); err != nil {
					t.Fatal(err)
				}
			}
			code := x.wait(t, cmd)
			drawn := strings.ReplaceAll(x.drawn.String(), "\r\n", "\n")
			if code != tt.code || !strings.Contains(drawn, tt.shows) || strings.Count(drawn, prompt) != len(tt.types) {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, drawn)
			}
			if err := hostile.Obeyed(strings.ReplaceAll(drawn, "^C", ""), hostile.Allowed{}); err != nil {
				t.Error(err)
			}
			for i, name := range []string{"a", "b", "c"} {
				asked := strings.Contains(drawn, "\n   ~/.claude/projects/-srv/"+name+".jsonl\n"+prompt)
				if want := i == 0 && tt.name != "chosen" || i == 1 || tt.name == "all" || tt.name == "some" || tt.name == "diff"; asked != want {
					t.Errorf("the question names session %s: %t", name, asked)
				}
			}
			for i, path := range paths {
				text, err := os.ReadFile(path)
				if done := !bytes.Equal(text, original); err != nil || done != tt.done[i] {
					t.Errorf("session %d is repaired: %v, %v", i+1, done, err)
				}
			}
		})
	}
}

// TestDoctorPathOfPipe: a pipe that --path names is not opened.
func TestDoctorPathOfPipe(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	name := filepath.Join(p.home, "a.jsonl")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := p.doctor(t, "--path", name)
	if want := "toolguard: --path: ~/a.jsonl: expected a directory or a regular file\n"; code != exitTrouble || stderr != want {
		t.Errorf("exit code %d, %q, want %q", code, stderr, want)
	}
}
