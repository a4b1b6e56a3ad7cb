package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A Template is a piece of JSON in which the texts "$id", "$name", "$args",
// "$text" and "$blocks" stand for values. A member whose value is not there is
// left out.
type Template string

// A Cond is a condition on a member: that it says one of Is, or that it is
// there and not null; with Not, that it is not so.
//
// It is no evidence.Cond because its member is one of a Plan, which finds all that is
// wanted of a message in one pass. An evidence.Cond looks for its member by itself, and
// of each message that is another pass: one such condition made reading a message of
// text longer by two fifths.
type Cond struct {
	At  Lens
	Is  []string
	Not bool
}

// UnmarshalText reads a condition as people write it: "path" for a member that is
// there, "path=this|that" for what it says, and with a "!" before the path or the
// "=" that it is not so.
func (c *Cond) UnmarshalText(text []byte) error {
	at, is, says := strings.Cut(string(text), "=")
	*c = Cond{}
	if rest, not := strings.CutSuffix(at, "!"); says && not {
		at, c.Not = rest, true
	}
	if rest, not := strings.CutPrefix(at, "!"); not {
		at, c.Not = rest, !c.Not
	}
	if says {
		c.Is = strings.Split(is, "|")
	}
	c.At = Lens(at)
	return c.At.Valid()
}

// String writes a condition as people do.
func (c Cond) String() string {
	not := ""
	if c.Not {
		not = "!"
	}
	if len(c.Is) == 0 {
		return not + string(c.At)
	}
	return string(c.At) + not + "=" + strings.Join(c.Is, "|")
}

// holds reports whether the condition holds of v.
func (c *Cond) holds(v source.Value) bool { return c.accepts(c.At.In(v)) }

// accepts reports whether the condition holds of the member itself.
func (c *Cond) accepts(got source.Value) bool {
	if len(c.Is) == 0 {
		return (got.Exists() && got.Kind() != source.Null) != c.Not
	}
	for _, is := range c.Is {
		if writes(got, is) {
			return !c.Not
		}
	}
	return c.Not
}

// writes reports whether a value is a string that says s, or another scalar
// that is written so.
func writes(v source.Value, s string) bool {
	return v.Is(s) || v.Kind() != source.String && string(v.Raw()) == s
}

// allHold reports whether there are conditions, and all of them hold of v.
func allHold(conds []Cond, v source.Value) bool {
	for i := range conds {
		if !conds[i].holds(v) {
			return false
		}
	}
	return len(conds) > 0
}

// anyHolds reports whether one of the conditions holds of v.
func anyHolds(conds []Cond, v source.Value) bool {
	for i := range conds {
		if conds[i].holds(v) {
			return true
		}
	}
	return false
}

// fill returns the members of an object that a template makes.
func fill(form Template, values map[string]string) []Field {
	var out []Field
	for k, v := range source.NewValue([]byte(form), 0).Members() {
		if raw := filled(v, values); raw != "" {
			out = append(out, Field{k.Str(), raw})
		}
	}
	return out
}

func filled(v source.Value, values map[string]string) string {
	var parts []string
	switch v.Kind() {
	case source.String:
		if raw, is := values[v.Str()]; is {
			return raw
		}
	case source.Object:
		for k, val := range v.Members() {
			if raw := filled(val, values); raw != "" {
				parts = append(parts, string(k.Raw())+":"+raw)
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case source.Array:
		for _, e := range v.Elements() {
			if raw := filled(e, values); raw != "" {
				parts = append(parts, raw)
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return string(v.Raw())
}
