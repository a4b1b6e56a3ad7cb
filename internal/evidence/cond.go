package evidence

import (
	"slices"
	"strings"
	"sync"

	"github.com/toolguard/toolguard/internal/source"
)

// A Cond is a condition on a value, written as a text:
//
//	path             the value at the path exists and is not null
//	path=this|that   it is one of these; "*" matches any text at either end
//	path:string      it is of that kind: string, number, bool, object, array, or
//	                 any for any value including null
//	!path  path!=…   the condition without ! does not hold
//
// It is enough if one of several alternatives of the path matches, or one of the values to
// which it leads.
//
// A condition is compiled on first use, because most are never used.
type Cond struct {
	Text string

	once sync.Once
	alts []lookup
	keys []string // the first keys of alts
	is   []string
	kind kind
	not  bool
	tool bool // it requires a field about tools
}

// tools is the path of a condition that holds if a field that is in no other condition of
// the table is about tools.
const tools = "@tools"

// A kind is the required kind of a value.
type kind uint8

const (
	there kind = iota // not null
	anything
	aString
	aNumber
	aBool
	anObject
	anArray
)

var kinds = [...]string{anything: "any", aString: "string", aNumber: "number", aBool: "bool", anObject: "object", anArray: "array"}

// sourceKinds are the kinds of values that the conditions on kinds accept.
var sourceKinds = [...]source.Kind{aString: source.String, aNumber: source.Number, aBool: source.Bool, anObject: source.Object, anArray: source.Array}

// UnmarshalText sets the condition to the one that a text describes.
func (c *Cond) UnmarshalText(text []byte) (err error) {
	c.Text = string(text)
	c.once.Do(func() { err = c.parse() })
	return err
}

// parse compiles the text.
func (c *Cond) parse() error {
	rest, not := strings.CutPrefix(c.Text, "!")
	c.not = not
	if path, is, ok := cut(rest, '='); ok {
		c.is = strings.Split(is, "|")
		if rest, not = strings.CutSuffix(path, "!"); not {
			c.not = !c.not
		}
	} else if at := strings.LastIndexByte(rest, ':'); at >= 0 {
		if k := slices.Index(kinds[:], rest[at+1:]); k > 0 {
			c.kind, rest = kind(k), rest[:at]
		}
	}
	if rest == tools {
		c.tool = true
		return nil
	}
	if rest == "" {
		return errNoPath
	}
	alts, err := Path(rest).lookups()
	for i := range alts {
		c.keys = append(c.keys, alts[i].key)
	}
	c.alts = alts
	return err
}

// compiled returns the condition with its text compiled. It panics if that text, which is
// one of the program, is invalid.
func (c *Cond) compiled() *Cond {
	c.once.Do(func() {
		if err := c.parse(); err != nil {
			panic("condition " + c.Text + ": " + err.Error())
		}
	})
	return c
}

// All returns the conditions of texts in the program.
func All(texts ...string) []*Cond {
	out := make([]*Cond, len(texts))
	for i, text := range texts {
		out[i] = &Cond{Text: text}
	}
	return out
}

// Hold reports whether all conditions hold for a value.
func Hold(conds []*Cond, v source.Value) bool {
	return !slices.ContainsFunc(conds, func(c *Cond) bool { return !c.Holds(v) })
}

// AnyHolds reports whether one of the conditions holds for a value.
func AnyHolds(conds []*Cond, v source.Value) bool {
	return slices.ContainsFunc(conds, func(c *Cond) bool { return c.Holds(v) })
}

// String returns the text of the condition.
func (c *Cond) String() string { return c.Text }

// Equal reports whether two conditions have the same text.
func (c *Cond) Equal(other *Cond) bool { return c.Text == other.Text }

// Holds reports whether the condition holds for a value.
func (c *Cond) Holds(v source.Value) bool { return c.compiled().held(v, nil) }

// HoldsAt is Holds for a value whose fields have been looked up: firsts are the values of
// Keys.
func (c *Cond) HoldsAt(v source.Value, firsts []source.Value) bool {
	return c.compiled().held(v, firsts)
}

