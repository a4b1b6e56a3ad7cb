package dialect

import (
	"iter"
	"math/bits"

	"github.com/toolguard/toolguard/internal/source"
)

// Asked yields the dialects that could claim v as an element of theirs, in the
// order of All. One look at v settles which are worth asking. Logs that hold no
// bare messages are not among them.
func (s *Set) Asked(v source.Value) iter.Seq[*Dialect] {
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
func (t *markTable) rest(yield func(*Dialect) bool) {
	for _, d := range t.rows[lastBit:] {
		if !yield(d) {
			return
		}
	}
}

// lastBit stands for all the rows that have no bit of their own.
const lastBit = 63

// A markTable says which dialects a mark speaks for.
type markTable struct {
	rows   []*Dialect
	always uint64 // those without marks
	of     map[string]uint64
	// heads are the first bytes of marks by their length, so that few other
	// names are looked up.
	heads [maxMark + 1][4]uint64
}

// maxMark bounds the length of a mark.
const maxMark = 40

func newMarkTable(all []*Dialect) *markTable {
	t := &markTable{of: map[string]uint64{}}
	for _, d := range all {
		if !d.Bare() {
			continue
		}
		bit := uint64(1) << min(len(t.rows), lastBit)
		t.rows = append(t.rows, d)
		if len(d.Marks) == 0 {
			t.always |= bit
		}
		for _, m := range d.Marks {
			t.of[m] |= bit
			t.heads[len(m)][m[0]>>6] |= 1 << (m[0] & 63)
		}
	}
	return t
}

// look returns the set of the dialects that could claim v.
func (t *markTable) look(v source.Value) uint64 {
	set := t.always
	for k, val := range v.Members() {
		set |= t.mark(k)
		switch val.Kind() {
		case source.String:
			set |= t.mark(val)
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

func (t *markTable) members(v source.Value) uint64 {
	set := uint64(0)
	for k, val := range v.Members() {
		set |= t.mark(k)
		if val.Kind() == source.String {
			set |= t.mark(val)
		}
	}
	return set
}

// mark returns the dialects for which a name or a text speaks. Nobody writes
// marks with escapes.
func (t *markTable) mark(s source.Value) uint64 {
	raw := s.Raw()
	if len(raw) < 3 || len(raw) > maxMark+2 || t.heads[len(raw)-2][raw[1]>>6]&(1<<(raw[1]&63)) == 0 {
		return 0
	}
	return t.of[string(raw[1:len(raw)-1])]
}
