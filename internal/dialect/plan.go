package dialect

import (
	"bytes"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Plan is the lenses that lead from an object, compiled to be followed in one
// pass over its members: from key to slot.
type Plan struct {
	at    map[string][]step // by the first name of an alternative
	slots int               // one for each lens
	alts  int
}

// A step is one alternative of one lens.
type step struct {
	slot int
	rank int  // among all alternatives
	rest Lens // from the member, "" for the member itself
}

// NewPlan compiles lenses, each of which gets a slot.
func NewPlan(lenses ...Lens) *Plan {
	p := &Plan{at: map[string][]step{}, slots: len(lenses)}
	for slot, l := range lenses {
		if l == "" {
			continue
		}
		for alt := range l.Alternatives() {
			key, rest, _ := strings.Cut(string(alt), ".")
			p.at[key] = append(p.at[key], step{slot, p.alts, Lens(rest)})
			p.alts++
		}
	}
	return p
}

// Slots are what a plan fills. They are used again for one object after the other.
type Slots struct {
	Vals  []source.Value // by slot, None where nothing is there
	ranks []int          // of the alternative that fills a slot; behind all where it is null
}

// clear makes the slots of a plan empty.
func (s *Slots) clear(p *Plan) {
	if cap(s.Vals) < p.slots {
		s.Vals, s.ranks = make([]source.Value, p.slots), make([]int, p.slots)
	}
	s.Vals, s.ranks = s.Vals[:p.slots], s.ranks[:p.slots]
	clear(s.Vals)
}

// put notes a member in the slots that it belongs to, and reports whether there
// are any. The first alternative of a lens counts that is not null, in whatever
// order they are met.
func (p *Plan) put(f *Slots, key, val source.Value) bool {
	raw := key.Raw()
	steps, known := p.at[string(raw[1:len(raw)-1])]
	if !known && bytes.IndexByte(raw, '\\') >= 0 {
		steps, known = p.at[key.Str()]
	}
	for i := range steps {
		s := &steps[i]
		got := val
		if s.rest != "" {
			got = s.rest.In(val)
		}
		rank := s.rank
		switch {
		case !got.Exists():
			continue
		case got.Kind() == source.Null:
			rank += p.alts
		}
		if !f.Vals[s.slot].Exists() || rank < f.ranks[s.slot] {
			f.Vals[s.slot], f.ranks[s.slot] = got, rank
		}
	}
	return known
}

// Read fills the slots with the value of each lens in v, and returns the values. It
// reports doubled keys.
func (p *Plan) Read(b *transcript.Builder, v source.Value, s *Slots) []source.Value {
	s.clear(p)
	b.Members(v, func(key, val source.Value) { p.put(s, key, val) })
	return s.Vals
}
