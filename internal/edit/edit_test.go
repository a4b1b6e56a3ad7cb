package edit

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/toolguard/toolguard/internal/transcript"
)

// overlaps is a naive reference: two edits cannot be made together.
func overlaps(a, b Edit) bool {
	if a.Span.Len() == 0 && b.Span.Len() == 0 {
		return false
	}
	return a.Span.Start < b.Span.End && b.Span.Start < a.Span.End
}

// TestSetTry: a fix is taken whole or refused, whatever comes before it, and
// what was taken can be applied.
func TestSetTry(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	text := []byte("0123456789abcdefghijklmnopqrstuvwxyz")
	for range 5_000 {
		var s Set
		var taken []Edit
		for range r.IntN(8) {
			f := Fix{Edits: someEdits(r, len(text))}
			want := true
			for _, e := range f.Edits {
				want = want && !slices.ContainsFunc(taken, func(o Edit) bool { return overlaps(e, o) })
			}
			if got := s.Try(f); got != want {
				t.Fatalf("Try(%v) behind %v is %t", f.Edits, taken, got)
			}
			if want {
				taken = append(taken, f.Edits...)
			}
		}
		if len(s.Edits()) != len(taken) {
			t.Fatalf("%d edits of %d", len(s.Edits()), len(taken))
		}
		p, err := NewPieces(transcript.FromBytes("p", text)).Apply(s.Edits())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := p.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), naively(text, s.Edits())) {
			t.Fatalf("%v gives %q", s.Edits(), out.Bytes())
		}
	}
}

// TestSetInsertsInOrder: new text at one place comes in the order in which it was
// taken, and before what replaces the bytes that stand there.
func TestSetInsertsInOrder(t *testing.T) {
	at := func(from, to int64, text string) Fix {
		return Fix{Edits: []Edit{{transcript.Span{Start: from, End: to}, []byte(text)}}}
	}
	var s Set
	for _, f := range []Fix{at(1, 2, "R"), at(1, 1, "a"), at(1, 1, "b"), at(2, 2, "z")} {
		if !s.Try(f) {
			t.Fatalf("%v is refused", f.Edits)
		}
	}
	if got := string(naively([]byte("012"), s.Edits())); got != "0abRz2" {
		t.Error(got)
	}
}

// TestShelf: very many edits in any order come out in order, as few do.
func TestShelf(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	var s Set
	var want []Edit
	for _, i := range r.Perm(5 * chunk) {
		e := Edit{transcript.Span{Start: int64(3 * i), End: int64(3*i + r.IntN(3))}, []byte{byte(i)}}
		if !s.Try(Fix{Edits: []Edit{e}}) {
			t.Fatalf("%v is refused", e)
		}
		want = append(want, e)
	}
	slices.SortFunc(want, func(a, b Edit) int { return int(a.Span.Start - b.Span.Start) })
	if got := s.Edits(); !slices.EqualFunc(got, want, func(a, b Edit) bool { return a.Span == b.Span && a.Text[0] == b.Text[0] }) {
		t.Error("not in order")
	}
}

// TestSetReads: a fix that was made from what another changes is refused,
// whichever comes first; two that were made from the same are not.
func TestSetReads(t *testing.T) {
	at := func(from, to int64) transcript.Span { return transcript.Span{Start: from, End: to} }
	reader := Fix{Edits: []Edit{{Span: at(20, 20), Text: []byte("x")}}, Reads: []transcript.Span{at(5, 10)}}
	writer := Fix{Edits: []Edit{{Span: at(7, 8)}}}
	other := Fix{Edits: []Edit{{Span: at(30, 30), Text: []byte("y")}}, Reads: []transcript.Span{at(5, 10)}}
	beside := Fix{Edits: []Edit{{Span: at(10, 12)}}}
	for _, c := range []struct {
		fixes []Fix
		want  []bool
	}{
		{[]Fix{reader, writer, other, beside}, []bool{true, false, true, true}},
		{[]Fix{writer, reader, other, beside}, []bool{true, false, false, true}},
	} {
		var s Set
		for i, f := range c.fixes {
			if s.Try(f) != c.want[i] {
				t.Errorf("fix %d is not %t", i, c.want[i])
			}
		}
	}
}
