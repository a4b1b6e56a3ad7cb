package main

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/toolguard/toolguard/internal/report"
)

// narrowest is how many columns lines are made for at least.
const narrowest = 40

// columns returns how many columns a line on w may take, and whether w is a terminal. That is
// what COLUMNS says, or the width of the terminal. A file or a pipe has no width: its lines are
// the same wherever they are written, so that programs can search them.
func (a *app) columns(w io.Writer) (n int, terminal bool) {
	terminal = w == a.rawStdout && a.terminal || w == a.rawStderr && a.stderrTerminal
	if !terminal {
		return report.DefaultWidth, false
	}
	n, err := strconv.Atoi(a.env("COLUMNS"))
	if f, ok := w.(*os.File); ok && (err != nil || n <= 0) {
		n, _, err = term.GetSize(int(f.Fd()))
	}
	if err != nil || n <= 0 {
		return report.DefaultWidth, true
	}
	return max(n, narrowest), true
}

// reportWidth returns how many columns a report on w may take, 0 if w is no terminal.
func (a *app) reportWidth(w io.Writer) int {
	n, terminal := a.columns(w)
	if !terminal {
		return 0
	}
	return n
}
