package container

import (
	"slices"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
)

// A chained yields the records of a log that is stored in an array. Each record comes
// after the one that it names as its parent, because an export may reorder or wrap the
// records.
type chained struct {
	record  int32 // the record that holds the array
	place   *detect.Place
	ordered []source.Value
}

func (c *chained) elements(yield func(element, error) bool) {
	for _, v := range c.ordered {
		if !yield(element{record: c.record, val: v}, nil) {
			return
		}
	}
}

// order determines the order of the records. It reports whether they are exactly the
// elements of the array.
func (c *chained) order() bool {
	var records []source.Value
	at := map[string]int{}
	log, list := c.place.Log.Log, c.place.Parts[0]
	for _, e := range list.Present() {
		e = e.Path(c.place.Into...)
		if id := e.Get(log.ID); id.Kind() == source.String {
			if _, again := at[string(id.Raw())]; !again {
				at[string(id.Raw())] = len(records)
			}
		}
		records = append(records, e.Light())
	}
	c.ordered = make([]source.Value, 0, len(records))
	inOrder := len(c.place.Into) == 0 && len(c.place.Parts) == 1 && list.Kind() == source.Array
	placed := make([]bool, len(records))
	parent := func(i int) (int, bool) {
		n, known := at[string(records[i].Get(log.Parent).Raw())]
		return n, known
	}
	var path []int
	for i := range records {
		path = path[:0]
		for n, known := i, true; known && !placed[n]; n, known = parent(n) {
			placed[n] = true
			path = append(path, n)
		}
		for _, n := range slices.Backward(path) {
			inOrder = inOrder && n == len(c.ordered)
			c.ordered = append(c.ordered, records[n])
		}
	}
	return inOrder
}
