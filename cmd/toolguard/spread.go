package main

import (
	"github.com/toolguard/toolguard/internal/report"
)

// leastSpread is how many files a run must read at least to end with a picture of them.
const leastSpread = 51

// A spread collects which files of a run have errors, in order.
type spread struct {
	bad     []bool
	tallies [][]report.Tally // of those
}

// add adds a file with its errors.
func (s *spread) add(tallies []report.Tally) {
	s.bad = append(s.bad, len(tallies) > 0)
	if len(tallies) > 0 {
		s.tallies = append(s.tallies, tallies)
	}
}

// causes says what is mainly wrong.
func (s *spread) causes() string {
	if len(s.tallies) == 0 {
		return ""
	}
	return report.Causes(s.tallies)
}

// draw shows on a terminal which of many files have errors, if any has. one is what a file is called.
func (a *app) draw(s *spread, one, order, causes, color string) error {
	if !a.stderrTerminal || len(s.bad) < leastSpread || len(s.tallies) == 0 {
		return nil
	}
	colors, err := useColor(color, a.env, true)
	if err != nil {
		return err
	}
	width, _ := a.columns(a.rawStderr)
	opts := report.StatsOptions{Width: width, ASCII: !unicodeLocale(a.env), Color: colors}
	return report.StatsSpread(a.stderrReport, &report.SpreadRun{Bad: s.bad, Causes: causes, One: one, Order: order}, opts)
}
