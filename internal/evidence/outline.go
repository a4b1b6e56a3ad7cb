package evidence

import (
	"bytes"
	"maps"

	"github.com/toolguard/toolguard/internal/source"
)

// An Aspect is everything that a set of conditions examines in a value.
type Aspect struct {
	members map[string]*Aspect // of the fields with these keys
	rest    *Aspect            // of each field, including those
	items   *Aspect            // of each element
	keys    bool               // which keys exist, regardless of their values
	says    bool               // the text of a scalar
	word    bool               // the text of a string if it is a keyword
	places  bool               // the number of elements and their indexes
	// opaque is set if conditions examine more of an array or object than an outline
	// shows.
	opaque bool
}

// Keywords adds what a search for keywords examines in an object: its keys and strings,
// and those of the objects and array elements directly in it.
func (a *Aspect) Keywords() {
	val := a.other()
	val.word = true
	val.other().word = true
	val.item().other().word = true
}

// Table adds what the rows of a table examine.
func (a *Aspect) Table(t *Table) {
	if t == nil {
		return
	}
	t.once.Do(t.compile)
	for i := range t.rows {
		a.Conds(t.rows[i].If)
	}
	for i := range t.lists {
		l := &t.lists[i]
		for _, path := range l.paths {
			list := a
			for _, name := range path {
				list = list.member(name)
			}
			for _, conds := range l.conds {
				list.item().Conds(conds)
				switch l.object {
				case ".*":
					list.other().Conds(conds)
				case ".?":
					list.Conds(conds)
				}
			}
		}
	}
}

// Conds adds what conditions examine.
func (a *Aspect) Conds(conds []*Cond) {
	for _, c := range conds {
		if c.compiled().tool {
			a.keys = true
			typ := a.member("type")
			typ.says, typ.opaque = true, true
		}
		for i := range c.alts {
			p, first := &c.alts[i], a
			if p.key != "" {
				first = a.member(p.key)
			}
			p.observe(first, p.steps, c)
		}
	}
}

func (a *Aspect) member(key string) *Aspect {
	if a.members == nil {
		a.members = map[string]*Aspect{}
	}
	m := a.members[key]
	if m == nil {
		m = &Aspect{}
		a.members[key] = m
	}
	return m
}

func (a *Aspect) other() *Aspect {
	if a.rest == nil {
		a.rest = &Aspect{}
	}
	return a.rest
}

func (a *Aspect) item() *Aspect {
	if a.items == nil {
		a.items = &Aspect{}
	}
	return a.items
}

// and returns an aspect with everything that a or b examines. It changes neither.
func (a *Aspect) and(b *Aspect) *Aspect {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := &Aspect{
		members: a.members, rest: a.rest.and(b.rest), items: a.items.and(b.items),
		keys: a.keys || b.keys, says: a.says || b.says, word: a.word || b.word, places: a.places || b.places, opaque: a.opaque || b.opaque,
	}
	if len(b.members) > 0 {
		if both.members = maps.Clone(a.members); both.members == nil {
			both.members = map[string]*Aspect{}
		}
		for key, m := range b.members {
			both.members[key] = m.and(a.members[key])
		}
	}
	return both
}

const (
	// mostOutline is the largest size of an outline, and mostSaid of a scalar in one.
	mostOutline = 1 << 10
	mostSaid    = 64
)

// A Pen draws the outlines of objects. An outline shows exactly what a set of conditions
// examines, so they give the same answers for two objects with the same outline.
type Pen struct {
	top   *spot
	blank *spot // where only the presence of a value is examined
	word  func(source.Value) bool
	drawn []byte
}

// NewPen returns a Pen for an aspect. word reports whether a string is a keyword.
func NewPen(top *Aspect, word func(source.Value) bool) *Pen {
	return &Pen{top: &spot{Aspect: top}, blank: &spot{Aspect: &Aspect{}}, word: word}
}

// A spot is a position in outlines at which a pen draws values.
type spot struct {
	*Aspect
	seen  *seen
	items *spot
	other *spot            // of fields without their own aspect
	named map[string]*spot // of fields with their own aspect
}

// seen are the keys of earlier objects.
type seen struct {
	source.Keys
	n     int // how many have numbers
	spots [source.MaxKeys + 1]*spot
}

