package repair

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestPlaceAll: placing many entries at once is placing one after another.
func TestPlaceAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var there, fresh []entry
		for i := range r.IntN(6) {
			there = append(there, entry{call: int32(r.IntN(8) - 1), msg: int32(i)})
		}
		for i, call := 0, int32(-1); i < r.IntN(6); i++ {
			if call += 1 + int32(r.IntN(3)); r.IntN(20) == 0 {
				call -= 2
			}
			fresh = append(fresh, entry{call: max(call, -1), msg: int32(10 + i)})
		}
		want := append([]entry(nil), there...)
		for _, e := range fresh {
			want = place(want, e)
		}
		if got := placeAll(append([]entry(nil), there...), fresh); len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v among %v: %v, want %v", fresh, there, got, want)
		}
	}
}
