package dialect

import (
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Set holds the dialects that a file may be written in. A nil set is the built-in
// one.
type Set struct {
	all         []*Dialect
	userDefined []*Dialect // from the config file
	known       *Dialect   // the user-defined dialect in which files are known to be written, or nil
	having      [traits][]*Dialect
	typeKeys    map[string]bool // the first keys of the types of records of logs
	holders     []holder
	holderKeys  map[string]HolderKeys
	holderBits  int
	keyless     bool // a request is recognized without any key
	keywords    *keywordTable
	cacheMarks  []string                // keys of prompt cache marks
	elements    func() *evidence.Aspect // the parts of an element that any dialect looks at
	requests    func() *evidence.Aspect // the same for a request
	memory      *memory                 // nil in a set that goroutines share
	memories    *sync.Pool              // of memories that were released
}

// builtin returns the built-in set, which never changes. It panics if a row lacks a
// field that every dialect needs.
var builtin = sync.OnceValue(func() *Set {
	all := All()
	for _, d := range all {
		if why := d.unusable(); why != "" {
			panic("dialect " + d.Name + ": " + why)
		}
	}
	return newSet(all, nil)
})

// Builtin returns the set of the dialects of All.
func Builtin() *Set { return builtin() }

// or returns the set, or the built-in one for nil.
func (s *Set) or() *Set {
	if s == nil {
		return builtin()
	}
	return s
}

func newSet(all []*Dialect, known *Dialect) *Set {
	s := &Set{
		all: all, memories: &sync.Pool{New: func() any { return &memory{} }}, holderKeys: map[string]HolderKeys{}, typeKeys: map[string]bool{}, known: known, keywords: newKeywordTable(all, known),
	}
	s.elements = sync.OnceValue(func() *evidence.Aspect { return elementsOf(all) })
	s.requests = sync.OnceValue(func() *evidence.Aspect { return requestsOf(all) })
	for _, d := range all {
		if d.UserDefined() {
			s.userDefined = append(s.userDefined, d)
		}
		if key := d.Members[transcript.MemberCacheMark].Key(); key != "" && !slices.Contains(s.cacheMarks, key) {
			s.cacheMarks = append(s.cacheMarks, key)
		}
		for t, has := range traitsOf {
			if has(d) {
				s.having[t] = append(s.having[t], d)
			}
		}
		for _, conds := range d.Request {
			keys := evidence.AnyKey(conds)
			s.keyless = s.keyless || len(keys) == 0
			for _, key := range keys {
				s.holderKeys[key] |= requestKey
			}
		}
		if d.Holder != nil {
			s.addHolder(d)
		}
		if d.Log != nil {
			for alt := range d.Log.Type.Alternatives() {
				key, _, _ := strings.Cut(string(alt), ".")
				s.typeKeys[key] = true
			}
		}
	}
	return s
}

// MarksCache reports whether key is a prompt cache mark in one of the dialects.
func (s *Set) MarksCache(key source.Value) bool {
	return slices.ContainsFunc(s.or().cacheMarks, key.Is)
}

// With returns the set with further dialects, which are tried before the others. It sets
// their Evidence.
func (s *Set) With(further ...*Dialect) *Set {
	if len(further) == 0 {
		return s
	}
	for _, d := range further {
		d.recognize()
	}
	return newSet(slices.Concat(further, s.All()), nil)
}

// Knowing returns the set for files that are known to be written in d, one of the dialects. If
// d is user-defined, elements need not have its marks.
func (s *Set) Knowing(d *Dialect) *Set {
	if d == nil || !d.UserDefined() || !slices.Contains(s.All(), d) {
		return s
	}
	return newSet(s.all, d)
}

// Knows reports whether files are known to be written in d, which is user-defined.
func (s *Set) Knows(d *Dialect) bool { return s != nil && s.known == d }

// Claim returns how strongly v looks like an element of d, a dialect of the set, and the sign
// that decided it.
func (s *Set) Claim(d *Dialect, v source.Value) (evidence.Weight, evidence.Sign) {
	return d.Evidence.Weigh(v, s.Knows(d))
}

// ByMarks returns the first dialect whose marks hold of v, or nil.
func (s *Set) ByMarks(v source.Value) *Dialect {
	for _, d := range s.or().userDefined {
		if d.HasMarks(v) {
			return d
		}
	}
	return nil
}

// UserDefined lists the dialects from the config file.
func (s *Set) UserDefined() []*Dialect {
	return s.or().userDefined
}

// All lists the dialects in the order in which detection tries them. If two claim
// an element equally, the first wins.
func (s *Set) All() []*Dialect {
	return s.or().all
}

// A Trait is what few dialects have and detection asks of many values.
type Trait int

// The traits.
const (
	Skips    Trait = iota // bookkeeping records; the drivers are Skippers
	Logs                  // a Log
	Silences              // records of a folding log that are no messages
	Patches               // a Patch
	Prompts               // requests whose only message is a text
	Begins                // files that have no messages yet
	Nests                 // elements of lists that hold several messages
	traits
)

var traitsOf = [traits]func(*Dialect) bool{
	Skips:    func(d *Dialect) bool { sk, ok := d.Driver.(Skipper); return ok && sk.skipsAny() },
	Logs:     func(d *Dialect) bool { return d.Log != nil },
	Silences: func(d *Dialect) bool { return d.Fold != nil && d.Fold.Effect != nil },
	Patches:  func(d *Dialect) bool { return d.Patch != nil },
	Prompts:  func(d *Dialect) bool { return len(d.Prompt) > 0 },
	Begins:   func(d *Dialect) bool { return len(d.NewSession) > 0 },
	Nests:    func(d *Dialect) bool { return len(d.MessagePaths) > 0 },
}

// MayRecord reports whether a key begins a path to the type of a record in one of the logs. Each
// record has such a key.
func (s *Set) MayRecord(key []byte) bool {
	return s.or().typeKeys[string(key)]
}

// Having lists the dialects with a trait, in the order of All.
func (s *Set) Having(t Trait) []*Dialect {
	return s.or().having[t]
}

// First returns the first dialect with a trait for which is holds, or nil.
func (s *Set) First(t Trait, is func(*Dialect) bool) *Dialect {
	for _, d := range s.Having(t) {
		if is(d) {
			return d
		}
	}
	return nil
}

// HolderKeys is a set of keys that identify objects which hold messages. It has a bit for each
// key of each Holder, and one for all keys that requests have.
type HolderKeys uint64

// requestKey is the bit of the keys of requests.
const requestKey = HolderKeys(1) << 63

// MayRequest reports whether RequestOf may recognize an object with these keys.
func (s *Set) MayRequest(keys HolderKeys) bool {
	s = s.or()
	return s.keyless || keys&requestKey != 0
}

// HolderKey returns the set of a key. It is empty for most keys.
func (s *Set) HolderKey(key []byte) HolderKeys {
	return s.or().holderKeys[string(key)]
}

// HolderOf returns the only dialect that holds messages in an object with the given keys, or nil.
// The object has all keys of the holder, and more than half of them are not null.
func (s *Set) HolderOf(filled, named HolderKeys) *Dialect {
	all := s.or().holders
	for i := range all {
		h := &all[i]
		if named&h.keys == h.keys && 2*bits.OnesCount64(uint64(filled&h.keys)) > bits.OnesCount64(uint64(h.keys)) {
			return h.dialect
		}
	}
	return nil
}

// A holder is a dialect with a Holder, and the keys of that.
type holder struct {
	dialect *Dialect
	keys    HolderKeys
}

// addHolder adds a dialect with a Holder. Those that have no bits left are never found.
func (s *Set) addHolder(d *Dialect) {
	h := holder{dialect: d}
	for _, key := range d.Holder.Members {
		bit := HolderKeys(1) << s.holderBits
		if bit >= requestKey {
			return
		}
		s.holderBits++
		s.holderKeys[key] |= bit
		h.keys |= bit
	}
	s.holders = append(s.holders, h)
}

// Plain returns the dialect for messages that fit several dialects.
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
