package dialect

import (
	"slices"
	"sync"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Set is the dialects that a file may be written in. A nil set is the
// built-in one.
type Set struct {
	all         []*Dialect
	userDefined []*Dialect // those of a user
	holders     []*Dialect // those with a Holder
	keywords    *keywordTable
	cacheMarks  []string                // the keys of marks for the prompt cache
	elements    func() *evidence.Aspect // what is looked at in an element
	requests    func() *evidence.Aspect // and in a request
	memory      *memory                 // nil in a set that several could ask at a time
}

// builtin makes the built-in set, which is never changed. A row in it that lacks what
// nothing works without is told here by its name.
var builtin = sync.OnceValue(func() *Set {
	all := All()
	for _, d := range all {
		if why := d.unusable(); why != "" {
			panic("dialect " + d.Name + ": " + why)
		}
	}
	return newSet(all)
})

// Builtin returns the set of the dialects of All.
func Builtin() *Set { return builtin() }

func newSet(all []*Dialect) *Set {
	s := &Set{all: all, keywords: newKeywordTable(all)}
	s.elements = sync.OnceValue(func() *evidence.Aspect { return elementsOf(all) })
	s.requests = sync.OnceValue(func() *evidence.Aspect { return requestsOf(all) })
	for _, d := range all {
		if d.UserDefined() {
			s.userDefined = append(s.userDefined, d)
		}
		if key := d.Members[transcript.MemberCacheMark].Key(); key != "" && !slices.Contains(s.cacheMarks, key) {
			s.cacheMarks = append(s.cacheMarks, key)
		}
		if d.Holder != nil {
			s.holders = append(s.holders, d)
		}
	}
	return s
}

// MarksCache reports whether a key is that of a mark for the prompt cache in one of the
// dialects.
func (s *Set) MarksCache(key source.Value) bool {
	if s == nil {
		s = builtin()
	}
	return slices.ContainsFunc(s.cacheMarks, key.Is)
}

// With returns the set with further dialects, which are asked before the others.
func (s *Set) With(further ...*Dialect) *Set {
	if len(further) == 0 {
		return s
	}
	return newSet(slices.Concat(further, s.All()))
}

// Forced returns the set for files that the user says are written in a dialect of it,
// and that dialect in it.
func (s *Set) Forced(d *Dialect) (*Set, *Dialect) {
	at := slices.Index(s.All(), d)
	if d == nil || !d.UserDefined() || at < 0 {
		return s, d
	}
	all := slices.Clone(s.all)
	all[at] = d.Forced()
	return newSet(all), all[at]
}

// ByMarks returns the first dialect whose marks hold of v, nil for none.
func (s *Set) ByMarks(v source.Value) *Dialect {
	if s == nil {
		return nil
	}
	for _, d := range s.userDefined {
		if d.HasMarks(v) {
			return d
		}
	}
	return nil
}

// UserDefined lists the dialects that a user has defined.
func (s *Set) UserDefined() []*Dialect {
	if s == nil {
		return nil
	}
	return s.userDefined
}

// All lists the dialects, in the order in which detection tries them: of two
// that claim an element equally, the first has it.
func (s *Set) All() []*Dialect {
	if s == nil {
		s = builtin()
	}
	return s.all
}

// Holders lists the dialects that have a Holder, in the order of All.
func (s *Set) Holders() []*Dialect {
	if s == nil {
		s = builtin()
	}
	return s.holders
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

// table returns the table of the dialects' keywords.
func (s *Set) table() *keywordTable {
	if s == nil {
		s = builtin()
	}
	return s.keywords
}
