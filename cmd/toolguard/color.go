package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// defineColor defines --color for a command.
func defineColor(cmd *cobra.Command, choice *string) {
	cmd.Flags().StringVar(choice, "color", "auto", "`when` to colour the report: auto, always or never")
	complete(cmd, "color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
}

// useColor reports whether a report is coloured. An explicit choice overrides the
// environment, and a variable that turns colour off overrides one that turns it on.
func useColor(choice string, env func(string) string, terminal bool) (bool, error) {
	switch choice {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
	default:
		return false, fmt.Errorf("--color: expected auto, always or never, got %q", choice)
	}
	set := func(key string) bool { v := env(key); return v != "" && v != "0" && v != "false" }
	switch {
	case env("NO_COLOR") != "":
		return false, nil
	case set("FORCE_COLOR"), set("CLICOLOR_FORCE"):
		return true, nil
	case env("TERM") == "dumb":
		return false, nil
	}
	return terminal, nil
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
