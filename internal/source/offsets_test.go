package source

import "testing"

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
}
