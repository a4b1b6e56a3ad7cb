package schema

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A place is a value in the arguments and its path from the root.
type place struct {
	value source.Value
	in    *place // nil for the root
	key   []byte // if it is in an object
	index int    // if it is in an array, or else -1
	depth int    // the length of the path
	// name is set for a key, which has no place of its own. Messages name the object
	// instead.
	name bool
	// open are the schemas that are being checked at this place, each nested in the one
	// before.
	open []*node
	room [4]*node // for the first elements of open

	found *object // the fields, once they are needed
	spare *object // their buffer, from an earlier use of the place
	size  int     // the number of elements plus 1, once it is needed
}

// place returns a place, which is valid until it is released.
func (v *validator) place(p place) *place {
	var at *place
	if last := len(v.idle) - 1; last >= 0 {
		at, v.idle = v.idle[last], v.idle[:last]
		p.spare = at.found
	} else {
		at = new(place)
	}
	*at = p
	return at
}

// mostSpare is the largest number of fields for which an unused place keeps its buffer.
const mostSpare = 1 << 10

// release makes a place available for reuse.
func (v *validator) release(at *place) {
	if at.found == nil {
		at.found = at.spare
	}
	if at.found != nil && cap(at.found.members) > mostSpare {
		at.found = nil
	}
	v.idle = append(v.idle, at)
}

// member returns the place of a field of an object.
func (c *checking) member(m member) *place {
	return c.v.place(place{value: m.value, in: c.at, key: m.name, index: -1, depth: c.at.depth + 1})
}

// element returns the place of an element of an array.
func (c *checking) element(i int, val source.Value) *place {
	return c.v.place(place{value: val, in: c.at, index: i, depth: c.at.depth + 1})
}

// pointer returns the JSON pointer to the place.
func (p *place) pointer() string {
	if p.in == nil {
		return ""
	}
	key := string(p.key)
	if p.index >= 0 {
		key = strconv.Itoa(p.index)
	}
	if strings.ContainsAny(key, "~/") {
		key = pointerEscaper.Replace(key)
	}
	return p.in.pointer() + "/" + key
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// object returns the fields of the object at the place.
func (p *place) object() *object {
	if p.found == nil {
		p.found, p.spare = p.spare, nil
		if p.found == nil {
			p.found = &object{}
		}
		p.found.read(p.value)
	}
	return p.found
}

// length returns the number of elements of the array at the place.
func (p *place) length() int {
	if p.size == 0 {
		p.size = 1
		for range p.value.Elements() {
			p.size++
		}
	}
	return p.size - 1
}

// A member is one field of an object.
type member struct {
	name  []byte
	key   source.Span // the key
	value source.Value
}

// An object is the fields of an object. If several have the same key, the last one
// counts, as in most JSON decoders.
type object struct {
	members []member
	// numbers maps keys to indexes. It is nil if there are few fields.
	numbers map[string]int
}

// fewMembers is the largest number of fields that are searched linearly.
const fewMembers = 12

func newObject(v source.Value) *object {
	o := &object{}
	o.read(v)
	return o
}

// read replaces the fields with those of v.
func (o *object) read(v source.Value) {
	o.numbers = nil
	if o.members = o.members[:0]; o.members == nil {
		o.members = make([]member, 0, 4)
	}
	for k, val := range v.Members() {
		m := member{k.Text(), k.Span(), val}
		if i := o.find(m.name); i >= 0 {
			o.members[i] = m
			continue
		}
		o.members = append(o.members, m)
		switch {
		case o.numbers != nil:
			o.numbers[string(m.name)] = len(o.members) - 1
		case len(o.members) > fewMembers:
			o.numbers = make(map[string]int, 2*len(o.members))
			for i, m := range o.members {
				o.numbers[string(m.name)] = i
			}
		}
	}
}

// find returns the index of the field with the given key, or -1.
func (o *object) find(name []byte) int {
	if o.numbers != nil {
		if i, ok := o.numbers[string(name)]; ok {
			return i
		}
		return -1
	}
	for i := range o.members {
		if bytes.Equal(o.members[i].name, name) {
			return i
		}
	}
	return -1
}

// get returns the value of a key, or None.
func (o *object) get(name string) source.Value {
	if i := o.find([]byte(name)); i >= 0 {
		return o.members[i].value
	}
	return source.Value{}
}

// has reports whether there is a field with the given key.
func (o *object) has(name string) bool { return o.find([]byte(name)) >= 0 }

// An evaluated is the part of an object or array that schemas have evaluated.
type evaluated struct {
	all bool
	in  []bool // by index, up to some length
}

// mark marks a field or element as evaluated.
func (s *evaluated) mark(i, size int) {
	if s.in == nil {
		s.in = make([]bool, size)
	}
	s.in[i] = true
}

// add adds what another schema has evaluated of the same value.
func (s *evaluated) add(t evaluated) {
	s.all = s.all || t.all
	if s.in == nil {
		s.in = t.in
		return
	}
	for i, ok := range t.in {
		s.in[i] = s.in[i] || ok
	}
}

// has reports whether a field or element has been evaluated.
func (s *evaluated) has(i int) bool { return s.all || s.in != nil && s.in[i] }
