package evidence

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A Path leads from a value to values in it. It consists of names joined by "." and of
// alternatives joined by "|". The empty path leads to the value itself.
//
//	name     the field with that name. In a list, the element with that index, from the
//	         end if it is negative; 0 is the first element that is not null
//	#        each element of a list
//	#(cond)  each element of a list for which a condition holds; #(key=="value")# is read too
//	*        each field of an object
//	@keys.#  the number of fields
//	@this    the value itself
//
// A backslash escapes the character after it.
type Path string

// A step leads from a value to a value in it.
type step struct {
	kind stepKind
	key  string // of a field. An object can have a field that is named as an index, or "#"
	n    int    // of an element, from the end if it is negative
	only *Cond  // which elements; nil for all
}

type stepKind uint8

const (
	toField   stepKind = iota
	toElement          // by index; 0 is the first one that is not null
	toEach             // all elements, one after another
	toAny              // all fields, one after another
	toSize             // the number of fields of an object, or of elements of an array
)

// Steps are a path without alternatives, compiled.
type Steps []step

// Begin compiles a path without alternatives, from its first key on.
func (p Path) Begin() (key string, rest Steps) {
	if steps, err := p.steps(nil); err == nil && len(steps) > 0 {
		return steps[0].key, steps[1:]
	}
	return "", nil
}

// In returns the value to which the steps lead: the first one that is not null.
func (s Steps) In(v source.Value) source.Value {
	v, _ = s.follow(v, source.Value.IsSet)
	return v
}

var errNoPath = errors.New("expected a path: field names joined by dots")

// Valid returns an error that says what is wrong with a path.
func (p Path) Valid() error {
	if p == "" {
		return errNoPath
	}
	_, err := p.lookups()
	return err
}

// steps appends the steps of a path without alternatives to a list, which may be on the stack.
func (p Path) steps(to Steps) (Steps, error) {
	if strings.HasPrefix(string(p), "/") {
		return nil, errors.New("expected field names joined by dots")
	}
	for rest, more := string(p), p != ""; more; {
		var name string
		name, rest, more = cut(rest, '.')
		cond, only := strings.CutPrefix(name, "#(")
		s := step{key: name}
		switch n, isNumber := index(name); {
		case name == "":
			return nil, errors.New("a field name is empty")
		case name == "@this":
			continue
		case name == "@keys" && rest == "#":
			s.kind, more = toSize, false
		case name == "#":
			s.kind = toEach
		case name == "*":
			s.kind = toAny
		case only && !strings.HasSuffix(strings.TrimSuffix(cond, "#"), ")"):
			return nil, errors.New("a bracket is not closed")
		case only:
			s.kind, s.only = toEach, &Cond{Text: inBrackets(cond)}
		case isNumber:
			s.kind, s.n = toElement, n
		default:
			s.key = unescaped(name)
		}
		to = append(to, s)
	}
	return to, nil
}

// inBrackets returns the condition of a step, without the bracket at its end. A query of gjson,
// #(key=="value")#, is the condition key=value.
func inBrackets(text string) string {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "#"), ")")
	if key, value, query := strings.Cut(text, `==`); query {
		return key + "=" + strings.Trim(value, `"`)
	}
	return text
}

// index returns the index that a name is.
func index(name string) (n int, is bool) {
	if name == "" || name[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(name)
	return n, err == nil
}

// plainKey reports whether a path is a single name of letters, as most paths are.
func plainKey(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; c != '_'|0x20 && (c < 'a' || c > 'z') {
			return false
		}
	}
	return text != ""
}

