package dialect

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A Lens is a path from an element to a value in it, and the only kind of path in
// this package. It consists of keys joined by "." and of alternatives joined by
// "|". The first alternative that leads to a value other than null wins, whatever
// the order of keys in the file; a null counts only if there is nothing else. A
// number is an index in an array, counted from the end if it is negative: "id.-1"
// is the last element of the array id. "#" is the first element in which the rest
// of the path leads to a value. The empty lens leads to the element itself.
type Lens string

// Valid returns an error that says what is wrong with a path from a config file.
func (l Lens) Valid() error {
	if l == "" {
		return errors.New("expected a path: field names joined by dots")
	}
	for alt := range l.Alternatives() {
		switch s := string(alt); {
		case strings.HasPrefix(s, "/"):
			return fmt.Errorf("%q is not a path: expected field names joined by dots", l)
		case s != "" && slices.Contains(strings.Split(s, "."), ""):
			return fmt.Errorf("%q is not a path: a field name is empty", l)
		}
	}
	return nil
}

// In returns the value at the end of the path: the first alternative that is not
// null, else the first that is null, else None.
func (l Lens) In(v source.Value) source.Value {
	// Most lenses are a single key, or several.
	if l == "" || v.Kind() != source.Object || strings.IndexByte(string(l), '.') >= 0 {
		return l.through(v)
	}
	var null source.Value
	for rest, more := string(l), true; more; {
		var key string
		key, rest, more = strings.Cut(rest, "|")
		got := v // an empty path leads to the element itself
		if key != "" {
			got = v.Get(key)
		}
		if isSet(got) {
			return got
		}
		if !null.Exists() {
			null = got
		}
	}
	return null
}

// through is In for any path.
func (l Lens) through(v source.Value) source.Value {
	var null source.Value
	for alt := range l.Alternatives() {
		got := alt.follow(v)
		if isSet(got) {
			return got
		}
		if !null.Exists() {
			null = got
		}
	}
	return null
}

// Leads reports whether l is not empty and leads to a value other than null.
func (l Lens) Leads(v source.Value) bool { return l != "" && isSet(l.In(v)) }

// name returns the raw value at the end of the path, or "" if it is absent or null.
func (l Lens) name(v source.Value) string {
	if l.Leads(v) {
		return string(l.In(v).Raw())
	}
	return ""
}

// isSet reports whether a value exists and is not null.
func isSet(v source.Value) bool { return v.Exists() && v.Kind() != source.Null }

// Alternatives yields the alternatives of the path, each as a path.
func (l Lens) Alternatives() iter.Seq[Lens] {
	return func(yield func(Lens) bool) {
		for rest, more := string(l), true; more; {
			var alt string
			if alt, rest, more = strings.Cut(rest, "|"); !yield(Lens(alt)) {
				return
			}
		}
	}
}

// Nth returns the alternative with index n, or the last one if there are fewer.
func (l Lens) Nth(n int) Lens {
	var last Lens
	for alt := range l.Alternatives() {
		if last = alt; n == 0 {
			break
		}
		n--
	}
	return last
}

// Key returns the last key of the first alternative.
func (l Lens) Key() string {
	first := string(l.Nth(0))
	return first[strings.LastIndexByte(first, '.')+1:]
}

// Parent returns the path to the object that holds the last key of the first
// alternative, or "" for the element itself.
func (l Lens) Parent() Lens {
	first := l.Nth(0)
	return first[:max(0, strings.LastIndexByte(string(first), '.'))]
}

// follow returns the value that a lens without alternatives leads to.
func (l Lens) follow(v source.Value) source.Value {
	for rest, more := string(l), l != ""; more && v.Exists(); {
		if v.Kind() == source.Array && strings.HasPrefix(rest, "#.") {
			for _, e := range v.Elements() {
				if got := Lens(rest[2:]).follow(e); isSet(got) {
					return got
				}
			}
			return source.Value{}
		}
		var key string
		if key, rest, more = strings.Cut(rest, "."); v.Kind() == source.Array {
			v = element(v, key)
		} else {
			v = v.Get(key)
		}
	}
	return v
}

// element returns the element at an index, which is written as a decimal number.
func element(list source.Value, place string) source.Value {
	if n, err := strconv.Atoi(place); err == nil {
		return list.At(n)
	}
	return source.Value{}
}

// roleIn returns the role that v names in a dialect with its own role names.
func roleIn(names []RoleName, v source.Value) transcript.Role {
	if n := first(names, func(n *RoleName) bool { return writes(v, n.Written) }); n != nil {
		return n.Role
	}
	return roleOf(v)
}

// writtenRole returns the spelling of a role in a dialect: the first of its own
// names, or the usual one.
func writtenRole(names []RoleName, role transcript.Role) string {
	if n := first(names, func(n *RoleName) bool { return n.Role == role }); n != nil {
		return n.Written
	}
	return role.String()
}

// A RoleName is a dialect's name for a role.
type RoleName struct {
	Written string
	Role    transcript.Role
}
