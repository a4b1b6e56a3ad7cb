package dialect

import (
	"iter"
	"math/bits"

	"github.com/toolguard/toolguard/internal/source"
)

// Candidates yields the dialects that could claim v as an element of theirs, in the
// order of All. One look at v settles which are worth asking. Logs that hold no
// bare messages are not among them.
func (s *Set) Candidates(v source.Value) iter.Seq[*Dialect] {
	return func(yield func(*Dialect) bool) {
		t := s.table()
		for set := t.look(v); set != 0; set &= set - 1 {
			n := bits.TrailingZeros64(set)
			if n == lastBit {
				t.rest(yield)
				return
			}
			if !yield(t.rows[n]) {
				return
			}
		}
	}
}

// rest yields the rows that have no bit of their own.
func (t *keywordTable) rest(yield func(*Dialect) bool) {
	for _, d := range t.rows[lastBit:] {
		if !yield(d) {
			return
		}
	}
}

// lastBit stands for all the rows that have no bit of their own.
const lastBit = 63

// A keywordTable says which dialects a keyword speaks for.
type keywordTable struct {
	rows   []*Dialect
	always uint64 // those without keywords
	of     map[string]uint64
	// heads are the first bytes of keywords by their length, so that few other
	// names are looked up.
	heads [maxKeyword + 1][4]uint64
}

// maxKeyword bounds the length of a keyword.
const maxKeyword = 40

func newKeywordTable(all []*Dialect) *keywordTable {
	t := &keywordTable{of: map[string]uint64{}}
	for _, d := range all {
		if !d.Bare() {
			continue
		}
		bit := uint64(1) << min(len(t.rows), lastBit)
		t.rows = append(t.rows, d)
		if len(d.Keywords) == 0 {
			t.always |= bit
		}
		for _, m := range d.Keywords {
			t.of[m] |= bit
			t.heads[len(m)][m[0]>>6] |= 1 << (m[0] & 63)
		}
	}
	return t
}

// look returns the set of the dialects that could claim v.
func (t *keywordTable) look(v source.Value) uint64 {
	set := t.always
	for k, val := range v.Members() {
		set |= t.keyword(k)
		switch val.Kind() {
		case source.String:
			set |= t.keyword(val)
		case source.Array:
			for _, e := range val.Elements() {
				set |= t.members(e)
			}
		case source.Object:
			set |= t.members(val)
		}
	}
	return set
}

func (t *keywordTable) members(v source.Value) uint64 {
	set := uint64(0)
	for k, val := range v.Members() {
		set |= t.keyword(k)
		if val.Kind() == source.String {
			set |= t.keyword(val)
		}
	}
	return set
}

// keyword returns the dialects for which a name or a text speaks. Nobody writes
// keywords with escapes.
func (t *keywordTable) keyword(s source.Value) uint64 {
	raw := s.Raw()
	if len(raw) < 3 || len(raw) > maxKeyword+2 || t.heads[len(raw)-2][raw[1]>>6]&(1<<(raw[1]&63)) == 0 {
		return 0
	}
	return t.of[string(raw[1:len(raw)-1])]
}
