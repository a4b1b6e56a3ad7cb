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
//	path             the value at the path exists and is not null
//	path=this|that   it is one of these; "*" matches any text at either end
//	path:string      it is of that kind: string, number, bool, object, array, or
//	                 any for any value including null
//	!path  path!=…   the condition without ! does not hold
//
// A path has the syntax of gjson, except that "|" separates alternatives. It is enough
// if one of several alternatives matches, or one of the values that a path with "#"
// leads to.
type Cond struct {
	text string
	alts []path
	is   []string
	kind kind
	not  bool
	tool bool // it asks for a field about tools
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

var kinds = map[string]kind{
	"any": anything, "string": aString, "number": aNumber, "bool": aBool, "object": anObject, "array": anArray,
}

// Parse parses a condition.
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
		return c, errors.New("expected a path: field names joined by dots")
	}
	for left, more := rest, true; more; {
		one := left
		at := outside(left, '|')
		if more = at >= 0; more {
			one, left = left[:at], left[at+1:]
		}
		p, err := parsePath(one)
		if err != nil {
			return c, fmt.Errorf("%q is not a path: %w", rest, err)
		}
		c.alts = append(c.alts, p)
	}
	return c, nil
}

// All returns the conditions of texts in the program. It panics if a text is invalid.
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

// Hold reports whether all conditions hold for a value.
func Hold(conds []Cond, v source.Value) bool {
	for i := range conds {
		if !conds[i].Holds(v) {
			return false
		}
	}
	return true
}

// UnmarshalText parses a condition.
func (c *Cond) UnmarshalText(text []byte) (err error) {
	*c, err = Parse(string(text))
	return err
}

// String returns the text of the condition.
func (c Cond) String() string { return c.text }

// Equal reports whether two conditions have the same text.
func (c Cond) Equal(other Cond) bool { return c.text == other.text }

// Holds reports whether the condition holds for a value.
func (c *Cond) Holds(v source.Value) bool {
	return c.holds(func(p *path) source.Value { return p.first(v) }, v)
}

// holds is Holds, where first returns the value of the first key of a path.
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

// any reports whether a value, or one of many, is as the condition requires.
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

// wants reports whether a value is as the condition requires.
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

// says reports whether a value is the string s, or another scalar with the text s. A "*"
// at either end of s matches any text in a string.
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
	key  string // the first key; "" if the path begins with anything else
	rest string // the part after the first key, for gjson
	// head is set if the path continues with the first element that is not null of the
	// array at lead, and then with tail.
	head       bool
	lead, tail string
	many       bool // it leads to an array of the values found
	slot       int  // the slot of the key in a table
}

// parsePath parses a path without alternatives. The empty path leads to the value itself.
func parsePath(text string) (path, error) {
	p := path{text: text}
	switch {
	case text == "", text == "@this":
		return p, nil
	case strings.HasPrefix(text, "/"):
		return p, errors.New("expected field names joined by dots")
	}
	names, err := segments(text)
	if err != nil {
		return p, err
	}
	for i, name := range names {
		// After an array index, "#" leads to one value: the length of the array at the
		// end of a path.
		last := i == len(names)-1
		p.many = p.many || !last && name == "#" || strings.HasPrefix(name, "#(") && strings.HasSuffix(name, "#")
		if n, err := strconv.Atoi(name); err == nil && n < 0 {
			names[i] = "@reverse." + strconv.Itoa(-n-1) // gjson counts from the start
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

// leadsToMany reports whether a name is a pattern or query, after which gjson may return
// an array.
func leadsToMany(name string) bool { return strings.ContainsAny(name, "#@*?[{!") }

// segments returns the names in a path.
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
			return nil, errors.New("a field name is empty")
		}
		names = append(names, name)
	}
	return names, nil
}

// outside returns the index of the first byte c of a text that is not in brackets or
// quotes and not escaped, or -1.
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

// unescaped removes the backslashes from a name.
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

// first returns the value of the first key of the path.
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

// follow returns the value at a path, or v itself for the empty path.
func follow(v source.Value, path string) source.Value {
	if path == "" {
		return v
	}
	return ask(v, path)
}

// ask calls gjson. It passes only objects and arrays, because gjson would search a string
// for its first bracket.
func ask(v source.Value, path string) source.Value {
	if k := v.Kind(); k != source.Object && k != source.Array {
		return source.Value{}
	}
	// For a value that is not in memory, read only the part that the path leads to.
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
	// gjson copies its result if it gets bytes, so pass a string without copying. The
	// bytes do not change until gjson returns.
	got := gjson.Get(unsafe.String(unsafe.SliceData(v.Raw()), len(v.Raw())), path)
	switch {
	case got.Raw == "":
		return source.Value{}
	case got.Index > 0:
		at := v.Span().Start + int64(got.Index)
		return v.Part(source.Span{Start: at, End: at + int64(len(got.Raw))})
	}
	return source.NewValue([]byte(got.Raw), v.Span().Start) // assembled from several values
}

// plainName reports whether a segment of a path is just a key.
func plainName(name string) bool { return !strings.ContainsAny(name, `#@[{!*?\|(`) }

// name returns the name by which reports show the path: the last one, or the one in its
// last query.
func (p *path) name() string {
	text := strings.TrimSuffix(p.text, ".0")
	return text[strings.LastIndexByte(text, '.')+1:]
}
