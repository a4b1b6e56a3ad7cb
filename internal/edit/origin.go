package edit

import (
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// Origins returns, for each list of spans, where their content was in the original. For
// unchanged text that is one span from its first byte to its last. For rewritten text it is
// the text with the same leaves that the same edits removed elsewhere.
func (p *Pieces) Origins(lists [][]source.Span) ([][]source.Span, error) {
	if p.was == nil || !slices.ContainsFunc(lists, func(l []source.Span) bool { return len(l) > 0 }) {
		return lists, nil
	}
	t, wanted := newTrail(p), map[Sum]bool{}
	before, anew := make([][]source.Span, len(lists)), make([][][]Leaf, len(lists))
	for i, list := range lists {
		for _, s := range list {
			if stood := t.stood(s); stood.Len() > 0 {
				before[i] = append(before[i], stood)
			}
			for k := t.reaching(s.Start); k < len(p.edits) && t.at[k] < s.End; k++ {
				leaves, err := t.wrote(k, s)
				if err != nil {
					return nil, err
				}
				for _, l := range leaves {
					wanted[l.Sum] = true
				}
				anew[i] = append(anew[i], leaves)
			}
		}
	}
	if err := t.lookFor(wanted); err != nil {
		return nil, err
	}
	for i := range anew {
		for _, leaves := range anew[i] {
			before[i] = t.find(before[i], leaves)
		}
	}
	return p.was.Origins(before)
}

// A trail traces content back through the last edits.
type trail struct {
	*Pieces
	at []int64 // the offset of each edit's text in the whole
	// taken are the leaves that the edits removed and that are searched. number numbers all
	// removed leaves, with a gap between two edits.
	taken  []Leaf
	number []int
	found  []bool
	bySum  map[Sum][]int // indices
}

func newTrail(p *Pieces) *trail {
	t := &trail{Pieces: p, bySum: map[Sum][]int{}}
	further := int64(0)
	for _, e := range p.edits {
		t.at = append(t.at, e.Span.Start+further)
		further += int64(len(e.Text)) - e.Span.Len()
	}
	return t
}

// reaching returns the first edit whose text extends beyond an offset of the whole.
func (t *trail) reaching(off int64) int {
	return sort.Search(len(t.edits), func(k int) bool { return t.at[k]+int64(len(t.edits[k].Text)) > off })
}

// stood returns where the part of a span that the last edits did not write was before them.
func (t *trail) stood(s source.Span) source.Span {
	// The start of a span in new text maps to the end of the edit's span, and the end to its
	// start.
	back := func(off int64) (start, end int64) {
		k := t.reaching(off)
		switch {
		case k == len(t.edits):
			off += t.was.size - t.size
		case off >= t.at[k]:
			return t.edits[k].Span.End, t.edits[k].Span.Start
		default:
			off += t.edits[k].Span.Start - t.at[k]
		}
		return off, off + 1
	}
	start, _ := back(s.Start)
	_, end := back(s.End - 1)
	return source.Span{Start: start, End: max(start, end)}
}

// wrote returns the leaves that an edit wrote into a span.
func (t *trail) wrote(k int, s source.Span) (out []Leaf, err error) {
	text := t.edits[k].Text
	from, to := max(0, s.Start-t.at[k]), min(int64(len(text)), s.End-t.at[k])
	key := KeyBefore(text[:from])
	if from == 0 {
		key, err = t.key(k)
	}
	for l := range Leaves(text[from:to], key, 0) {
		out = append(out, l)
	}
	return out, err
}

// key returns the key of the value that an edit replaces, "" if there is none.
func (t *trail) key(k int) (string, error) {
	const longest = 512
	at := t.edits[k].Span
	if at.Len() == 0 {
		return "", nil
	}
	b, err := t.was.Source().Bytes(source.Span{Start: max(0, at.Start-longest), End: at.Start})
	return KeyBefore(b), err
}

// lookFor collects the wanted leaves that the edits removed.
func (t *trail) lookFor(wanted map[Sum]bool) error {
	src, n := t.was.Source(), 0
	for k, e := range t.edits {
		if e.Span.Len() == 0 {
			continue
		}
		key, err := t.key(k)
		if err != nil {
			return err
		}
		b, err := src.Bytes(e.Span)
		if err != nil {
			return err
		}
		for l := range Leaves(b, key, e.Span.Start) {
			if n++; wanted[l.Sum] {
				t.bySum[l.Sum] = append(t.bySum[l.Sum], len(t.taken))
				t.taken, t.number, t.found = append(t.taken, l), append(t.number, n), append(t.found, false)
			}
		}
		n++
	}
	return nil
}

// places returns the removed leaves that are the same as l, starting with the first one that
// is not found yet.
func (t *trail) places(l Leaf) []int {
	at := t.bySum[l.Sum]
	for len(at) > 0 && t.found[at[0]] {
		at = at[1:]
	}
	t.bySum[l.Sum] = at
	return at
}

// mostTried is the maximum number of places that are tried for a leaf.
const mostTried = 100

// find adds the places from which successive leaves of new text were removed. It matches the
// longest run of leaves first, and uses each place once.
func (t *trail) find(out []source.Span, leaves []Leaf) []source.Span {
	rare, least := -1, []int(nil)
	for i, l := range leaves {
		if at := t.places(l); len(at) > 0 && (rare < 0 || len(at) < len(least)) {
			rare, least = i, at
		}
	}
	if rare < 0 {
		return out
	}
	same := func(i, at int) bool {
		return i >= 0 && i < len(leaves) && at >= 0 && at < len(t.taken) && !t.found[at] && leaves[i].Sum == t.taken[at].Sum
	}
	lo, hi, first := rare, rare+1, least[0]
	for _, at := range least[:min(len(least), mostTried)] {
		if t.found[at] {
			continue
		}
		a, b := 0, 1
		for same(rare-a-1, at-a-1) && t.number[at-a-1]+1 == t.number[at-a] {
			a++
		}
		for same(rare+b, at+b) && t.number[at+b-1]+1 == t.number[at+b] {
			b++
		}
		if a+b > hi-lo {
			lo, hi, first = rare-a, rare+b, at-a
		}
	}
	last := first + hi - lo - 1
	for at := first; at <= last; at++ {
		t.found[at] = true
	}
	out = t.find(out, leaves[:lo])
	out = append(out, source.Span{Start: t.taken[first].At.Start, End: t.taken[last].At.End})
	return t.find(out, leaves[hi:])
}
