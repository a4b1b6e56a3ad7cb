package edit

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// naively applies edits to a text.
func naively(text []byte, edits []Edit) []byte {
	var out []byte
	at := int64(0)
	for _, e := range edits {
		out = append(append(out, text[at:e.Span.Start]...), e.Text...)
		at = e.Span.End
	}
	return append(out, text[at:]...)
}

// someEdits returns edits of a text of that length, in order and without overlap.
func someEdits(r *rand.Rand, size int) []Edit {
	var out []Edit
	at := 0
	for range r.IntN(6) {
		from := at + r.IntN(size-at+1)
		to := from + r.IntN(min(4, size-from)+1)
		text := make([]byte, r.IntN(4))
		for i := range text {
			text[i] = "ABC"[r.IntN(3)]
		}
		out = append(out, Edit{source.Span{Start: int64(from), End: int64(to)}, text})
		at = to
	}
	return out
}

// piecesFault compares edited pieces with plain bytes for some rounds. It returns "" if they
// are equal.
func piecesFault(r *rand.Rand, text []byte, rounds int) string {
	p, want := NewPieces(source.FromBytes("p", text)), text
	// origin is the offset of each byte in the original, -1 for new bytes.
	origin := make([]int64, len(text))
	for i := range origin {
		origin[i] = int64(i)
	}
	for range rounds {
		edits := someEdits(r, len(want))
		var moved []int64
		at := int64(0)
		for _, e := range edits {
			moved = append(moved, origin[at:e.Span.Start]...)
			for range e.Text {
				moved = append(moved, -1)
			}
			at = e.Span.End
		}
		origin = append(moved, origin[at:]...)
		want = naively(want, edits)
		var err error
		if p, err = p.Apply(edits); err != nil {
			return err.Error()
		}
		if p.Size() != int64(len(want)) {
			return "the size"
		}
		var out bytes.Buffer
		if n, err := p.WriteTo(&out); err != nil || n != p.Size() || !bytes.Equal(out.Bytes(), want) {
			return "WriteTo"
		}
		for range 4 {
			off, n := r.IntN(len(want)+2), r.IntN(len(want)+2)
			b := make([]byte, n)
			got, err := p.ReadAt(b, int64(off))
			expect := min(n, max(0, len(want)-off))
			if got != expect || !bytes.Equal(b[:got], want[min(off, len(want)):min(off, len(want))+expect]) || errors.Is(err, io.EOF) != (expect < n) {
				return "ReadAt"
			}
		}
		src := p.Source()
		if all, err := src.Bytes(source.Span{Start: 0, End: src.Size()}); err != nil || !bytes.Equal(all, want) || src.Name() != "p" {
			return "Source"
		}
		if !bytes.Equal(naively(text, p.Edits()), want) {
			return "Edits"
		}
		last := int64(-1)
		for _, e := range p.Edits() {
			if e.Span.Start <= last || e.Span.End < e.Span.Start {
				return "Edits overlap or touch"
			}
			if bytes.Equal(text[e.Span.Start:e.Span.End], e.Text) {
				return "an edit that changes nothing"
			}
			last = e.Span.End
		}
		for i, from := range origin {
			s, there := p.Original(source.Span{Start: int64(i), End: int64(i) + 1})
			if there != (from >= 0) || there && (s != source.Span{Start: from, End: from + 1}) {
				return "Original"
			}
		}
	}
	return ""
}

func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3_000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = "abcABC"[r.IntN(6)]
		}
		if s := piecesFault(r, text, 1+r.IntN(4)); s != "" {
			t.Fatalf("%s of %q", s, text)
		}
	}
}

// apply applies edits that are in order.
func apply(t *testing.T, p *Pieces, edits ...Edit) *Pieces {
	t.Helper()
	out, err := p.Apply(edits)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPiecesUndone: what is removed and put back is no edit.
// TestAround: a span of an edited source is traced back to the part of the original that
// stood there, through all rounds of edits.
func TestAround(t *testing.T) {
	t.Parallel()
	at := func(start, end int64) source.Span { return source.Span{Start: start, End: end} }
	p, err := Apply(source.FromBytes("p", []byte("0123456789")), []Edit{{at(0, 0), []byte("AB")}, {at(3, 5), []byte("C")}, {at(8, 10), []byte("DE")}})
	if err != nil {
		t.Fatal(err)
	}
	// AB012C567DE
	if p, err = p.Apply([]Edit{{at(6, 6), []byte("FG")}}); err != nil {
		t.Fatal(err)
	}
	// AB012CFG567DE
	for _, tt := range []struct{ in, want source.Span }{
		{at(2, 4), at(0, 2)},
		{at(3, 3), at(1, 1)},
		{at(0, 1), at(0, 0)},
		{at(1, 3), at(0, 1)},
		{at(5, 6), at(3, 5)},
		{at(6, 8), at(3, 5)},
		{at(4, 9), at(2, 6)},
		{at(7, 7), at(3, 5)},
		{at(9, 12), at(6, 10)},
		{at(13, 13), at(8, 10)},
	} {
		if got := p.Around(tt.in); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestPiecesUndone(t *testing.T) {
	p := NewPieces(source.FromBytes("p", []byte("abcdef")))
	p = apply(t, p, Edit{Span: source.Span{Start: 1, End: 3}}, Edit{Span: source.Span{Start: 5, End: 5}, Text: []byte("X")})
	p = apply(t, p, Edit{Span: source.Span{Start: 1, End: 1}, Text: []byte("bc")})
	if e := p.Edits(); len(e) != 1 || e[0].Span != (source.Span{Start: 5, End: 5}) || string(e[0].Text) != "X" {
		t.Errorf("edits %v", e)
	}
}

// TestApplyRefuses: edits that are out of order, overlap or are outside are an error.
func TestApplyRefuses(t *testing.T) {
	p := NewPieces(source.FromBytes("p", []byte("abcdef")))
	at := func(from, to int64) Edit { return Edit{Span: source.Span{Start: from, End: to}, Text: []byte("x")} }
	for _, edits := range [][]Edit{{at(3, 4), at(1, 2)}, {at(1, 3), at(2, 4)}, {at(4, 3)}, {at(5, 7)}, {at(-1, 0)}} {
		if _, err := p.Apply(edits); err == nil {
			t.Errorf("%v is applied", edits)
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte("abcdef"), uint64(1), uint8(3))
	f.Add([]byte(""), uint64(2), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, seed uint64, rounds uint8) {
		if len(text) > 1<<10 {
			return
		}
		if s := piecesFault(rand.New(rand.NewPCG(seed, 1)), text, int(rounds%6)); s != "" {
			t.Fatal(s)
		}
	})
}
