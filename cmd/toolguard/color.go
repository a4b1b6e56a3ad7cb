package main

import (
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// useColor decides whether a report is coloured. An explicit choice wins over
// the environment, and a reason against colour over one for it.
func useColor(choice string, env func(string) string, terminal bool) (bool, error) {
	switch choice {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
	default:
		return false, fmt.Errorf("--color: want auto, always or never, not %q", choice)
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
