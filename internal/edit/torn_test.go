package edit

import (
	"slices"
	"testing"
)

// TestComplete cuts a text at each byte. What is complete is what no longer cut changes.
func TestComplete(t *testing.T) {
	sums := func(l []Sum) []Sum {
		slices.SortFunc(l, func(a, b Sum) int { return slices.Compare(a[:], b[:]) })
		return l
	}
	for _, text := range []string{
		`{"a":"x","b":{"c":[1,-2.5e3,true,null,"y"],"d":{}},"e":"{\"f\":\"g\\\"\"}","h":[]} `,
		`[{"k":"v\\"},"w\"{",12,false,[["z"]]] `,
	} {
		for cut := range text {
			var got []Sum
			for l := range Complete([]byte(text[:cut])) {
				got = append(got, l.Sum)
			}
			// Text behind a cut changes the last leaf, unless it was complete.
			var all []Sum
			for l := range Leaves([]byte(text), "", 0) {
				if l.At.End <= int64(cut) && (text[l.At.End-1] == '"' || text[l.At.End-1] == '{' || text[l.At.End-1] == '[' || l.At.End < int64(cut)) {
					all = append(all, l.Sum)
				}
			}
			if got, all := sums(got), sums(all); !slices.Equal(got, all) {
				t.Errorf("%s: %d leaves are complete, want %d", text[:cut], len(got), len(all))
			}
		}
	}
}
