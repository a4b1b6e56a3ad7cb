package container

import "slices"

// A doubledKeys collects the offsets of keys that occur twice in an object.
type doubledKeys struct {
	fresh []int64
	runs  [][]int64 // of earlier conversations, each run sorted
}

func (d *doubledKeys) add(at int64) { d.fresh = append(d.fresh, at) }

// sorted adds the new keys to the sorted runs and returns the runs. Keys of an outer
// object are reported before those of an inner one, so the new keys are unsorted. Each
// run is longer than the next one, so there are only a few.
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
