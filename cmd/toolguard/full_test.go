package main

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A fullDevice is a writer that accepts so many bytes.
type fullDevice struct{ room int }

func (d *fullDevice) Write(b []byte) (int, error) {
	n := min(d.room, len(b))
	d.room -= n
	if n < len(b) {
		return n, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: errors.New("no space left on device")}
	}
	return n, nil
}

// TestFullOutput: every command whose output cannot be written fails and says so, also if the
// device is full only at the end.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "testdata", "transcripts", "anthropic", "broken", "cut-session.json")
	lines := [][]string{
		{},
		{"--version"},
		{"version"},
		{"help"},
		{"help", "config", "show"},
		{"check", file},
		{"check", "--exit-zero", file},
		{"check", "--statistics", file},
		{"check", "-o", "json", file},
		{"fix", file},
		{"fix", "--color=always", file},
		{"fix", "-o", "json", file},
		{"detect", file},
		{"stats", file},
		{"stats", "--json", file},
		{"stats", "--csv", file},
		{"explain", "missing-tool-result"},
		{"rules"},
		{"rules", "-o", "json"},
		{"formats"},
		{"profiles"},
		{"config"},
		{"config", "show"},
		{"config", "schema"},
		{"completion", "bash"},
		{"completion", "zsh"},
		{"completion", "fish"},
		{"completion", "powershell"},
	}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		lines = append(lines, strings.Fields(cmd.CommandPath() + " --help")[1:])
		for _, c := range cmd.Commands() {
			look(c)
		}
	}
	look(newRootCmd(&app{env: noEnv}, nil))
	for _, args := range lines {
		var whole bytes.Buffer
		run(t.Context(), args, strings.NewReader(""), &whole, new(bytes.Buffer), noEnv)
		if whole.Len() == 0 {
			t.Fatalf("%q prints nothing", args)
		}
		for _, room := range []int{0, whole.Len() - 1} {
			var stderr bytes.Buffer
			code := run(t.Context(), args, strings.NewReader(""), &fullDevice{room}, &stderr, noEnv)
			if code != exitTrouble || !strings.Contains(stderr.String(), "toolguard: standard output: no space left on device\n") {
				t.Errorf("%q with room for %d bytes: exit code %d, and\n%s", args, room, code, stderr.String())
			}
		}
	}
}
