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

// A filling is the slots of a plan while they are filled.
type filling struct {
	out   []source.Value
	ranks []int // of the alternative that fills a slot; behind all where it is null
}

// fill begins to fill slots, in buffers that are used where they have room.
func (p *Plan) fill(out []source.Value, ranks []int) filling {
	if p.slots > len(out) {
		out = make([]source.Value, p.slots)
	}
	if p.slots > len(ranks) {
		ranks = make([]int, p.slots)
	}
	out = out[:p.slots]
	clear(out)
	return filling{out, ranks}
}

// put notes a member in the slots that it belongs to, and reports whether there
// are any. The first alternative of a lens counts that is not null, in whatever
// order they are met.
func (p *Plan) put(f *filling, key, val source.Value) bool {
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
		if !f.out[s.slot].Exists() || rank < f.ranks[s.slot] {
			f.out[s.slot], f.ranks[s.slot] = got, rank
		}
	}
	return known
}

// fewSlots is how many slots a plan has, as a rule.
const fewSlots = 8

// Read returns the value of each lens in v, None where there is none, in a buffer
// that is used where it has room. It reports doubled keys.
func (p *Plan) Read(b *transcript.Builder, v source.Value, buf []source.Value) []source.Value {
	var few [4 * fewSlots]int
	f := p.fill(buf, few[:])
	b.Members(v, func(key, val source.Value) { p.put(&f, key, val) })
	return f.out
}
