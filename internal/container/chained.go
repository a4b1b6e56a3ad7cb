package container

import (
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
)

// chained returns the records of a log that is stored in an array. Each record comes after the
// one that it names as its parent, because an export may reorder or wrap the records. inOrder
// reports whether they are exactly the elements of the array.
func chained(place *detect.Place) (ordered []source.Value, inOrder bool) {
	var records []source.Value
	at := map[string]int32{}
	log, list := place.Log.Log, place.Parts[0]
	for _, e := range list.Present() {
		e = e.Path(place.Into...)
		if id := e.Get(log.ID); id.Kind() == source.String {
			if _, again := at[string(id.Raw())]; !again {
				at[string(id.Raw())] = int32(len(records))
			}
		}
		records = append(records, e.Light())
	}
	ordered = make([]source.Value, 0, len(records))
	inOrder = len(place.Into) == 0 && len(place.Parts) == 1 && list.Kind() == source.Array
	parent := func(i int32) int32 {
		if n, known := at[string(records[i].Get(log.Parent).Raw())]; known {
			return n
		}
		return -1
	}
	descend(len(records), parent, func(i, _ int32) {
		inOrder = inOrder && int(i) == len(ordered)
		ordered = append(ordered, records[i])
	})
	return ordered, inOrder
}
