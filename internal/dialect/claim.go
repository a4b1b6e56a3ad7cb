package dialect

import (
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A Claim says how strongly a value looks like an element of a dialect.
type Claim struct {
	Dialect *Dialect // nil if no dialect claims the value
	Weight  evidence.Weight
	Sign    evidence.Sign
}

// claims yields the claim of each dialect that claims v. The dialect of the file is
// not known yet, so a sign that several dialects share counts as plain evidence at
// most.
func (s *Set) claims(v source.Value) iter.Seq[Claim] {
	return func(yield func(Claim) bool) {
		for d := range s.Candidates(v) {
			c := Claim{Dialect: d}
			if c.Weight, c.Sign = s.Claim(d, v); c.Sign.Alike() {
				c.Weight = min(c.Weight, evidence.Plain)
			}
			if c.Weight > evidence.None && !yield(c) {
				return
			}
		}
	}
}

// bestOf returns the strongest claim, the first one of several.
func bestOf(claims iter.Seq[Claim]) (best Claim) {
	for c := range claims {
		if c.Weight > best.Weight || c.Weight == best.Weight && best.Sign.Alike() && !c.Sign.Alike() {
			if best = c; c.Weight == evidence.Decisive {
				break
			}
		}
	}
	return best
}

// ClaimOf returns the dialect with the strongest claim on v.
func (s *Set) ClaimOf(v source.Value) (*Dialect, evidence.Weight, evidence.Sign) {
	return s.Ask(v).Claim()
}

// Ask returns the questions that can be asked about v. If the set has a memory, v
// is inspected once for all of them.
func (s *Set) Ask(v source.Value) Asked {
	a := Asked{set: s, of: v}
	if s != nil && s.memory != nil {
		a.known = s.memory.elements.of(v, s.elements, s)
	}
	return a
}

// Answers holds what a set remembers about a value.
type Answers struct{ known *answers }

// Answers returns what the set remembers about the value.
func (a Asked) Answers() Answers { return Answers{a.known} }

// Again is like Ask, for a value that the set has been asked about before.
func (s *Set) Again(v source.Value, about Answers) Asked {
	return Asked{set: s, of: v, known: about.known}
}

// An Asked is a value about which dialects are asked.
type Asked struct {
	set   *Set
	of    source.Value
	known *answers // nil if nothing is remembered
}

// Claims returns the claim of each dialect that claims the value. The dialect of
// the file is not known yet, so a sign that several dialects share counts as plain
// evidence at most. The signs fit every value with the same outline.
func (a Asked) Claims() []Claim {
	if a.known == nil {
		return slices.Collect(a.set.claims(a.of))
	}
	a.known.claim(a)
	return a.known.claims
}

// Claim returns the dialect with the strongest claim on the value, or nil.
func (a Asked) Claim() (*Dialect, evidence.Weight, evidence.Sign) {
	if a.known == nil {
		best := bestOf(a.set.claims(a.of))
		return best.Dialect, best.Weight, best.Sign
	}
	a.known.claim(a)
	best := &a.known.best
	return best.Dialect, best.Weight, best.Sign.In(a.of)
}

// Reads returns the weight that d, a dialect of the set, gives the value.
func (a Asked) Reads(d *Dialect) evidence.Weight {
	if a.known == nil {
		return d.Reads(a.of)
	}
	for _, r := range a.known.reads {
		if r.by == d {
			return r.weight
		}
	}
	weight := d.Reads(a.of)
	a.known.reads = append(a.known.reads, reading{d, weight})
	return weight
}

// answers are the answers of dialects about a value. They hold for every value with
// the same outline.
type answers struct {
	claimed bool
	claims  []Claim
	best    Claim // the best of claims
	reads   []reading
}

// claim collects the claims on a value, once.
func (k *answers) claim(a Asked) {
	if k.claimed {
		return
	}
	k.claimed = true
	for c := range a.set.claims(a.of) {
		c.Sign = c.Sign.In(source.Value{}) // the text is not kept
		k.claims = append(k.claims, c)
	}
	k.best = bestOf(slices.Values(k.claims))
}

// A reading is the weight that a dialect gives a value.
type reading struct {
	by     *Dialect
	weight evidence.Weight
}

// RequestOf returns the dialect to whose API v is a request, or nil.
func (s *Set) RequestOf(v source.Value) *Dialect {
	if s == nil || s.memory == nil {
		return s.requestOf(v)
	}
	r := s.memory.requests.of(v, s.requests, s)
	if r == nil {
		return s.requestOf(v)
	}
	if !r.asked {
		r.to, r.asked = s.requestOf(v), true
	}
	return r.to
}

func (s *Set) requestOf(v source.Value) *Dialect {
	for _, d := range s.All() {
		if d.isRequest(v) {
			return d
		}
	}
	return nil
}

// A request is the remembered answer of RequestOf.
type request struct {
	asked bool
	to    *Dialect
}

// A memory keeps answers about values by their outlines.
type memory struct {
	elements recall[answers]
	requests recall[request]
	// outside is the value that lookAt inspected last, and seen is its result.
	outside source.Span
	seen    uint64
}

// A recall keeps answers about values by their outlines.
type recall[T any] struct {
	asked int // number of questions, up to fewAsked
	pen   *evidence.Pen
	known map[string]*T
	again int // number of questions whose outline was known
	// useless is set if the outlines are so different that almost no question finds
	// a known one.
	useless bool
}

const (
	// fewAsked is the number of questions that are answered without a memory. For
	// so few, it is not worth collecting what the dialects look at.
	fewAsked = 128
	// mostKnown is the largest number of outlines to remember. After that the
	// memory is cleared.
	mostKnown = 1 << 10
)

// Remembering returns the set with a memory: values with the same outline are
// inspected once. It is for one goroutine. The memory may be that of an earlier set that was
// released, with the answers of that.
func (s *Set) Remembering() *Set {
	with := *s.or()
	with.memory = with.memories.Get().(*memory)
	with.memory.outside = source.Span{}
	return &with
}

// Release passes the memory on to later sets. It must not be called after a panic, which may have
// left half of an answer. The set has no memory then.
func (s *Set) Release() {
	if m := s.memory; m != nil && !m.elements.useless && !m.requests.useless {
		s.memories.Put(m)
	}
	s.memory = nil
}

// of returns the answers about v, or nil if they cannot be kept. looked returns the
// parts of a value that the answers depend on.
func (r *recall[T]) of(v source.Value, looked func() *evidence.Aspect, s *Set) *T {
	if r.pen == nil {
		if r.asked++; r.asked <= fewAsked || r.useless {
			return nil
		}
		r.pen, r.known = evidence.NewPen(looked(), s.isWord), map[string]*T{}
	}
	outline, ok := r.pen.Draw(v)
	if !ok {
		return nil
	}
	if kept := r.known[string(outline)]; kept != nil {
		r.again++
		return kept
	}
	if len(r.known) == mostKnown {
		if r.again < mostKnown {
			r.pen, r.known, r.useless = nil, nil, true
			return nil
		}
		clear(r.known)
		r.again = 0
	}
	kept := new(T)
	r.known[string(outline)] = kept
	return kept
}

// isWord reports whether a text is a keyword of any dialect.
func (s *Set) isWord(v source.Value) bool { return s.keywords.keyword(v) != 0 }

// elementsOf returns the parts of an element that the dialects look at.
func elementsOf(all []*Dialect) *evidence.Aspect {
	a := &evidence.Aspect{}
	a.Keywords()
	for _, d := range all {
		a.Table(d.Evidence)
	}
	return a
}

// requestsOf returns the parts of a request that the dialects look at.
func requestsOf(all []*Dialect) *evidence.Aspect {
	a := &evidence.Aspect{}
	for _, d := range all {
		for _, conds := range d.Request {
			a.Conds(conds)
		}
	}
	return a
}