// in returns the spot for the value of a key, or nil if it is not examined.
func (s *spot) in(key []byte) *spot {
	a := s.members[string(key)]
	if a == nil {
		if s.other == nil && s.rest != nil {
			s.other = &spot{Aspect: s.rest}
		}
		return s.other
	}
	m := s.named[string(key)]
	if m == nil {
		if s.named == nil {
			s.named = map[string]*spot{}
		}
		m = &spot{Aspect: a.and(s.rest)}
		s.named[string(key)] = m
	}
	return m
}

// Draw returns the outline of an object, which is valid until the next call. It returns
// false if v is not an object or if an outline cannot show everything that is examined.
func (p *Pen) Draw(v source.Value) ([]byte, bool) {
	p.drawn = p.drawn[:0]
	if v.Kind() != source.Object || v.Outside() {
		return nil, false
	}
	ok := p.draw(p.top, v)
	return p.drawn, ok
}

// draw appends a value: a letter for its kind and everything that is examined. No
// encoding is a prefix of another.
func (p *Pen) draw(s *spot, v source.Value) bool {
	kind := v.Kind()
	switch {
	case len(p.drawn) > mostOutline:
		return false
	case kind == source.Object:
		return !s.opaque && p.object(s, v)
	case kind == source.Array:
		return !s.opaque && p.array(s, v)
	case s.says && v.Span().Len() > mostSaid:
		return false
	case s.says && kind != source.String:
		p.drawn = append(append(append(p.drawn, '='), v.Raw()...), ';')
	case s.says, s.word && kind == source.String && p.word(v):
		p.drawn = append(p.drawn, v.Raw()...)
	case kind == source.String && v.Span().Len() == 2:
		p.drawn = append(p.drawn, 'e')
	default:
		p.drawn = append(p.drawn, "-nbds"[kind])
	}
	return true
}

// object appends an object.
func (p *Pen) object(s *spot, v source.Value) bool {
	p.drawn = append(p.drawn, '{')
	if !s.keys && s.members == nil && s.rest == nil {
		p.filled(v)
		p.drawn = append(p.drawn, '}')
		return true
	}
	if s.seen == nil {
		s.seen = &seen{}
	}
	some := false
	var w source.Walk
	for w.Begin(v, &s.seen.Keys); w.Next(); some = true {
		n := w.Number()
		if n == 0 || n > s.seen.n {
			raw := w.Key().Raw()
			if len(raw) > mostOutline || bytes.IndexByte(raw, '\\') >= 0 {
				return false
			}
			s.seen.spots[n] = s.in(raw[1 : len(raw)-1])
			s.seen.n = max(s.seen.n, n)
		}
		m := s.seen.spots[n]
		switch {
		case m == nil && !s.keys:
			continue
		case m == nil:
			m = p.blank
		}
		if p.drawn = append(p.drawn, byte(n)); n == 0 {
			p.drawn = append(p.drawn, w.Key().Raw()...)
		}
		if !p.draw(m, *w.Value()) {
			return false
		}
	}
	if some {
		p.drawn = append(p.drawn, 'f') // it has other fields
	}
	p.drawn = append(p.drawn, '}')
	return true
}

// array appends an array. It draws equal consecutive elements once, unless their indexes
// are examined.
func (p *Pen) array(s *spot, v source.Value) bool {
	p.drawn = append(p.drawn, '[')
	if s.Aspect.items == nil {
		p.filled(v)
		p.drawn = append(p.drawn, ']')
		return true
	}
	if s.items == nil {
		s.items = &spot{Aspect: s.Aspect.items}
	}
	last := len(p.drawn)
	for i, e := range v.Elements() {
		at := len(p.drawn)
		if i >= MostElements || !p.draw(s.items, e) {
			return false
		}
		if !s.places && at > last && bytes.Equal(p.drawn[last:at], p.drawn[at:]) {
			p.drawn = p.drawn[:at]
		} else {
			last = at
		}
	}
	p.drawn = append(p.drawn, ']')
	return true
}

// filled appends whether an array or object has any content.
func (p *Pen) filled(v source.Value) {
	if v.Filled() {
		p.drawn = append(p.drawn, 'f')
	}
}
