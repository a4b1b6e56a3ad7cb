// Package edit changes bytes without knowing why. It has edits, fixes that are applied whole
// or not at all, the changes of fixes to recorded content, and edited sources.
package edit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// An Edit replaces the bytes of Span by Text. An empty span inserts, an empty text removes.
type Edit struct {
	Span source.Span
	Text []byte
}

// A Fix is one repair: edits in order that do not overlap, and what they do to recorded
// content.
type Fix struct {
	Edits []Edit
	// Reads are the spans from which the edits were derived. If one of them changes, the fix
	// is no longer valid. They do not overlap.
	Reads []source.Span
	// Over are values that are replaced by others. No other fix may change them.
	Over []source.Span
	// Within are the values in or between which the edits are.
	Within []source.Span
	// Drops and Adds are the numbers of leaves that are removed and added. Content that is
	// moved, or written in another form, counts as neither.
	Drops, Adds int
	// Gone are the elements that contained the removed leaves, for reports.
	Gone []source.Span
	// Change is the change of the sum of all leaves.
	Change Sum

	proved bool          // Change was proved
	around []source.Span // Within, with the edits; nil until it is needed
}

// parts returns the spans of which the proof of the fix is.
func (f *Fix) parts() []source.Span {
	if f.around == nil {
		f.around = merged(f.Within, f.Edits)
	}
	return f.around
}

// A Set is a number of fixes that are made together. The zero Set is empty.
type Set struct {
	edits, reads, over shelf
	fixes              []taken
	touched            []touch
	spliced            []byte // the last text that was proved
}

// A taken is what a Set keeps of a fix beside its edits.
type taken struct {
	change Sum
	proved bool
	met    bool // it touches a span that another fix touches
}

// A touch is a span that is part of the proof of a fix.
type touch struct {
	source.Span
	fix int32
}

// Try adds a fix whole, or rejects it because it overlaps an earlier fix, or because one of
// the two changes text from which the other was derived. Texts inserted at one offset keep
// the order in which they were added.
func (s *Set) Try(f Fix) bool {
	for _, e := range f.Edits {
		if s.edits.meets(e.Span) || s.reads.meets(e.Span) || s.over.meets(e.Span) {
			return false
		}
	}
	if slices.ContainsFunc(f.Reads, s.edits.meets) || slices.ContainsFunc(f.Reads, s.over.meets) {
		return false
	}
	for _, o := range f.Over {
		if s.edits.meets(o) || s.reads.meets(o) || s.over.meets(o) {
			return false
		}
	}
	for _, e := range f.Edits {
		s.edits.put(e)
	}
	for _, r := range f.Reads {
		if !s.reads.meets(r) { // two fixes may depend on the same span
			s.reads.put(Edit{Span: r})
		}
	}
	for _, o := range f.Over {
		s.over.put(Edit{Span: o})
	}
	for _, w := range f.parts() {
		s.touched = append(s.touched, touch{w, int32(len(s.fixes))})
	}
	s.fixes = append(s.fixes, taken{change: f.Change, proved: f.proved})
	return true
}

// Edits returns the edits of all fixes in the Set, in order.
func (s *Set) Edits() []Edit { return slices.Concat(s.edits...) }

// Prove checks that the edits change the content of the values around them as the fixes say.
// It returns a BalanceError if they do not, or the error of reading the source. A fix that
// was proved alone is not checked again unless another fix is near.
func (s *Set) Prove(src *source.Source) error {
	s.meet()
	var change Sum
	for _, f := range s.fixes {
		if f.met || !f.proved {
			change = change.Plus(f.change)
		}
	}
	var within []source.Span
	for _, t := range s.touched {
		if f := s.fixes[t.fix]; f.met || !f.proved {
			within = append(within, t.Span)
		}
	}
	within = merged(within, nil)
	n := 0
	edits := slices.DeleteFunc(s.Edits(), func(e Edit) bool {
		for n < len(within) && within[n].End < e.Span.Start {
			n++
		}
		return n == len(within) || e.Span.Start < within[n].Start
	})
	return s.prove(src, edits, merged(within, edits), change)
}

// meet marks the fixes that touch a span of another fix, or one next to it.
func (s *Set) meet() {
	slices.SortFunc(s.touched, func(a, b touch) int { return cmp.Compare(a.Start, b.Start) })
	for i := 0; i < len(s.touched); {
		j, end, several := i+1, s.touched[i].End, false
		for ; j < len(s.touched) && s.touched[j].Start <= end; j++ {
			end = max(end, s.touched[j].End)
			several = several || s.touched[j].fix != s.touched[i].fix
		}
		for ; i < j; i++ {
			f := &s.fixes[s.touched[i].fix]
			f.met = f.met || several
		}
	}
}

