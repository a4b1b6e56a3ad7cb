package evidence

import (
	"errors"
	"strconv"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/source"
)

// A path is one alternative of a path, compiled to steps. Only what follows them, from the
// first pattern or query on, is evaluated by gjson.
type path struct {
	text  string
	key   string // the first key, of which the value is looked up for all conditions; "" if the path begins with anything else
	slot  int    // the slot of the key in a table
	steps []step // after the key
	rest  string // for gjson, after the steps; "" for none
	many  bool   // rest leads to an array of the values found
}

// A step leads from a value to a value in it.
type step struct {
	kind stepKind
	key  string // of a field. An object can have a field that is named as an index, or "#"
	n    int    // of an element, from the end if it is negative
}

type stepKind uint8

const (
	toField   stepKind = iota
	toElement          // by index; 0 is the first one that is not null
	toEach             // all elements, one after another
	toCount            // the number of elements
	toSize             // the number of fields of an object, or of elements of an array
	toAny              // the first field in which the rest of the path leads to a value
)

// parsePath parses a path without alternatives. The empty path leads to the value itself.
func parsePath(text string) (path, error) {
	p := path{text: text}
	if strings.HasPrefix(text, "/") {
		return p, errors.New("expected field names joined by dots")
	}
	if text == "" {
		return p, nil
	}
	if plainKey(text) { // what most paths are
		p.key = text
		return p, nil
	}
	names, err := segments(text)
	if err != nil {
		return p, err
	}
	for i := 0; i < len(names); i++ {
		s, last := step{key: names[i]}, i == len(names)-1
		n, err := strconv.Atoi(names[i])
		switch {
		case names[i] == "@this":
			continue
		case names[i] == "#" && last:
			s.kind = toCount
		case names[i] == "#":
			s.kind = toEach
		case names[i] == "*":
			s.kind = toAny
		case names[i] == "@keys" && i == len(names)-2 && names[i+1] == "#":
			s.kind = toSize
			i++
		case special(names[i]):
			p.rest = strings.Join(names[i:], ".")
			p.many = leadsToMany(names[i:])
			return p, nil
		case err == nil:
			if s.kind, s.n = toElement, n; n < 0 {
				s.key = strconv.Itoa(-n - 1)
			}
		default:
			if s.key = unescaped(s.key); i == 0 {
				p.key = s.key
				continue
			}
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

// plainKey reports whether a path is a single name of letters.
func plainKey(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; c != '_'|0x20 && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// special reports whether a name is a pattern, a query or another construct of gjson.
func special(name string) bool {
	return strings.ContainsAny(name[:1], "#@[{!") || strings.IndexByte(name, '\\') < 0 && strings.ContainsAny(name, "*?")
}

// leadsToMany reports whether gjson returns an array of values for the names of a path.
// After an index, "#" at the end is the length of an array.
func leadsToMany(names []string) bool {
	for i, name := range names {
		if i < len(names)-1 && name == "#" || strings.HasPrefix(name, "#(") && strings.HasSuffix(name, "#") {
			return true
		}
	}
	return false
}

// segments returns the names in a path.
func segments(text string) (names []string, err error) {
	depth := strings.Count(text, "(") + strings.Count(text, "[") + strings.Count(text, "{")
	if depth != strings.Count(text, ")")+strings.Count(text, "]")+strings.Count(text, "}") {
		return nil, errors.New("a bracket is not closed")
	}
	for _, name := range split(text, '.') {
		if name == "" {
			return nil, errors.New("a field name is empty")
		}
		names = append(names, name)
	}
	return names, nil
}

// split splits a text at each byte c that is not in brackets or quotes and not escaped.
func split(text string, c byte) (parts []string) {
	for at := outside(text, c); at >= 0; at = outside(text, c) {
		parts, text = append(parts, text[:at]), text[at+1:]
	}
	return append(parts, text)
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
	return v.Get(p.key)
}

// follow follows the remaining steps from a value. It returns the first value that is
// wanted, and whether there is one.
func (p *path) follow(v source.Value, steps []step, wanted func(source.Value) bool) (source.Value, bool) {
	for i := range steps {
		s := &steps[i]
		switch object := v.Kind() == source.Object; {
		case s.kind == toSize:
			v = count(v)
		case s.kind == toAny:
			for _, val := range v.Members() {
				exists := func(source.Value) bool { return true }
				if got, ok := p.follow(val, steps[i+1:], exists); ok && got.Exists() {
					return got, wanted(got)
				}
			}
			v = source.Value{}
		case s.kind == toField || object:
			v = v.Get(s.key)
		case s.kind == toElement && s.n == 0: // the first element that is not null
			v = v.First()
		case s.kind == toElement:
			v = v.At(s.n)
		case s.kind == toCount:
			v = count(v)
		default:
			n := 0
			for e := range v.Each() {
				if n++; n > MostElements {
					break
				}
				if got, ok := p.follow(e, steps[i+1:], wanted); ok {
					return got, true
				}
			}
			return source.Value{}, false
		}
		if !v.Exists() {
			return v, wanted(v)
		}
	}
	if p.rest != "" {
		v = ask(v, p.rest)
	}
	if !p.many {
		return v, wanted(v)
	}
	for _, e := range v.Elements() {
		if wanted(e) {
			return e, true
		}
	}
	return source.Value{}, false
}

// count returns the number of elements of an array, or of fields of an object.
func count(v source.Value) source.Value {
	if k := v.Kind(); k != source.Array && k != source.Object {
		return source.Value{}
	}
	n := 0
	for range v.Members() {
		n++
	}
	for range v.Elements() {
		n++
	}
	return source.NewValue(strconv.AppendInt(nil, int64(n), 10), v.Span().Start)
}

// ask calls gjson. It passes only objects and arrays, because gjson would search a string
// for its first bracket.
func ask(v source.Value, path string) source.Value {
	if v = v.Head(MostElements); v.Outside() {
		v = v.Held() // it is not in memory
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

// name returns the name by which reports show the path: the last one, or the one in its
// last query.
func (p *path) name() string {
	text := strings.TrimSuffix(p.text, ".0")
	return text[strings.LastIndexByte(text, '.')+1:]
}

// keys returns the keys of the objects on the path, and false if not all are known. Elements
// of an array are as deep as its fields would be.
func (p *path) keys() (keys []string, exact bool) {
	keys, exact = []string{p.key}, p.rest == ""
	for i := range p.steps {
		switch s := &p.steps[i]; s.kind {
		case toField:
			keys = append(keys, s.key)
		case toAny, toSize:
			return keys, false
		}
	}
	return keys, exact
}

// observe adds what a condition that wants a value at the end of the steps examines.
func (p *path) observe(a *Aspect, steps []step, c *Cond) {
	for i := range steps {
		s := &steps[i]
		switch s.kind {
		case toAny:
			a.keys = true
			a = a.other()
			continue
		case toSize:
			a.keys, a.places = true, true
			a.item()
			return
		case toElement, toEach:
			a.places = a.places || s.n != 0
			p.observe(a.item(), steps[i+1:], c)
		case toCount:
			a.item()
			a.places = true
		}
		a = a.member(s.key)
	}
	a.opaque = a.opaque || p.rest != ""
	for _, text := range c.is {
		a.says = true
		a.opaque = a.opaque || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	}
}