// cut cuts a text around the first byte c that is not in brackets behind "#" and not escaped.
func cut(text string, c byte) (before, after string, found bool) {
	at := strings.IndexByte(text, c)
	switch {
	case at < 0:
		return text, "", false
	case strings.IndexByte(text[:at], '(') < 0 && strings.IndexByte(text[:at], '\\') < 0: // as in most paths
		return text[:at], text[at+1:], true
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\':
			i++
		case b == '(' && (depth > 0 || i > 0 && text[i-1] == '#'):
			depth++
		case b == ')' && depth > 0:
			depth--
		case b == c && depth == 0:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// unescaped removes the backslashes from a name.
func unescaped(name string) string {
	if strings.IndexByte(name, '\\') < 0 {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+1 < len(name) {
			i++
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// In returns the value at the end of the path: that of the first alternative that is not
// null, else the first that is null, else None.
func (p Path) In(v source.Value) source.Value {
	var null source.Value
	var stack [4]step
	for rest, more := string(p), true; more; {
		var alt string
		alt, rest, more = cut(rest, '|')
		var got source.Value
		if plainKey(alt) {
			got = v.Get(alt)
		} else {
			steps, _ := Path(alt).steps(stack[:0])
			got = steps.In(v)
		}
		if got.IsSet() {
			return got
		}
		if !null.Exists() {
			null = got
		}
	}
	return null
}

// Leads reports whether p is not empty and leads to a value other than null.
func (p Path) Leads(v source.Value) bool { return p != "" && p.In(v).IsSet() }

// Alternatives yields the alternatives of the path, each as a path.
func (p Path) Alternatives() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for rest, more := string(p), true; more; {
			var alt string
			if alt, rest, more = cut(rest, '|'); !yield(Path(alt)) {
				return
			}
		}
	}
}

// Nth returns the alternative with index n, or the last one if there are fewer.
func (p Path) Nth(n int) Path {
	var last Path
	for alt := range p.Alternatives() {
		if last = alt; n == 0 {
			break
		}
		n--
	}
	return last
}

// Key returns the last key of the first alternative.
func (p Path) Key() string {
	first := string(p.Nth(0))
	return first[strings.LastIndexByte(first, '.')+1:]
}

// Parent returns the path to the object that holds the last key of the first
// alternative, or "" for the value itself.
func (p Path) Parent() Path {
	first := p.Nth(0)
	return first[:max(0, strings.LastIndexByte(string(first), '.'))]
}

// Below returns the path for one that starts at the value to which p leads.
func (p Path) Below(path Path) Path {
	var out []string
	for outer := range p.Alternatives() {
		for inner := range path.Alternatives() {
			out = append(out, strings.Trim(string(outer+"."+inner), "."))
		}
	}
	return Path(strings.Join(out, "|"))
}

// Begins reports whether an alternative of the path begins with key.
func (p Path) Begins(key source.Value) bool {
	for alt := range p.Alternatives() {
		if head, _, _ := cut(string(alt), '.'); key.Is(unescaped(head)) {
			return true
		}
	}
	return false
}

// Writable reports whether a value can be set at the end of the path: it consists
// of keys, without indices and escapes.
func (p Path) Writable() bool {
	steps, err := p.steps(nil)
	for i := range steps {
		if steps[i].kind != toField {
			return false
		}
	}
	return err == nil && len(steps) > 0 && !strings.ContainsAny(string(p), `|\`)
}

// follow follows the steps from a value. It returns the first value that is wanted, and
// whether there is one.
func (s Steps) follow(v source.Value, wanted func(source.Value) bool) (source.Value, bool) {
	for i := range s {
		at := &s[i]
		switch object := v.Kind() == source.Object; {
		case at.kind == toField || object && at.kind < toAny:
			v = v.Get(at.key)
		case at.kind == toElement && at.n == 0: // the first element that is not null
			v = v.First()
		case at.kind == toElement:
			v = v.At(at.n)
		case at.kind == toSize:
			v = count(v)
		case at.kind == toAny:
			for _, val := range v.Members() {
				if got, ok := s[i+1:].follow(val, wanted); ok {
					return got, true
				}
			}
			return source.Value{}, false
		default:
			n := 0
			for e := range v.Each() {
				if n++; n > MostElements {
					break
				}
				if at.only != nil && !at.only.Holds(e) {
					continue
				}
				if got, ok := s[i+1:].follow(e, wanted); ok {
					return got, true
				}
			}
			return source.Value{}, false
		}
		if !v.Exists() {
			return v, wanted(v)
		}
	}
	return v, wanted(v)
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

// A lookup is one alternative of a path, compiled for objects of which certain keys are looked up once.
type lookup struct {
	text Path
	key  string // the first key; "" if the path begins with anything else
	slot int    // of the key in a table; otherwise the number of the alternative
	rest Steps  // after the key
}

// lookups compiles the alternatives of a path.
func (p Path) lookups() (all []lookup, err error) {
	for alt := range p.Alternatives() {
		steps, err := alt.steps(nil)
		for i := 0; i < len(steps) && err == nil; i++ {
			if only := steps[i].only; only != nil {
				err = only.UnmarshalText([]byte(only.Text))
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%q is not a path: %w", p, err)
		}
		l := lookup{text: alt, slot: len(all), rest: steps}
		if len(steps) > 0 && steps[0].kind == toField {
			l.key, l.rest = steps[0].key, steps[1:]
		}
		all = append(all, l)
	}
	return all, nil
}

// first returns the value of the first key in v. slots are the values of keys in v, nil if they
// have not been looked up.
func (l *lookup) first(v source.Value, slots []source.Value) source.Value {
	switch {
	case l.key == "":
		return v
	case slots == nil:
		return v.Get(l.key)
	}
	return slots[l.slot]
}

// in returns the first value in v that is wanted, and whether there is one.
func (l *lookup) in(v source.Value, slots []source.Value, wanted func(source.Value) bool) (source.Value, bool) {
	return l.rest.follow(l.first(v, slots), wanted)
}

// name returns the name by which reports show the path: the last one.
func (l *lookup) name() string { return Path(strings.TrimSuffix(string(l.text), ".0")).Key() }

// keys returns the keys of the objects on the path, and false if not all are known. Elements
// of an array are as deep as its fields would be.
func (l *lookup) keys() (keys []string, exact bool) {
	if l.key == "" {
		return nil, false
	}
	keys = []string{l.key}
	for i := range l.rest {
		switch s := &l.rest[i]; s.kind {
		case toField:
			keys = append(keys, s.key)
		case toAny, toSize:
			return keys, false
		}
	}
	return keys, true
}

// observe adds what is examined on the path, and calls end with what is at its end.
func (l *lookup) observe(a *Aspect, end func(*Aspect)) {
	if l.key != "" {
		a = a.member(l.key)
	}
	l.rest.observe(a, end)
}

func (s Steps) observe(a *Aspect, end func(*Aspect)) {
	for i := range s {
		switch at := &s[i]; at.kind {
		case toAny:
			a.keys = true
			a = a.other()
		case toSize:
			a.keys, a.places = true, true
			a.item()
			return
		case toElement, toEach:
			a.places = a.places || at.n != 0
			if at.only != nil {
				a.item().Conds([]*Cond{at.only})
			}
			s[i+1:].observe(a.item(), end)
			fallthrough // an object can have a field of that name
		default:
			a = a.member(at.key)
		}
	}
	end(a)
}
