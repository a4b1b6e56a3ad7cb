package schema

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A place is a value in the arguments, and the way to it from their root.
type place struct {
	value source.Value
	in    *place // nil for the root
	key   []byte // in an object
	index int    // in an array, or -1
	depth int    // how many keys lead to it
	// name is set for the name of a member, which has no place of its own: it is
	// told at the object.
	name bool
	// open are the schemas that are being checked at this place, each within the
	// one before.
	open []*node
	room [4]*node // for the first of them

	found *object // the members, once they are asked for
	spare *object // the room for them, from when the place was another
	size  int     // one more than the number of elements, once it is asked for
}

// place returns a place, which is good until it is released.
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

// mostSpare is how many members a place that is not in use keeps room for.
const mostSpare = 1 << 10

// release takes a place back.
func (v *validator) release(at *place) {
	if at.found == nil {
		at.found = at.spare
	}
	if at.found != nil && cap(at.found.members) > mostSpare {
		at.found = nil
	}
	v.idle = append(v.idle, at)
}

// member returns the place of the member of an object.
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
		key = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	}
	return p.in.pointer() + "/" + key
}

// object returns the members of the object at the place.
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

// A member is one of an object.
type member struct {
	name  []byte
	key   source.Span // of the name
	value source.Value
}

// An object is the members of one. Of several that share a name the last
// counts, as it does for those that decode JSON.
type object struct {
	members []member
	// numbers are the members by name, nil where there are few.
	numbers map[string]int
}

// fewMembers is how many members are searched one by one.
const fewMembers = 12

func newObject(v source.Value) *object {
	o := &object{}
	o.read(v)
	return o
}

// read takes the members of a value for those that there were.
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

// find returns the number of the member of a name, or -1.
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

// get returns the value of a name, None where there is none.
func (o *object) get(name string) source.Value {
	if i := o.find([]byte(name)); i >= 0 {
		return o.members[i].value
	}
	return source.Value{}
}

// has reports whether there is a member of a name.
func (o *object) has(name string) bool { return o.find([]byte(name)) >= 0 }

// seen is what schemas have evaluated of an object or an array.
type seen struct {
	all bool
	in  []bool // by number, as far as it reaches
}

// mark notes one member or element.
func (s *seen) mark(i, size int) {
	if s.in == nil {
		s.in = make([]bool, size)
	}
	s.in[i] = true
}

// add notes what another schema has evaluated of the same value.
func (s *seen) add(t seen) {
	s.all = s.all || t.all
	if s.in == nil {
		s.in = t.in
		return
	}
	for i, ok := range t.in {
		s.in[i] = s.in[i] || ok
	}
}

// has reports whether a member or element is evaluated.
func (s *seen) has(i int) bool { return s.all || s.in != nil && s.in[i] }
