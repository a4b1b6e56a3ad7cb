package evidence

import (
	"errors"
	"fmt"
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
// A path has the syntax of gjson, except that "|" separates alternatives and that "0" is
// the first element of an array that is not null. It is enough if one of several
// alternatives matches, or one of the values that a path with "#" leads to.
//
// A condition is compiled on first use, because most are never used.
type Cond struct {
	Text string

	once sync.Once
	alts []path
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
	if at := outside(rest, '='); at >= 0 {
		c.is = strings.Split(rest[at+1:], "|")
		rest = rest[:at]
		if rest, not = strings.CutSuffix(rest, "!"); not {
			c.not = !c.not
		}
	} else if at := strings.LastIndexByte(rest, ':'); at >= 0 {
		if k := slices.Index(kinds[:], rest[at+1:]); k > 0 {
			c.kind, rest = kind(k), rest[:at]
		}
	}
	switch rest {
	case tools:
		c.tool = true
		return nil
	case "":
		return errors.New("expected a path: field names joined by dots")
	}
	for _, alt := range split(rest, '|') {
		p, err := parsePath(alt)
		if err != nil {
			return fmt.Errorf("%q is not a path: %w", rest, err)
		}
		c.alts, c.keys = append(c.alts, p), append(c.keys, p.key)
	}
	return nil
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
func (c *Cond) Holds(v source.Value) bool {
	c.compiled()
	if c.tool {
		return speaksOfTools(v) != c.not
	}
	for i := range c.alts {
		if p := &c.alts[i]; c.at(p, p.first(v)) {
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

// HoldsAt is Holds for a value whose fields have been looked up: firsts are the values of
// Keys.
func (c *Cond) HoldsAt(v source.Value, firsts []source.Value) bool {
	for i := range c.alts {
		at := v
		if c.alts[i].key != "" {
			at = firsts[i]
		}
		if c.at(&c.alts[i], at) {
			return !c.not
		}
	}
	return c.not
}

// held is HoldsAt for a condition of a table, which gives each key a slot.
func (c *Cond) held(v source.Value, slots []source.Value) bool {
	if c.tool {
		return speaksOfTools(v) != c.not
	}
	for i := range c.alts {
		p, at := &c.alts[i], v
		if p.key != "" {
			at = slots[p.slot]
		}
		if c.at(p, at) {
			return !c.not
		}
	}
	return c.not
}

// at reports whether a path leads from the value of its first key to one that is wanted.
func (c *Cond) at(p *path, first source.Value) bool {
	if len(p.steps) == 0 && p.rest == "" {
		return c.wants(first)
	}
	_, ok := p.follow(first, p.steps, c.wants)
	return ok
}

// wants reports whether a value is as the condition requires.
func (c *Cond) wants(v source.Value) bool {
	switch {
	case len(c.is) > 0:
		for _, s := range c.is {
			if says(v, s) {
				return true
			}
		}
		return false
	case c.kind >= aString:
		return v.Kind() == sourceKinds[c.kind]
	}
	return v.Exists() && (c.kind == anything || v.Kind() != source.Null)
}

// says reports whether a value is the string s, or another scalar with the text s. A "*"
// at either end of s matches any text in a string.
func says(v source.Value, s string) bool {
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
	p, got := &c.alts[0], source.Value{}
	for i := range c.alts {
		if found, ok := c.alts[i].follow(c.alts[i].first(v), c.alts[i].steps, c.wants); ok {
			p, got = &c.alts[i], found
			break
		}
	}
	if name == "" {
		name = p.name()
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
	var out []Keywords
	names := make([][]string, len(c.alts))
	texts := len(c.is) > 0 && !c.scalar() && !slices.ContainsFunc(c.is, func(s string) bool { return strings.Contains(s, "*") })
	for i := range c.alts {
		if c.alts[i].key == "" {
			return nil
		}
		exact := false
		names[i], exact = c.alts[i].keys()
		texts = texts && exact && len(names[i])+depth <= 2
	}
	for level := depth; level < 2; level++ {
		if !slices.ContainsFunc(names, func(n []string) bool { return len(n) <= level-depth }) {
			var m Keywords
			for i := range names {
				m = append(m, names[i][level-depth])
			}
			out = append(out, m)
		}
	}
	if texts {
		out = append(out, c.is)
	}
	return out
}

// scalar reports whether a text could also be a scalar other than a string.
func (c *Cond) scalar() bool {
	return slices.ContainsFunc(c.is, func(s string) bool {
		return s == "" || s == "true" || s == "false" || s == "null" || strings.IndexAny(s[:1], "-0123456789") == 0
	})
}
