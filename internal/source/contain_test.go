package source

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/contain"
)

// A panicky reader panics when it reads a byte at or behind an offset.
type panicky struct {
	io.ReaderAt
	from int64
}

func (p panicky) ReadAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > p.from {
		panic("planted")
	}
	return p.ReaderAt.ReadAt(b, off)
}

// TestPanicOfRead: a panic of a read reaches who reads the records, also one before the first
// record and one of a goroutine that reads ahead.
func TestPanicOfRead(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat(`{"a":"`+strings.Repeat("x", 100)+`"}`+"\n", 40_000)
	document := `{"list":[` + strings.TrimSuffix(strings.ReplaceAll(lines, "\n", ","), ",") + "]}"
	for name, text := range map[string]string{"lines": lines, "document": document} {
		for _, from := range []int64{0, 1 << 10, 2_000_000, int64(len(text)) - 1} {
			for _, ahead := range []bool{false, true} {
				src := NewSource(name, panicky{bytes.NewReader([]byte(text)), from}, int64(len(text)))
				src.SetWindow(1 << 20)
				if ahead {
					src.SetAhead(0)
				}
				n := 0
				err := contain.Do(func() error {
					for rec, err := range Records(src) {
						if err != nil {
							return err
						}
						for range rec.Value.Get("list").Ahead() {
							n++
						}
						n++
					}
					return src.Err()
				})
				if caught := contain.From(err); caught == nil || caught.Panic != "planted" || !strings.Contains(string(caught.Stack), "panicky") {
					t.Errorf("%s from byte %d, ahead %v: %d records and elements, then %v", name, from, ahead, n, err)
				}
			}
		}
	}
}

// TestPanicInElementsAhead: the first scan of a document succeeds, and a later reading panics.
func TestPanicInElementsAhead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("[0")
	for i := range 200_000 {
		fmt.Fprintf(&b, ",{\"n\":%d}", i)
	}
	b.WriteString("]")
	src := NewSource("document", strings.NewReader(b.String()), int64(b.Len()))
	src.SetWindow(1 << 16)
	src.SetAhead(0)
	n := 0
	for rec, err := range Records(src) {
		if err != nil {
			t.Fatal(err)
		}
		src.r = panicky{src.r, 1 << 20}
		for range rec.Value.Ahead() {
			n++
		}
	}
	if caught := contain.From(src.Err()); caught == nil || caught.Panic != "planted" || n == 0 || n > 150_000 {
		t.Errorf("%d elements, then %v", n, src.Err())
	}
}
