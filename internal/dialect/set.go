package dialect

import (
	"slices"
	"sync"
)

// A Set is the dialects that a file may be written in. A nil set is the
// built-in one.
type Set struct {
	all   []*Dialect
	marks *markTable
}

// builtin makes the built-in set, which is never changed.
var builtin = sync.OnceValue(func() *Set { return newSet(All()) })

// Builtin returns the set of the dialects of All.
func Builtin() *Set { return builtin() }

func newSet(all []*Dialect) *Set { return &Set{all, newMarkTable(all)} }

// With returns the set with further dialects, which are asked before the others.
func (s *Set) With(own ...*Dialect) *Set {
	if len(own) == 0 {
		return s
	}
	return newSet(slices.Concat(own, s.All()))
}

// All lists the dialects, in the order in which detection tries them: of two
// that claim an element equally, the first has it.
func (s *Set) All() []*Dialect {
	if s == nil {
		s = builtin()
	}
	return s.all
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
