package redact

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// A fuse is a reader that panics at its n-th read.
type fuse struct {
	*bytes.Reader
	left int
}

func (f *fuse) ReadAt(b []byte, off int64) (int, error) {
	if f.left--; f.left == 0 {
		panic("at a read")
	}
	return f.Reader.ReadAt(b, off)
}

// TestPanicAtAnyRead: a panic of any read, also of those of another goroutine, is an error that
// the caller can catch.
func TestPanicAtAnyRead(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat(`{"role":"user","content":"`+strings.Repeat("words ", 10)+`"}`+"\n", 20))
	try := func(reads int) (left int, err error) {
		f := &fuse{bytes.NewReader(text), reads}
		src := source.NewSource("s", f, int64(len(text)))
		err = contain.Do(func() error {
			got, err := Redact(t.Context(), src, engine.Options{})
			if err == nil {
				err = got.Source.Close()
			}
			return err
		})
		return f.left, err
	}
	left, err := try(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	n := 1<<20 - left
	for reads := range n {
		if _, err := try(reads + 1); contain.From(err) == nil || contain.From(err).Panic != "at a read" {
			t.Errorf("read %d of %d: got %v", reads+1, n, err)
		}
	}
	if n < 4 {
		t.Errorf("only %d reads", n)
	}
}
