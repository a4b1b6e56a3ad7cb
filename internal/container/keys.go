package container

import "slices"

// A doubledKeys knows where keys stand that stand twice in an object.
type doubledKeys struct {
	fresh []int64
	runs  [][]int64 // those of the conversations before, each run in order
}

func (d *doubledKeys) add(at int64) { d.fresh = append(d.fresh, at) }

// sorted adds the keys that are new to the sorted runs, and returns them. Keys of an
// outer object are told before those of an inner one, so they come in any order.
// Each run is longer than the next, so there are few.
func (d *doubledKeys) sorted() [][]int64 {
	if len(d.fresh) == 0 {
		return d.runs
	}
	slices.Sort(d.fresh)
	runs := append(slices.Clone(d.runs), d.fresh)
	d.fresh = nil
	for n := len(runs); n > 1 && len(runs[n-2]) <= len(runs[n-1]); n-- {
		runs[n-2] = slices.Concat(runs[n-2], runs[n-1])
		slices.Sort(runs[n-2])
		runs = runs[:n-1]
	}
	d.runs = runs
	return runs
}
