package source

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

func TestOffsets(t *testing.T) {
	var want []int64
	var o Offsets
	at := int64(3)
	for i := range 5*offsetStep + 7 {
		want = append(want, at)
		o.Append(at)
		at += int64(i) << (i % 35) // gaps from none to more than 4 GiB
	}
	if o.Len() != len(want) {
		t.Fatalf("%d offsets, want %d", o.Len(), len(want))
	}
	for i, w := range want {
		if got := o.At(i); got != w {
			t.Errorf("offset %d is %d, want %d", i, got, w)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		lo := rnd.IntN(len(want) + 1)
		hi := lo + rnd.IntN(len(want)+1-lo)
		if got := slices.Collect(o.Range(lo, hi)); !slices.Equal(got, want[lo:hi]) {
			t.Fatalf("range %d to %d is %v, want %v", lo, hi, got, want[lo:hi])
		}
		at := want[rnd.IntN(len(want))] + int64(rnd.IntN(3)) - 1
		if got, n := o.Find(at), sort.Search(len(want), func(i int) bool { return want[i] >= at }); got != n {
			t.Fatalf("%d are less than %d, want %d", got, at, n)
		}
	}
	if n := (&Offsets{}).Find(1); n != 0 {
		t.Errorf("%d of none", n)
	}
}
