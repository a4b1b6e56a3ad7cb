package dialect

import (
	"iter"
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A Claim is what speaks for a value as an element of a dialect.
type Claim struct {
	Dialect *Dialect // nil if nothing does for any
	Weight  evidence.Weight
	Sign    evidence.Sign
}

// claims yields what speaks for v as an element of each dialect that claims it. None is
// known to be that of the file: what others write alike decides nothing.
func (s *Set) claims(v source.Value) iter.Seq[Claim] {
	return func(yield func(Claim) bool) {
		for d := range s.Candidates(v) {
			c := Claim{Dialect: d}
			if c.Weight, c.Sign = d.Claim(v); c.Sign.Alike() {
				c.Weight = min(c.Weight, evidence.Plain)
			}
			if c.Weight > evidence.None && !yield(c) {
				return
			}
		}
	}
}

// bestOf returns the claim that is most sure, of several the first.
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

// ClaimOf returns the dialect of the set that claims v most surely.
func (s *Set) ClaimOf(v source.Value) (*Dialect, evidence.Weight, evidence.Sign) {
	return s.Ask(v).Claim()
}

// Ask returns what can be asked about v. Where the set remembers, v is looked at once
// for several questions.
func (s *Set) Ask(v source.Value) Asked {
	a := Asked{set: s, of: v}
	if s != nil && s.memory != nil {
		a.known = s.memory.elements.of(v, s.elements, s)
	}
	return a
}

// Answers are what a set remembers about a value.
type Answers struct{ known *answers }

// Answers returns what is remembered about the value.
func (a Asked) Answers() Answers { return Answers{a.known} }

// Again is Ask for a value about which the set was asked before.
func (s *Set) Again(v source.Value, about Answers) Asked {
	return Asked{set: s, of: v, known: about.known}
}

// An Asked is a value about which dialects are asked.
type Asked struct {
	set   *Set
	of    source.Value
	known *answers // nil where nothing is remembered
}

// Claims returns what speaks for the value as an element of each dialect that claims it.
// None is known to be that of the file: what others write alike decides nothing. The
// signs are those of any value like it.
func (a Asked) Claims() []Claim {
	if a.known == nil {
		return slices.Collect(a.set.claims(a.of))
	}
	a.known.claim(a)
	return a.known.claims
}

// Claim returns the dialect that claims the value most surely, nil if none does.
func (a Asked) Claim() (*Dialect, evidence.Weight, evidence.Sign) {
	if a.known == nil {
		best := bestOf(a.set.claims(a.of))
		return best.Dialect, best.Weight, best.Sign
	}
	a.known.claim(a)
	best := &a.known.best
	return best.Dialect, best.Weight, best.Sign.In(a.of)
}

// Reads returns what the dialect, one of the set, says of the value.
func (a Asked) Reads(d *Dialect) evidence.Weight {
	// What a driver looks at is not known.
	if a.known == nil || d.UserDefined() {
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

// answers are what dialects said of a value, and would say of any other with the same
// outline.
type answers struct {
	claimed bool
	claims  []Claim
	best    Claim // of them
	reads   []reading
}

// claim finds out who claims a value.
func (k *answers) claim(a Asked) {
	if k.claimed {
		return
	}
	k.claimed = true
	for c := range a.set.claims(a.of) {
		c.Sign = c.Sign.In(source.Value{}) // the text does not stay
		k.claims = append(k.claims, c)
	}
	k.best = bestOf(slices.Values(k.claims))
}

// A reading is what a dialect says of a value.
type reading struct {
	by     *Dialect
	weight evidence.Weight
}

// RequestOf returns the dialect to whose API v is a request, nil for none.
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

// A request is what is known of what may be one.
type request struct {
	asked bool
	to    *Dialect
}

// A memory keeps the answers about values of which more are made alike.
type memory struct {
	elements recall[answers]
	requests recall[request]
	// outside is the value that lookAt looked at last, and seen what it saw.
	outside source.Span
	seen    uint64
}

// A recall keeps what was found out about values, by their outlines.
type recall[T any] struct {
	asked int // how often, up to fewAsked
	pen   *evidence.Pen
	known map[string]*T
	again int // how often one was known already
	// useless is set where values are so different that hardly any was.
	useless bool
}

const (
	// fewAsked is how many questions are answered sooner than it is known what all
	// dialects look at.
	fewAsked = 128
	// mostKnown is how many outlines are remembered. Then it begins anew.
	mostKnown = 1 << 10
)

// Remembering returns the set with a memory: it asks its dialects once about elements
// that are alike to all of them. It is for one goroutine.
func (s *Set) Remembering() *Set {
	if s == nil {
		s = builtin()
	}
	if slices.ContainsFunc(s.all, func(d *Dialect) bool { return d.forced }) {
		return s // what its driver looks at is not known
	}
	with := *s
	with.memory = &memory{}
	return &with
}

// of returns what is kept about a value, nil where nothing can be. Looked is what is
// looked at to find it out.
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

// isWord reports whether a text speaks for any dialect.
func (s *Set) isWord(v source.Value) bool { return s.keywords.keyword(v) != 0 }

// elementsOf returns what dialects look at in an element.
func elementsOf(all []*Dialect) *evidence.Aspect {
	a := &evidence.Aspect{}
	a.Keywords()
	for _, d := range all {
		a.Table(d.Evidence)
		a.Conds(d.Marks)
	}
	return a
}

// requestsOf returns what dialects look at in a request.
func requestsOf(all []*Dialect) *evidence.Aspect {
	a := &evidence.Aspect{}
	for _, d := range all {
		for _, conds := range d.Request {
			a.Conds(conds)
		}
	}
	return a
}
