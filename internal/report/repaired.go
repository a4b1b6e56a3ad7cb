package report

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/engine"
)

// Repaired says in a few words what was repaired in a file: repaired 2 problems
// (1 moved, 1 inserted).
func Repaired(f *engine.Fixed) string {
	var s FixSummary
	s.AddFixed(f)
	if s.Repaired == 0 { // what was repaired was no problem to begin with
		return fmt.Sprintf("repaired (%s)", s.deeds())
	}
	return fmt.Sprintf("repaired %s (%s)", count(s.Repaired, "problem"), s.deeds())
}
