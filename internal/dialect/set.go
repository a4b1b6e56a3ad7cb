package dialect

import (
	"slices"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
)

// A Set is the dialects that a file may be written in. A nil set is the
// built-in one.
type Set struct {
	all   []*Dialect
	own   []*Dialect // those that somebody has described
	marks *markTable
}

// builtin makes the built-in set, which is never changed.
var builtin = sync.OnceValue(func() *Set { return newSet(All()) })

// Builtin returns the set of the dialects of All.
func Builtin() *Set { return builtin() }

func newSet(all []*Dialect) *Set {
	s := &Set{all: all, marks: newMarkTable(all)}
	for _, d := range all {
		if d.Own() {
			s.own = append(s.own, d)
		}
	}
	return s
}

// With returns the set with further dialects, which are asked before the others.
func (s *Set) With(own ...*Dialect) *Set {
	if len(own) == 0 {
		return s
	}
	return newSet(slices.Concat(own, s.All()))
}

// Given returns the set for files that are said to be written in a dialect of it,
// and that dialect in it.
func (s *Set) Given(d *Dialect) (*Set, *Dialect) {
	at := slices.Index(s.All(), d)
	if d == nil || !d.Own() || at < 0 {
		return s, d
	}
	all := slices.Clone(s.all)
	all[at] = d.Given()
	return newSet(all), all[at]
}

// Told returns the first dialect whose marks hold of v, nil for none.
func (s *Set) Told(v source.Value) *Dialect {
	if s == nil {
		return nil
	}
	for _, d := range s.own {
		if d.Told(v) {
			return d
		}
	}
	return nil
}

// Own lists the dialects that somebody has described.
func (s *Set) Own() []*Dialect {
	if s == nil {
		return nil
	}
	return s.own
}

// All lists the dialects, in the order in which detection tries them: of two
// that claim an element equally, the first has it.
func (s *Set) All() []*Dialect {
	if s == nil {
		s = builtin()
	}
	return s.all
}

// Plain returns the dialect in which messages are read that any could have written.
func (s *Set) Plain() *Dialect { return plain }

// Names lists the names of the dialects, in the order of All.
func (s *Set) Names() []string {
	var names []string
	for _, d := range s.All() {
		names = append(names, d.Name)
	}
	return names
}

// ByName returns the dialect of that name, or nil.
func (s *Set) ByName(name string) *Dialect {
	for _, d := range s.All() {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// table returns the table of the dialects' marks.
func (s *Set) table() *markTable {
	if s == nil {
		s = builtin()
	}
	return s.marks
}
