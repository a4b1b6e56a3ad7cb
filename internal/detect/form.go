package detect

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// Rows finds the conversations in the rows of a dataset. Rows of the same form have the
// conversation in the same place, so only rows of a new form are searched.
type Rows struct {
	set *dialect.Set
	// pointer is the place of the first conversation, and path the same as keys.
	pointer string
	path    []string
	forms   map[uint64]*Place // the place found in the rows of each form
	members source.Members    // of the current row
	// found is the place found last, and parts its only part.
	found [1]Place
	parts [1]source.Value
}

// mostForms limits how many forms are remembered, and formDepth how deep a row with a
// form may be nested.
const (
	mostForms = 1 << 10
	formDepth = 32
)

// NewRows returns a Rows for the rows of one dataset.
func NewRows(set *dialect.Set) *Rows { return &Rows{set: set, forms: map[uint64]*Place{}} }

// Like returns a Rows for the rows of a dataset that was edited. It knows the forms that r has learnt.
func (r *Rows) Like(set *dialect.Set) *Rows {
	return &Rows{set: set, pointer: r.pointer, path: r.path, forms: maps.Clone(r.forms)}
}

// Find returns the places of conversations in a row. They are valid until the next call.
// d is the dialect of the earlier rows, or nil.
func (r *Rows) Find(v source.Value, d *dialect.Dialect) []Place {
	if d != nil {
		reads := func(first source.Value) bool { return r.set.Ask(first).Reads(d) > evidence.Weak }
		if p, list, known := r.known(v, Place{}, reads); known {
			r.found[0], r.parts[0] = p, list
			r.found[0].Parts = r.parts[:]
			return r.found[:]
		}
	}
	v = v.Indexed()
	found := Find(r.set, v)
	if len(found) == 1 {
		r.note(found[0], v)
	}
	return found
}

// known returns the place in a row of a known form, without its only part, and that part
// as list. outer is what is known from around the row. reads reports whether a message is
// in the dialect of the earlier rows.
func (r *Rows) known(v source.Value, outer Place, reads func(first source.Value) bool) (p Place, list source.Value, known bool) {
	if r.path == nil {
		return Place{}, source.Value{}, false
	}
	v = r.members.Of(v)
	list = v.Path(r.path...)
	if first := list.First(); first.Kind() != source.Object || !reads(first) {
		return Place{}, source.Value{}, false
	}
	alike := r.forms[r.form(v, r.path, 0)]
	if alike == nil {
		return Place{}, source.Value{}, false
	}
	return r.like(*alike, outer, v), list.Light(), true
}

// note remembers the place in a row if it is the only one.
func (r *Rows) note(place Place, v source.Value) {
	if !r.simple(&place, v) || len(r.forms) == mostForms {
		return
	}
	place.Parts, place.Hosts = nil, nil // the next record overwrites the text of this one
	if r.path == nil {
		r.pointer, r.path = place.Pointer, strings.Split(place.Pointer, "/")[1:]
	}
	if place.Pointer == r.pointer {
		r.forms[r.form(v, r.path, 0)] = &place
	}
}

// simple reports whether a place is one messages array in an object and no other part of
// the row could hold messages. Other parts were not compared with it.
func (r *Rows) simple(p *Place, v source.Value) bool {
	if p.Class != ClassMessage || p.Unfolded != nil || p.Into != nil || p.CheckOnly != "" || p.HintSure || p.listed ||
		len(p.Parts) != 1 || p.Parts[0].Kind() != source.Array || p.Pointer == "" || strings.Contains(p.Pointer, "~") {
		return false
	}
	for _, name := range strings.Split(p.Pointer, "/")[1:] {
		for k, val := range v.Members() {
			if k.Is(name) {
				continue
			}
			if _, claim, _ := r.set.ClaimOf(val); claim > evidence.None || len(Find(r.set, val)) > 0 {
				return false
			}
		}
		v = v.Get(name)
	}
	return true
}

// like returns the place of an array in a row of the same form as the row of p.
func (r *Rows) like(p, outer Place, v source.Value) Place {
	p.Elsewhere, p.Hint, p.Hosts = outer.Elsewhere, outer.Hint, outer.Hosts
	f := finder{set: r.set}
	for i := range r.path {
		k := look(f.set, v, nil)
		p = f.beside(&k, v, p)
		v = v.Get(r.path[i])
	}
	return p
}

// form returns a hash of the keys in a value and the kinds of their values. It includes
// strings only if a dialect depends on their text, and it ignores the order of fields.
// but is the path of a value to leave out.
func (r *Rows) form(v source.Value, but []string, depth int) uint64 {
	const seed, prime = 14695981039346656037, 1099511628211
	sum := uint64(seed) + uint64(v.Kind())
	text := func(sum uint64, raw []byte) uint64 {
		for _, c := range raw {
			sum = (sum ^ uint64(c)) * prime
		}
		return sum
	}
	switch k := v.Kind(); {
	case depth > formDepth:
		return uint64(v.Span().Start) + uint64(v.Span().Len()) // unlike any other
	case k == source.Object:
		for k, val := range v.Members() {
			one := text(seed, k.Raw())
			switch {
			case len(but) == 1 && k.Is(but[0]):
				one += uint64(source.Array) // its elements are checked separately
			case len(but) > 1 && k.Is(but[0]):
				one += r.form(val, but[1:], depth+1)
			default:
				one += r.form(val, nil, depth+1)
			}
			sum += one * (one | 1) // independent of the order
		}
	case k == source.Array:
		var seen []uint64
		for _, e := range v.Present() {
			if one := r.form(e, nil, depth+1); !slices.Contains(seen, one) && len(seen) < listHead {
				seen = append(seen, one)
				sum += one * prime
			}
		}
	case k == source.String && (v.Span().Len() == 2 || r.set.IsKeyword(v)):
		sum = text(sum, v.Raw())
	}
	return sum * prime
}
