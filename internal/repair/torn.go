package repair

import (
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/source"
)

// onlyIn returns how many complete leaves of a record that is cut off are in no other readable
// record. A leaf that the record has twice must be in the others twice.
func onlyIn(src *source.Source, torn source.Span) (int, error) {
	text, err := src.Bytes(torn)
	if err != nil {
		return 0, err
	}
	left, n := map[edit.Sum]int{}, 0
	for l := range edit.Complete(text) {
		left[l.Sum]++
		n++
	}
	for rec, err := range source.Records(src) {
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		if !rec.Readable() {
			continue
		}
		for l := range edit.Leaves(rec.Value.Raw(), "", 0) {
			if left[l.Sum] > 0 {
				left[l.Sum]--
				n--
			}
		}
	}
	return n, nil
}
