package dialect

import (
	"bytes"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Lenses is a list of lenses that start at the same object, compiled into a map
// from keys to slots. It reads them all in one pass over the object.
type Lenses struct {
	once   sync.Once
	lenses []Lens
	at     map[string]int // from the first key of an alternative to an index in steps
	steps  [][]step       // the alternatives that begin with a key; index 0 is unused
	slots  int            // one per lens
	alts   int
}

// A step is one alternative of one lens.
type step struct {
	slot int
	rank int  // position among all alternatives
	rest Lens // the path below the first key, "" for the value itself
}

// NewLenses returns a list with one slot per lens. It is compiled on first use,
// because most lists are never used.
//
//go:noinline
func NewLenses(lenses ...Lens) *Lenses { return &Lenses{lenses: lenses} }

func (l *Lenses) compile() {
	l.at, l.steps, l.slots = map[string]int{}, make([][]step, 1), len(l.lenses)
	for slot, lens := range l.lenses {
		if lens == "" {
			continue
		}
		for alt := range lens.Alternatives() {
			key, rest, _ := strings.Cut(string(alt), ".")
			if l.at[key] == 0 {
				l.at[key] = len(l.steps)
				l.steps = append(l.steps, nil)
			}
			steps := &l.steps[l.at[key]]
			*steps = append(*steps, step{slot, l.alts, Lens(rest)})
			l.alts++
		}
	}
}

// slotted holds the values in the slots. It is reused for every object.
type slotted struct {
	vals   []source.Value // by slot; None if absent
	ranks  []int          // rank of the alternative in the slot; a null ranks after all others
	filled []int          // the slots that hold a value
}

// beginning returns the index of the steps that begin with key, or 0.
func (l *Lenses) beginning(key source.Value) int {
	raw := key.Raw()
	n, known := l.at[string(raw[1:len(raw)-1])]
	if !known && bytes.IndexByte(raw, '\\') >= 0 {
		n = l.at[key.Str()]
	}
	return n
}

// put stores a value in the slots of its key. The first alternative of a lens that
// is not null wins, whatever the order of keys.
func (s *slotted) put(l *Lenses, steps []step, val *source.Value) {
	for i := range steps {
		st := &steps[i]
		got, rank := val, st.rank
		if st.rest != "" {
			inner := st.rest.In(*val)
			got = &inner
		}
		switch got.Kind() {
		case source.None:
			continue
		case source.Null:
			rank += l.alts
		}
		there := s.vals[st.slot].Exists()
		if !there {
			s.filled = append(s.filled, st.slot)
		}
		if !there || rank < s.ranks[st.slot] {
			s.vals[st.slot], s.ranks[st.slot] = *got, rank
		}
	}
}

// Read returns the value of each lens in v, None if it is absent, and reports
// duplicate keys. The values are valid until b reads with these lenses again.
func (l *Lenses) Read(b *transcript.Builder, v source.Value) []source.Value {
	l.once.Do(l.compile)
	m := b.Members(v, l)
	s, used := m.Kept().(*slotted)
	if !used {
		s = &slotted{make([]source.Value, l.slots), make([]int, l.slots), make([]int, 0, l.slots)}
		m.Keep(s)
	}
	// Clearing only the filled slots is cheaper, because most objects fill few.
	for _, slot := range s.filled {
		s.vals[slot] = source.Value{}
	}
	s.filled = s.filled[:0]
	for m.Next() {
		n, fresh := m.Note()
		if fresh {
			n = l.beginning(m.Key())
			m.SetNote(n)
		}
		if n > 0 {
			s.put(l, l.steps[n], m.Value())
		}
	}
	return s.vals
}
