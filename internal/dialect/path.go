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

// A Path names a member of an element: keys joined by ".", and alternatives by
// "|", of which the first that is there counts. A number is a place in a list,
// from the end where it is negative: "id.-1" is the last element of the list id.
// The empty path is the element itself.
type Path string

// Valid says what is wrong with a path that somebody wrote.
func (p Path) Valid() error {
	if p == "" {
		return errors.New("want a path: the names of members, joined by dots")
	}
	for alt := range p.Alternatives() {
		switch s := string(alt); {
		case strings.HasPrefix(s, "/"):
			return fmt.Errorf("%q is no path: want the names of members, joined by dots", p)
		case s != "" && slices.Contains(strings.Split(s, "."), ""):
			return fmt.Errorf("%q is no path: there is no name between two dots", p)
		}
	}
	return nil
}

// In returns what the path leads to in v, None for nothing.
func (p Path) In(v source.Value) source.Value {
	if p != "" && v.Kind() == source.Object && strings.IndexByte(string(p), '.') < 0 && strings.IndexByte(string(p), '|') < 0 {
		return v.Get(string(p))
	}
	for alt := range p.Alternatives() {
		if got := alt.follow(v); got.Exists() {
			return got
		}
	}
	return source.Value{}
}

// Alternatives yields the alternatives of the path, each a path of its own.
func (p Path) Alternatives() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for rest, more := string(p), true; more; {
			var alt string
			if alt, rest, more = strings.Cut(rest, "|"); !yield(Path(alt)) {
				return
			}
		}
	}
}

// Nth returns the alternative of that number, the last where there are fewer.
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

// Key returns the last segment of the first alternative: the name of the member
// in the object that holds it.
func (p Path) Key() string {
	first := string(p.Nth(0))
	return first[strings.LastIndexByte(first, '.')+1:]
}

// Parent returns the path to what has the member that the first alternative leads
// to, "" where that is the value itself.
func (p Path) Parent() Path {
	first := p.Nth(0)
	return first[:max(0, strings.LastIndexByte(string(first), '.'))]
}

// follow returns what a path without alternatives leads to.
func (p Path) follow(v source.Value) source.Value {
	for rest, more := string(p), p != ""; more && v.Exists(); {
		var key string
		key, rest, more = strings.Cut(rest, ".")
		if v.Kind() == source.Array {
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
		if v.Is(names[i].Written) {
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