// ProveAlone is Prove for a single fix, which is not in the Set.
func (s *Set) ProveAlone(f *Fix, src *source.Source) error {
	err := s.prove(src, f.Edits, f.parts(), f.Change)
	f.proved = err == nil
	return err
}

// A BalanceError says that edits change recorded content differently than the fixes say.
type BalanceError struct{ At source.Span }

// Error implements error.
func (e *BalanceError) Error() string {
	return fmt.Sprintf("lose or duplicate the content of bytes %d to %d", e.At.Start, e.At.End)
}

// prove checks that edits, which are inside of some spans, change the content by what is given.
func (s *Set) prove(src *source.Source, edits []Edit, within []source.Span, change Sum) error {
	var was, is Sum
	all := source.Span{Start: src.Size()}
	for _, w := range within {
		if err := src.Err(); err != nil {
			return err
		}
		from := max(0, w.Start-LongestKey)
		both, err := src.View(source.Span{Start: from, End: w.End})
		if err != nil {
			return err
		}
		before, text := both[:w.Start-from], both[w.Start-from:]
		n := sort.Search(len(edits), func(i int) bool { return edits[i].Span.End > w.End })
		s.spliced = splice(s.spliced[:0], text, w.Start, edits[:n])
		a, b := changed(text, s.spliced, w.Start, edits[:n], KeyBefore(before))
		was, is = was.Plus(a), is.Plus(b)
		edits = edits[n:]
		all = source.Span{Start: min(all.Start, w.Start), End: w.End}
	}
	if is != was.Plus(change) || len(edits) > 0 {
		return &BalanceError{all}
	}
	return nil
}

// Splice applies edits to a text that begins at offset base. A text that ends before the last of them could not be
// read, because the source fails or the context is done. Then it returns nil.
func Splice(text []byte, base int64, edits []Edit) []byte {
	if len(edits) == 0 {
		return text
	}
	return splice(nil, text, base, edits)
}

// splice is Splice into the memory of out, which may be nil.
func splice(out, text []byte, base int64, edits []Edit) []byte {
	if len(edits) > 0 && edits[len(edits)-1].Span.End-base > int64(len(text)) {
		return nil
	}
	size := len(text)
	for _, e := range edits {
		size += len(e.Text)
	}
	out = slices.Grow(out, size)
	at := base
	for _, e := range edits {
		out = append(append(out, text[at-base:e.Span.Start-base]...), e.Text...)
		at = e.Span.End
	}
	return append(out, text[at-base:]...)
}

// merged returns the spans of values and edits, in order. It joins spans that touch.
func merged(values []source.Span, edits []Edit) []source.Span {
	all := slices.Clone(values)
	for _, e := range edits {
		all = append(all, e.Span)
	}
	slices.SortFunc(all, func(a, b source.Span) int { return int(min(1, max(-1, a.Start-b.Start))) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// A shelf holds edits in order. It is split into chunks, so that inserting among very many is
// fast.
type shelf [][]Edit

// chunk is the maximum number of edits in a chunk.
const chunk = 512

// place returns where an edit of a span belongs. Insertions at an offset come before a
// replacement at that offset, and after earlier insertions.
func (s shelf) place(span source.Span) (c, i int) {
	before := func(e Edit) bool {
		return e.Span.Start < span.Start || e.Span.Start == span.Start && (e.Span.Len() == 0 || span.Len() > 0)
	}
	c = max(0, sort.Search(len(s), func(c int) bool { return !before(s[c][0]) })-1)
	if len(s) == 0 {
		return 0, 0
	}
	return c, sort.Search(len(s[c]), func(i int) bool { return !before(s[c][i]) })
}

// meets reports whether a span overlaps one on the shelf.
func (s shelf) meets(span source.Span) bool {
	if len(s) == 0 {
		return false
	}
	c, i := s.place(span)
	overlaps := func(o source.Span) bool {
		return o.Start < span.End && span.Start < o.End
	}
	switch {
	case i > 0 && overlaps(s[c][i-1].Span):
		return true
	case i < len(s[c]):
		return overlaps(s[c][i].Span)
	}
	return c+1 < len(s) && overlaps(s[c+1][0].Span)
}

// put inserts an edit.
func (s *shelf) put(e Edit) {
	if len(*s) == 0 {
		*s = shelf{{e}}
		return
	}
	c, i := s.place(e.Span)
	if len((*s)[c]) == chunk && i == chunk { // most come in order, so these chunks stay full
		*s = slices.Insert(*s, c+1, []Edit{e})
		return
	}
	(*s)[c] = slices.Insert((*s)[c], i, e)
	if whole := (*s)[c]; len(whole) > chunk {
		half := len(whole) / 2
		*s = slices.Insert(*s, c+1, slices.Clone(whole[half:]))
		(*s)[c] = whole[:half:half]
	}
}
