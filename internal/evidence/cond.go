package evidence

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/source"
)

// A Cond is a condition on a value, written as a text:
//
//	path             what the path leads to is there, and not null
//	path=this|that   it says one of these; "*" stands for any text at either end
//	path:string      it is of that kind: string, number, bool, object, array, or
//	                 any for what is there, be it null
//	!path  path!=…   that is not so
//
// A path has the syntax of gjson, but for "|", which joins alternatives. Of several
// alternatives one is enough, and so is one of the values that a path leads to by
// "#".
type Cond struct {
	text string
	alts []path
	is   []string
	kind kind
	not  bool
	tool bool // it asks for what speaks of tools
}

// tools is the path of a condition that holds if a member speaks of tools that no
// condition of the table names.
const tools = "@tools"

// A kind is what a value has to be.
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

var kinds = map[string]kind{
	"any": anything, "string": aString, "number": aNumber, "bool": aBool, "object": anObject, "array": anArray,
}

// Parse reads a condition.
func Parse(text string) (Cond, error) {
	c := Cond{text: text}
	rest, not := strings.CutPrefix(text, "!")
	c.not = not
	if at := outside(rest, '='); at >= 0 {
		c.is = strings.Split(rest[at+1:], "|")
		rest = rest[:at]
		if rest, not = strings.CutSuffix(rest, "!"); not {
			c.not = !c.not
		}
	} else if at := strings.LastIndexByte(rest, ':'); at >= 0 {
		if k, known := kinds[rest[at+1:]]; known {
			c.kind, rest = k, rest[:at]
		}
	}
	if rest == tools {
		c.tool = true
		return c, nil
	}
	if rest == "" {
		return c, errors.New("want a path: the names of members, joined by dots")
	}
	for left, more := rest, true; more; {
		one := left
		at := outside(left, '|')
		if more = at >= 0; more {
			one, left = left[:at], left[at+1:]
		}
		p, err := parsePath(one)
		if err != nil {
			return c, fmt.Errorf("%q is no path: %w", rest, err)
		}
		c.alts = append(c.alts, p)
	}
	return c, nil
}

// All returns the conditions that texts in the program write.
func All(texts ...string) []Cond {
	out := make([]Cond, len(texts))
	for i, text := range texts {
		c, err := Parse(text)
		if err != nil {
			panic(err)
		}
		out[i] = c
	}
	return out
}

// Hold reports whether all conditions hold of a value.
func Hold(conds []Cond, v source.Value) bool {
	for i := range conds {
		if !conds[i].Holds(v) {
			return false
		}
	}
	return true
}

// UnmarshalText reads a condition as people write it.
func (c *Cond) UnmarshalText(text []byte) (err error) {
	*c, err = Parse(string(text))
	return err
}

// String writes a condition as people do.
func (c Cond) String() string { return c.text }

// Equal reports whether two conditions are written alike.
func (c Cond) Equal(other Cond) bool { return c.text == other.text }

// Holds reports whether the condition holds of a value.
func (c *Cond) Holds(v source.Value) bool {
	return c.holds(func(p *path) source.Value { return p.first(v) }, v)
}

// holds reports the same, given what the first name of a path leads to.
func (c *Cond) holds(first func(p *path) source.Value, of source.Value) bool {
	if c.tool {
		return speaksOfTools(of) != c.not
	}
	for i := range c.alts {
		p := &c.alts[i]
		if c.any(p.behind(first(p)), p.many) {
			return !c.not
		}
	}
	return c.not
}

// any reports whether a value is as the condition wants it, or one of many.
func (c *Cond) any(v source.Value, many bool) bool {
	if !many {
		return c.wants(v)
	}
	for _, e := range v.Elements() {
		if c.wants(e) {
			return true
		}
	}
	return false
}

// wants reports whether a value is as the condition wants it.
func (c *Cond) wants(v source.Value) bool {
	if len(c.is) > 0 {
		return slices.ContainsFunc(c.is, func(s string) bool { return says(v, s) })
	}
	switch c.kind {
	case anything:
		return v.Exists()
	case aString:
		return v.Kind() == source.String
	case aNumber:
		return v.Kind() == source.Number
	case aBool:
		return v.Kind() == source.Bool
	case anObject:
		return v.Kind() == source.Object
	case anArray:
		return v.Kind() == source.Array
	}
	return v.Exists() && v.Kind() != source.Null
}

