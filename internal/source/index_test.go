package source

import (
	"math/rand/v2"
	"testing"
)

func TestIndex(t *testing.T) {
	for _, reserve := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		want := map[uint64]int32{}
		var x Index
		if _, known := x.Find(7); known {
			t.Fatal("an empty index knows a hash")
		}
		for n := range int32(5000) {
			h := r.Uint64() >> (n % 60) // some share a slot, and some occur again
			at, known := x.Find(h)
			if was, seen := want[h]; known != seen || seen && at != was {
				t.Fatalf("%x is %d (%t), want %d (%t)", h, at, known, was, seen)
			}
			if known {
				continue
			}
			if reserve {
				x.Reserve(int(n) * 3)
			}
			want[h] = int32(len(want))
			x.Add(h)
		}
		for h, n := range want {
			if at, known := x.Find(h); !known || at != n {
				t.Fatalf("%x is %d (%t), want %d", h, at, known, n)
			}
			near := int(n) - 1 + r.IntN(3)
			if at, known := x.FindFrom(h, near); !known || at != n {
				t.Fatalf("%x is %d (%t) from %d, want %d", h, at, known, near, n)
			}
		}
	}
}
