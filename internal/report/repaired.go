package report

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/engine"
)

// Repaired summarizes the repairs of a file: repaired 2 problems (1 moved, 1 inserted).
func Repaired(f *engine.Fixed) string {
	var s FixSummary
	s.AddFixed(f)
	if s.Repaired == 0 { // only infos were repaired
		return fmt.Sprintf("repaired (%s)", s.deeds())
	}
	return fmt.Sprintf("repaired %s (%s)", count(s.Repaired, "problem"), s.deeds())
}