// says reports whether a value is a string that says s, or another scalar that is
// written so. A string may have more where s has a "*" at an end.
func says(v source.Value, s string) bool {
	if v.Kind() != source.String {
		return v.Exists() && string(v.Raw()) == s
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

// A path is one alternative of a path.
type path struct {
	text string
	key  string // the first name; "" where the path begins with anything else
	rest string // what is behind it, for gjson
	// head is set where the rest goes on with the first element of the list to which
	// lead leads, which is the first that is not null, and then with tail.
	head       bool
	lead, tail string
	many       bool // it leads to a list of what it has found
	slot       int  // of the key in a table
}

// parsePath compiles a path without alternatives. The empty one leads to the value
// itself.
func parsePath(text string) (path, error) {
	p := path{text: text}
	switch {
	case text == "", text == "@this":
		return p, nil
	case strings.HasPrefix(text, "/"):
		return p, errors.New("want the names of members, joined by dots")
	}
	names, err := segments(text)
	if err != nil {
		return p, err
	}
	for i, name := range names {
		// Behind a place in a list "#" leads to one value, at the end of a path to the
		// number of them.
		last := i == len(names)-1
		p.many = p.many || !last && name == "#" || strings.HasPrefix(name, "#(") && strings.HasSuffix(name, "#")
		if n, err := strconv.Atoi(name); err == nil && n < 0 {
			names[i] = "@reverse." + strconv.Itoa(-n-1) // gjson counts from the beginning
		}
	}
	first := unescaped(names[0])
	if strings.ContainsAny(names[0][:1], "#@[{!") || len(first) == len(names[0]) && strings.ContainsAny(first, "*?") {
		p.rest = strings.Join(names, ".")
		return p, nil
	}
	p.key, names = first, names[1:]
	if i := slices.Index(names, "0"); i >= 0 && !slices.ContainsFunc(names[:i], leadsToMany) {
		p.head, p.lead, p.tail = true, strings.Join(names[:i], "."), strings.Join(names[i+1:], ".")
	}
	p.rest = strings.Join(names, ".")
	return p, nil
}

// leadsToMany reports whether a name is no plain one, behind which there may be a list
// that gjson makes.
func leadsToMany(name string) bool { return strings.ContainsAny(name, "#@*?[{!") }

// segments returns the names that a path consists of.
func segments(text string) (names []string, err error) {
	depth := strings.Count(text, "(") + strings.Count(text, "[") + strings.Count(text, "{")
	if depth != strings.Count(text, ")")+strings.Count(text, "]")+strings.Count(text, "}") {
		return nil, errors.New("a bracket is not closed")
	}
	for rest, more := text, true; more; {
		name := rest
		at := outside(rest, '.')
		if more = at >= 0; more {
			name, rest = rest[:at], rest[at+1:]
		}
		if name == "" {
			return nil, errors.New("there is no name between two dots")
		}
		names = append(names, name)
	}
	return names, nil
}

// outside returns where a text first has a byte that is not in brackets or quotes
// and not escaped, -1 for nowhere.
func outside(text string, c byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\':
			i++
		case b == '"' && depth > 0:
			quoted = !quoted
		case quoted:
		case b == '(' || b == '[' || b == '{':
			depth++
		case b == ')' || b == ']' || b == '}':
			depth--
		case b == c && depth == 0:
			return i
		}
	}
	return -1
}

// unescaped takes the backslashes out of a name.
func unescaped(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+1 < len(name) {
			i++
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// first returns what the first name of the path leads to.
func (p *path) first(v source.Value) source.Value {
	if p.key == "" {
		return v
	}
	if v.Kind() == source.Array {
		return ask(v, p.key)
	}
	return v.Get(p.key)
}

// behind follows the rest of a path.
func (p *path) behind(v source.Value) source.Value {
	if !p.head {
		return follow(v, p.rest)
	}
	if v = follow(v, p.lead); v.Kind() == source.Array {
		v = v.First()
	} else {
		v = ask(v, "0")
	}
	return follow(v, p.tail)
}

// follow returns what a path leads to, and the value itself for the empty one.
func follow(v source.Value, path string) source.Value {
	if path == "" {
		return v
	}
	return ask(v, path)
}

// ask asks gjson. Of a text it would look for the first bracket in it, so it is
// asked of objects and lists alone.
func ask(v source.Value, path string) source.Value {
	if k := v.Kind(); k != source.Object && k != source.Array {
		return source.Value{}
	}
	// Of what is not in memory it gets the part that the path leads to.
	for v.Outside() {
		name, rest, more := strings.Cut(path, ".")
		if v.Kind() == source.Array || !plainName(name) {
			if v = v.Head(MostElements); v.Outside() {
				v = v.Held()
			}
			break
		}
		if v = v.Get(name); !more {
			return v
		}
		path = rest
	}
	if k := v.Kind(); k != source.Object && k != source.Array {
		return source.Value{}
	}
	// Given bytes, gjson copies what it finds. What it is given here does not change
	// before it has answered.
	got := gjson.Get(unsafe.String(unsafe.SliceData(v.Raw()), len(v.Raw())), path)
	switch {
	case got.Raw == "":
		return source.Value{}
	case got.Index > 0:
		at := v.Span().Start + int64(got.Index)
		return v.Part(source.Span{Start: at, End: at + int64(len(got.Raw))})
	}
	return source.NewValue([]byte(got.Raw), v.Span().Start) // made of several
}

// plainName reports whether a segment of a path is the name of a member and nothing
// else.
func plainName(name string) bool { return !strings.ContainsAny(name, `#@[{!*?\|(`) }

// name returns the name by which the path is shown: its last, or that in its last
// query.
func (p *path) name() string {
	text := strings.TrimSuffix(p.text, ".0")
	return text[strings.LastIndexByte(text, '.')+1:]
}
