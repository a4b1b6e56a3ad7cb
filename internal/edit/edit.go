// Package edit changes bytes without knowing why: edits, fixes that are taken
// whole or not at all, and sources that were edited.
package edit

import (
	"cmp"
	"slices"

	"github.com/toolguard/toolguard/internal/transcript"
)

// An Edit replaces the bytes of Span by Text. An empty span inserts, an empty
// text removes.
type Edit struct {
	Span transcript.Span
	Text []byte
}

// A Fix is what one repair does: edits in order that do not overlap.
type Fix struct {
	Edits []Edit
}

// A Set is the fixes that are made together. The zero Set is empty.
type Set struct {
	edits []Edit // in order
}

// Try takes a fix whole, or refuses it because one of its edits overlaps one
// that was taken before: the two are not made together. New text at one place
// comes in the order in which it was taken.
func (s *Set) Try(f Fix) bool {
	for _, e := range f.Edits {
		if i := s.behind(e.Span); i > 0 && s.edits[i-1].Span.End > e.Span.Start || i < len(s.edits) && s.edits[i].Span.Start < e.Span.End {
			return false
		}
	}
	for _, e := range f.Edits {
		s.edits = slices.Insert(s.edits, s.behind(e.Span), e)
	}
	return true
}

// behind returns the index at which an edit of a span belongs: what inserts
// comes before what replaces the bytes that stand there.
func (s *Set) behind(span transcript.Span) int {
	i, _ := slices.BinarySearchFunc(s.edits, span, func(e Edit, span transcript.Span) int {
		if c := cmp.Compare(e.Span.Start, span.Start); c != 0 {
			return c
		}
		if e.Span.Len() > 0 && span.Len() == 0 {
			return 1
		}
		return -1
	})
	return i
}

// Edits returns the edits of all fixes that were taken, in order.
func (s *Set) Edits() []Edit { return s.edits }
