package source

import (
	"bytes"
	"runtime"
	"testing"
)

// TestFollower checks that pieces come in order, each after the rest of the previous one,
// and do not change while the next one is read.
func TestFollower(t *testing.T) {
	t.Parallel()
	all := make([]byte, 1000)
	for i := range all {
		all[i] = byte(i * i >> 3)
	}
	for _, ahead := range []bool{false, true} {
		for _, kept := range []int{0, 1, 10, 16, 17, 100, 700} {
			src := FromBytes("s", all)
			src.ahead = ahead
			f := newFollower(src, 10, 64)
			end := 10
			for text := all[:end]; end < len(all); {
				rest := text[len(text)-min(kept, len(text)):]
				from := end - len(rest)
				var err error
				if text, err = f.behind(rest); err != nil {
					t.Fatal(err)
				}
				for f.begun && len(f.read) == 0 {
					runtime.Gosched()
				}
				if end = from + len(text); end > len(all) || !bytes.Equal(text, all[from:end]) {
					t.Fatalf("ahead %v, %d kept: the bytes %d to %d are not those of the source", ahead, kept, from, end)
				}
				if least := from + 2*len(rest); end < len(all) && (end <= from+len(rest) || len(rest) > f.room && end < least) {
					t.Fatalf("ahead %v, %d kept: only %d bytes behind %d", ahead, kept, end-from-len(rest), len(rest))
				}
			}
			f.finish()
		}
	}
}
