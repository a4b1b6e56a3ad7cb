package source

import (
	"strings"
	"testing"
)

// TestIndexedIsBounded checks that the size of an index is limited, and that every field
// is found nevertheless.
func TestIndexedIsBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, mostIndexed, 3 * mostIndexed} {
		v := NewValue([]byte(`{"in":{`+strings.TrimSuffix(strings.Repeat(`"k":0,`, n), ",")+`},"last":{"x":1}}`), 0).Indexed()
		if got := string(v.Path("last", "x").Raw()); got != "1" {
			t.Errorf("%d fields: found %q", n, got)
		}
		if held(v) > mostIndexed {
			t.Errorf("%d fields: the index has %d", n, held(v))
		}
	}
}

func held(v Value) int {
	if v.members == nil {
		return 0
	}
	n := len(*v.members)
	for _, m := range *v.members {
		n += held(m.val)
	}
	return n
}
