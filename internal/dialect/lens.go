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

// A Lens leads from an element to a value in it, and is the only way to follow a
// path. It names members joined by ".", and alternatives joined by "|": the first
// alternative counts that leads to something, whatever the order of members in the
// file. What is null is not there, unless nothing else is. A number is a place in
// a list, from the end where it is negative: "id.-1" is the last element of the
// list id. "#" is the first element from which the rest leads to something. The empty
// lens leads to the element itself.
type Lens string

// Valid says what is wrong with a path that somebody wrote.
func (l Lens) Valid() error {
	if l == "" {
		return errors.New("want a path: the names of members, joined by dots")
	}
	for alt := range l.Alternatives() {
		switch s := string(alt); {
		case strings.HasPrefix(s, "/"):
			return fmt.Errorf("%q is no path: want the names of members, joined by dots", l)
		case s != "" && slices.Contains(strings.Split(s, "."), ""):
			return fmt.Errorf("%q is no path: there is no name between two dots", l)
		}
	}
	return nil
}

// In returns what the lens leads to in v: the first alternative that is there and
// not null, else one that is null, None for nothing.
func (l Lens) In(v source.Value) source.Value {
	// Most lenses are the name of one member.
	if l != "" && v.Kind() == source.Object && strings.IndexByte(string(l), '.') < 0 && strings.IndexByte(string(l), '|') < 0 {
		return v.Get(string(l))
	}
	return l.From(v.Get, v)
}

// From is In for an element whose members have been read before.
func (l Lens) From(get func(key string) source.Value, v source.Value) source.Value {
	var null source.Value
	for alt := range l.Alternatives() {
		got := alt.follow(get, v)
		if got.Exists() && got.Kind() != source.Null {
			return got
		}
		if !null.Exists() {
			null = got
		}
	}
	return null
}

// Leads reports whether there is a lens, and it leads to something but null.
func (l Lens) Leads(v source.Value) bool { return l != "" && there(l.In(v)) }

// name returns what the lens leads to as it is written, "" for nothing and for null.
func (l Lens) name(v source.Value) string {
	if l.Leads(v) {
		return string(l.In(v).Raw())
	}
	return ""
}

// there reports whether a value is there, and not null.
func there(v source.Value) bool { return v.Exists() && v.Kind() != source.Null }

// Alternatives yields the alternatives of the path, each a path of its own.
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

// Nth returns the alternative of that number, the last where there are fewer.
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

// Key returns the last segment of the first alternative: the name of the member
// in the object that holds it.
func (l Lens) Key() string {
	first := string(l.Nth(0))
	return first[strings.LastIndexByte(first, '.')+1:]
}

// Parent returns the path to what has the member that the first alternative leads
// to, "" where that is the value itself.
func (l Lens) Parent() Lens {
	first := l.Nth(0)
	return first[:max(0, strings.LastIndexByte(string(first), '.'))]
}

// follow returns what a lens without alternatives leads to.
func (l Lens) follow(get func(key string) source.Value, v source.Value) source.Value {
	key, rest, more := strings.Cut(string(l), ".")
	switch {
	case l == "":
		return v
	case v.Kind() == source.Array:
		v = element(v, key)
	default:
		v = get(key)
	}
	for more && v.Exists() {
		if v.Kind() == source.Array && strings.HasPrefix(rest, "#.") {
			for _, e := range v.Elements() {
				if got := Lens(rest[2:]).follow(e.Get, e); there(got) {
					return got
				}
			}
			return source.Value{}
		}
		if key, rest, more = strings.Cut(rest, "."); v.Kind() == source.Array {
			v = element(v, key)
		} else {
			v = v.Get(key)
		}
	}
	return v
}

// element returns the element of a list at a place that is written as a number.
func element(list source.Value, place string) source.Value {
	n, err := strconv.Atoi(place)
	if err != nil {
		return source.Value{}
	}
	if n < 0 {
		for range list.Elements() {
			n++
		}
	}
	for i, e := range list.Elements() {
		if i == n {
			return e
		}
	}
	return source.Value{}
}

// roleIn returns the role that a dialect with names of its own writes so.
func roleIn(names []RoleName, v source.Value) transcript.Role {
	for i := range names {
		if writes(v, names[i].Written) {
			return names[i].Role
		}
	}
	return roleOf(v)
}

// writtenRole returns how a dialect writes a role: the first of its own names, or
// the usual one.
func writtenRole(names []RoleName, role transcript.Role) string {
	for i := range names {
		if names[i].Role == role {
			return names[i].Written
		}
	}
	return role.String()
}

// A RoleName is how a dialect writes a role.
type RoleName struct {
	Written string
	Role    transcript.Role
}