// held is Holds for a value of which slots are the values of the first keys, nil if they have
// not been looked up.
func (c *Cond) held(v source.Value, slots []source.Value) bool {
	if c.tool {
		return speaksOfTools(v) != c.not
	}
	for i := range c.alts {
		l := &c.alts[i]
		is := len(l.rest) == 0 && c.wants(l.first(v, slots)) // most paths are a key
		if len(l.rest) > 0 {
			_, is = l.in(v, slots, c.wants)
		}
		if is {
			return !c.not
		}
	}
	return c.not
}

// Keys returns the first keys of the alternatives of the path, "" for those that begin with
// anything else. The caller must not change them.
func (c *Cond) Keys() []string { return c.compiled().keys }

// AnyKey returns keys of which each value for which all conditions hold has one. It returns none
// if no condition requires a key.
func AnyKey(conds []*Cond) []string {
	for _, c := range conds {
		if keys := c.Keys(); !c.not && !slices.Contains(keys, "") {
			return keys
		}
	}
	return nil
}

// wants reports whether a value is as the condition requires.
func (c *Cond) wants(v source.Value) bool {
	switch {
	case len(c.is) > 0:
		for _, s := range c.is {
			if Says(v, s) {
				return true
			}
		}
		return false
	case c.kind >= aString:
		return v.Kind() == sourceKinds[c.kind]
	}
	return v.Exists() && (c.kind == anything || v.Kind() != source.Null)
}

// Says reports whether a value is the string s, or another scalar with the text s. A "*"
// at either end of s matches any text in a string.
func Says(v source.Value, s string) bool {
	if v.Kind() != source.String { // reading a long one could take much memory
		return v.Exists() && v.Span().Len() == int64(len(s)) && string(v.Raw()) == s
	}
	begin, after := strings.CutSuffix(s, "*")
	end, before := strings.CutPrefix(begin, "*")
	switch {
	case before && after:
		return strings.Contains(string(v.Text()), end)
	case after:
		return strings.HasPrefix(string(v.Text()), begin)
	case before:
		return strings.HasSuffix(string(v.Text()), end)
	}
	return v.Is(s)
}

// shown describes how a condition holds for a value. If name is not empty, it is used for
// the field.
func (c *Cond) shown(v source.Value, name string) string {
	by, got := &c.alts[0], source.Value{}
	for i := range c.alts {
		if found, ok := c.alts[i].in(v, nil, c.wants); ok {
			by, got = &c.alts[i], found
			break
		}
	}
	if name == "" {
		name = by.name()
	}
	if got.Kind() == source.String && (len(c.is) > 0 || c.kind == aString) {
		return name + " " + string(got.Raw())
	}
	return name
}

// keywords returns the keys and strings that occur in each value for which the condition
// holds or, if not is set, does not hold. The value is at the given depth: 0 for the value
// itself, 1 for an element of an array in it. Deeper values are ignored.
func (c *Cond) keywords(depth int, not bool) []Keywords {
	if c.not != not || c.tool {
		return nil
	}
	out := keysOf(c.alts, depth)
	texts := len(c.is) > 0 && !c.scalar() && !slices.ContainsFunc(c.is, func(s string) bool { return strings.Contains(s, "*") })
	for i := range c.alts {
		keys, exact := c.alts[i].keys()
		texts = texts && exact && len(keys)+depth <= 2
	}
	if texts {
		out = append(out, c.is)
	}
	return out
}

// keysOf returns the keys of which one is in each value to which one of the alternatives leads, for
// each level of objects from the given depth on.
func keysOf(alts []lookup, depth int) (out []Keywords) {
	for level := range 2 - depth {
		var of Keywords
		for i := range alts {
			if keys, _ := alts[i].keys(); level < len(keys) {
				of = append(of, keys[level])
			}
		}
		if len(of) == len(alts) {
			out = append(out, of)
		}
	}
	return out
}

// scalar reports whether a text could also be a scalar other than a string.
func (c *Cond) scalar() bool {
	return slices.ContainsFunc(c.is, func(s string) bool {
		return s == "" || s == "true" || s == "false" || s == "null" || strings.IndexAny(s[:1], "-0123456789") == 0
	})
}
