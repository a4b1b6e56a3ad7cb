package dialect

import (
	"bytes"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Plan is the lenses that lead from an object, compiled to be followed in one
// pass over its members: from key to slot.
type Plan struct {
	once   sync.Once
	lenses []Lens
	at     map[string]int // by the first name of an alternative: which steps begin with it
	steps  [][]step       // from 1
	slots  int            // one for each lens
	alts   int
}

// A step is one alternative of one lens.
type step struct {
	slot int
	rank int  // among all alternatives
	rest Lens // from the member, "" for the member itself
}

// NewPlan returns a plan of lenses, each of which gets a slot. It is compiled when it
// is followed for the first time, because most plans never are.
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

// planned are the slots of a plan. They are filled for one object after the other.
type planned struct {
	vals   []source.Value // by slot, None where nothing is there
	ranks  []int          // of the alternative that fills a slot; behind all where it is null
	filled []int          // the slots where something is there
}

// beginning returns which steps begin with a key, 0 for none.
func (p *Plan) beginning(key source.Value) int {
	raw := key.Raw()
	n, known := p.at[string(raw[1:len(raw)-1])]
	if !known && bytes.IndexByte(raw, '\\') >= 0 {
		n = p.at[key.Str()]
	}
	return n
}

// put notes a member in the slots that it belongs to. The first alternative of a lens
// counts that is not null, in whatever order they are met.
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

// Read returns the value of each lens in v, None where nothing is there, and reports
// doubled keys. The values are good until the plan is followed again for what the
// builder shares.
func (p *Plan) Read(b *transcript.Builder, v source.Value) []source.Value {
	p.once.Do(p.compile)
	return p.read(b, v)
}

// read is Read for a plan that is compiled.
func (p *Plan) read(b *transcript.Builder, v source.Value) []source.Value {
	m := b.Members(v, p)
	s, used := m.Kept().(*planned)
	if !used {
		s = &planned{make([]source.Value, p.slots), make([]int, p.slots), make([]int, 0, p.slots)}
		m.Keep(s)
	}
	// Most slots are for what few objects have.
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
