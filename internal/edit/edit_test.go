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
