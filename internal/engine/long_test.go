package engine

import (
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"
)

// longRun reports whether the time of tests is not limited. Otherwise the heavy loops do a
// fixed part of their work that includes every dialect.
func longRun() bool { return os.Getenv("TOOLGUARD_LONG") == "1" }

// raceEnabled reports whether the race detector is on, under which the heavy
// loops do less.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// howMany returns how often a heavy loop runs: in a long run, usually, and under the race
// detector.
func howMany(long, usual, short int) int {
	switch {
	case testing.Short() || raceEnabled():
		return short
	case longRun():
		return long
	}
	return usual
}

// histories returns how many histories a test generates: the configured number, or usual, and
// ten times as many in a long run.
func histories(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("TOOLGUARD_MUTANTS")); err == nil {
		return n
	}
	return howMany(10*usual, usual, usual/2+1)
}

// seedOr returns the configured seed, or the usual one.
func seedOr(usual uint64) uint64 {
	if s, err := strconv.ParseUint(os.Getenv("TOOLGUARD_SEED"), 10, 64); err == nil {
		return s
	}
	return usual
}

// began is the time when the tests began.
var began = time.Now()

// until returns a function that reports when a heavy loop must end: after four fifths of the
// time limit.
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
