package dialect

import (
	"bytes"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Plan is a list of lenses that start at the same object, compiled into a map
// from keys to slots. It reads them all in one pass over the object.
type Plan struct {
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

// NewPlan returns a plan with one slot per lens. It is compiled on first use,
// because most plans are never used.
//
//go:noinline
func NewPlan(lenses ...Lens) *Plan { return &Plan{lenses: lenses} }

func (p *Plan) compile() {
	p.at, p.steps, p.slots = map[string]int{}, make([][]step, 1), len(p.lenses)
	for slot, l := range p.lenses {
		if l == "" {
			continue
		}
		for alt := range l.Alternatives() {
			key, rest, _ := strings.Cut(string(alt), ".")
			if p.at[key] == 0 {
				p.at[key] = len(p.steps)
				p.steps = append(p.steps, nil)
			}
			steps := &p.steps[p.at[key]]
			*steps = append(*steps, step{slot, p.alts, Lens(rest)})
			p.alts++
		}
	}
}

// planned holds the slots of a plan. It is reused for every object.
type planned struct {
	vals   []source.Value // by slot; None if absent
	ranks  []int          // rank of the alternative in the slot; a null ranks after all others
	filled []int          // the slots that hold a value
}

// beginning returns the index of the steps that begin with key, or 0.
func (p *Plan) beginning(key source.Value) int {
	raw := key.Raw()
	n, known := p.at[string(raw[1:len(raw)-1])]
	if !known && bytes.IndexByte(raw, '\\') >= 0 {
		n = p.at[key.Str()]
	}
	return n
}

// put stores a value in the slots of its key. The first alternative of a lens that
// is not null wins, whatever the order of keys.
func (s *planned) put(p *Plan, steps []step, val *source.Value) {
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
			rank += p.alts
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
// duplicate keys. The values are valid until b follows the plan again.
func (p *Plan) Read(b *transcript.Builder, v source.Value) []source.Value {
	p.once.Do(p.compile)
	m := b.Members(v, p)
	s, used := m.Kept().(*planned)
	if !used {
		s = &planned{make([]source.Value, p.slots), make([]int, p.slots), make([]int, 0, p.slots)}
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
			n = p.beginning(m.Key())
			m.SetNote(n)
		}
		if n > 0 {
			s.put(p, p.steps[n], m.Value())
		}
	}
	return s.vals
}
