//go:build !purego

package source

import "testing"

// TestVectorPasses: the vector scanner leaves nothing that is right to the
// portable one, or it would only be slower than that.
func TestVectorPasses(t *testing.T) {
	if !hasVector() {
		t.Skip("this machine lacks the instructions")
	}
	var v vector
	passes := func(in []byte) {
		t.Helper()
		want := new(portable).Scan(in, 0, Strict)
		if want.Kind != FaultNone || want.InvalidUTF8.Count+want.LoneSurrogate.Count > 0 || len(in) < vectorLeast {
			return
		}
		s := v.begin(in, 0, Strict)
		if until, done := v.walk(in, &s); !done || s.End != want.End {
			t.Fatalf("%.2000q: done %t, end %d, until %d, want %d", in, done, s.End, until, want.End)
		}
	}
	for _, trap := range traps {
		for shift := range 2*blockSize + 1 {
			passes(around(trap, shift))
		}
	}
	eachLine(corpus(1<<20), passes)
}
