package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHabits: each flag that users know from other programs is answered as it should be, and
// none of them is a flag of the command.
func TestHabits(t *testing.T) {
	t.Parallel()
	commands := map[string]*cobra.Command{}
	for _, c := range newRootCmd(&app{}, nil).Commands() {
		if !c.DisableFlagParsing { // a program answers for its own flags
			commands[c.Name()] = c
		}
	}
	for _, h := range habits() {
		for _, cmd := range commands {
			if h.command != "" && h.command != cmd.Name() || h.has != "" && cmd.Flags().Lookup(h.has) == nil {
				continue
			}
			for _, flag := range h.flags {
				name := strings.TrimLeft(flag, "-")
				has := cmd.Flags().Lookup(name) != nil
				if len(name) == 1 {
					has = cmd.Flags().ShorthandLookup(name) != nil
				}
				if has {
					if h.command != "" {
						t.Errorf("%s has %s", cmd.Name(), flag)
					}
					continue
				}
				err := flagError(cmd, cmd.ParseFlags([]string{flag, "1"}))
				if err == nil || !strings.HasPrefix(err.Error(), "unknown flag "+flag) || h.command != "" && err.Error() != "unknown flag "+flag+h.says {
					t.Errorf("%s %s: %v, want %s", cmd.Name(), flag, err, h.says)
				}
			}
		}
		if h.command != "" && commands[h.command] == nil {
			t.Errorf("there is no command %s", h.command)
		}
	}
}

// TestNameOnce: no message of a wrong command line has the name of the program twice, not even if
// a file is called so.
func TestNameOnce(t *testing.T) {
	t.Parallel()
	var lines [][]string
	everyCommand(func(cmd *cobra.Command) {
		if cmd.DisableFlagParsing {
			return
		}
		words := strings.Fields(cmd.CommandPath())[1:]
		for _, args := range [][]string{
			{"toolguard"},
			{"toolguard", "toolguard"},
			{"./toolguard"},
			{"--", "toolguard"},
			{"--no-such-flag"},
			{"-Z"},
			{"--help=x"},
			{"--config", "toolguard", "x"},
			{"--baseline", "toolguard", "x"},
			{"--path", "toolguard"},
			{"--out", "toolguard/x", "toolguard"},
			{"--jobs", "toolguard"},
			{"--from", "toolguard", "x"},
			{"--provider", "toolguard", "x"},
			{"--select", "toolguard", "x"},
			{"--counter", "toolguard", "x"},
		} {
			lines = append(lines, slices.Concat(words, args))
		}
	})
	if len(lines) < 200 {
		t.Errorf("only %d command lines", len(lines))
	}
	for _, args := range lines {
		var stdout, stderr strings.Builder
		run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, noEnv)
		for line := range strings.Lines(stderr.String()) {
			if strings.HasPrefix(line, "toolguard: toolguard:") || strings.HasPrefix(line, "toolguard: toolguard ") {
				t.Errorf("%q: %s", args, line)
			}
		}
	}
}
