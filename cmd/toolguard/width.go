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

// columns returns how many columns a line on w may take, and whether that is known: what
// COLUMNS says, or the width of the terminal that w is.
func (a *app) columns(w io.Writer) (n int, known bool) {
	n, err := strconv.Atoi(a.env("COLUMNS"))
	if f, ok := w.(*os.File); ok && (err != nil || n <= 0) {
		n, _, err = term.GetSize(int(f.Fd()))
	}
	if err != nil || n <= 0 {
		return report.DefaultWidth, false
	}
	return max(n, narrowest), true
}

// reportWidth returns how many columns a report on w may take, 0 if that is not known.
func (a *app) reportWidth(w io.Writer) int {
	n, known := a.columns(w)
	if !known {
		return 0
	}
	return n
}
