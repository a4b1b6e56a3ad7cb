package engine

import (
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"
)

// longRun reports whether the tests have all the time they want. Without it the
// heavy loops do a part of their work that is the same each time, and that has
// something of every dialect.
func longRun() bool { return os.Getenv("TOOLGUARD_LONG") == "1" }

// raceEnabled reports whether the race detector is on, under which the heavy
// loops do less.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// howMany is how often a heavy loop runs: in a long run, usually, and where it has
// to be short.
func howMany(long, usual, short int) int {
	switch {
	case testing.Short() || raceEnabled():
		return short
	case longRun():
		return long
	}
	return usual
}

// histories is how many histories a test makes up: as many as it is told to, or
// so many, and ten times as many in a long run.
func histories(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("TOOLGUARD_MUTANTS")); err == nil {
		return n
	}
	return howMany(10*usual, usual, usual/2+1)
}

// seedOr is what made up inputs depend on: what it is told to be, or the usual.
func seedOr(usual uint64) uint64 {
	if s, err := strconv.ParseUint(os.Getenv("TOOLGUARD_SEED"), 10, 64); err == nil {
		return s
	}
	return usual
}

// began is when the tests began.
var began = time.Now()

// until returns a function that says when a heavy loop has to end so that the
// package does not run into the limit of its time: when four fifths of it are
// over.
func until(t *testing.T) func() bool {
	t.Helper()
	end, limited := t.Deadline()
	end = began.Add(end.Sub(began) / 5 * 4)
	return func() bool {
		if limited && time.Now().After(end) {
			t.Log("there is no time left, and the rest is left out")
			return true
		}
		return false
	}
}
