package repair

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// placeOne is a naive reference: an entry goes after the last of those with the highest call
// that is not above its own.
func placeOne(entries []entry, e entry) []entry {
	at, best := 0, int32(-1)
	for i := range entries {
		if c := entries[i].call; c >= 0 && c <= e.call && c >= best {
			at, best = i+1, c
		}
	}
	return slices.Insert(entries, at, e)
}

// TestPlace: placing many entries at once is the same as placing them one by one.
func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var there, fresh []entry
		for i := range r.IntN(6) {
			there = append(there, entry{call: int32(r.IntN(8) - 1), msg: int32(i)})
		}
		for i, call := 0, int32(0); i < r.IntN(6); i++ {
			call += int32(r.IntN(3))
			fresh = append(fresh, entry{call: call, msg: int32(10 + i)})
		}
		want := slices.Clone(there)
		for _, e := range fresh {
			want = placeOne(want, e)
		}
		if got := place(slices.Clone(there), fresh); len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v among %v: %v, want %v", fresh, there, got, want)
		}
	}
}

// TestByCall: results of one call keep their order, and an entry that answers no call of the
// turn stays after its predecessor.
func TestByCall(t *testing.T) {
	got := byCall([]entry{{call: -1, msg: 0}, {call: 2, msg: 1}, {call: -1, msg: 2}, {call: 1, msg: 3}, {call: 2, msg: 4}, {call: 1, msg: 5}, {call: -1, msg: 6}})
	want := []int32{0, 3, 5, 6, 1, 2, 4}
	if order := func() (out []int32) {
		for _, e := range got {
			out = append(out, e.msg)
		}
		return out
	}(); !slices.Equal(order, want) {
		t.Errorf("%v, want %v", order, want)
	}
}
