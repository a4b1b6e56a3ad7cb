//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// hears makes children hear signals that this process ignores, under nohup or in the background of
// a script. A child ignores them too, unless its parent handles them.
func hears(t *testing.T, signals ...os.Signal) {
	t.Helper()
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	t.Cleanup(func() { signal.Reset(signals...) })
}

// TestInterruptedWhileWriting checks that Ctrl-C and a closed terminal during a write
// leave each file either original or repaired, and no other files.
func TestInterruptedWhileWriting(t *testing.T) {
	t.Parallel()
	const files = 60
	text, repaired := longSession(t, 300)
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			if by == syscall.SIGHUP {
				signal.Ignore(by) // as under nohup
			}
			hears(t, by)
			dir := t.TempDir()
			for i := range files {
				fixture(t, dir, fmt.Sprintf("%03d.jsonl", i), []byte(text))
			}
			var stderr safeBuffer
			cmd := exec.Command("toolguard", "fix", "--write", "-q", "-j", "1", dir)
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			temporary := func() int {
				names, err := filepath.Glob(filepath.Join(dir, ".*"))
				if err != nil {
					t.Fatal(err)
				}
				return len(names)
			}
			for began := time.Now(); temporary() == 0; {
				if time.Since(began) > 20*time.Second {
					t.Fatalf("nothing is written: %s", stderr.String())
				}
			}
			if err := cmd.Process.Signal(by); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 128+int(by) || stderr.String() != "" {
				t.Errorf("exit code %d, %s", code, stderr.String())
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != files {
				t.Errorf("left behind: %v, %v", entries, err)
			}
			done := 0
			for _, e := range entries {
				switch got, err := os.ReadFile(filepath.Join(dir, e.Name())); {
				case err != nil:
					t.Error(err)
				case string(got) == repaired:
					done++
				case string(got) != text:
					t.Errorf("%s is neither as it was nor repaired", e.Name())
				}
			}
			if done == files {
				t.Error("it was not interrupted")
			}
		})
	}
}

// TestIgnoredSignals checks that a run under nohup continues if its terminal closes.
func TestIgnoredSignals(t *testing.T) {
	t.Parallel()
	text, repaired := longSession(t, 300)
	cmd := exec.Command("sh", "-c", `trap "" HUP; echo >&2; exec toolguard fix -q -`)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stdin, err := cmd.StdinPipe()
	stderr, err2 := cmd.StderrPipe()
	if err := errors.Join(err, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	// The shell has reported that the signals are ignored.
	if _, err := io.ReadFull(stderr, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	_, err = io.WriteString(stdin, text)
	if err := errors.Join(err, stdin.Close()); err != nil {
		t.Error(err)
	}
	said, err := io.ReadAll(stderr)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	if stdout.String() != repaired {
		t.Error("not repaired")
	}
}
