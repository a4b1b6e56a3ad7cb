package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A Template is JSON in which the strings "$id", "$name", "$args", "$text" and
// "$blocks" stand for values. A field whose value is absent is left out.
type Template string

// A Cond is a condition on a field: its value is one of Is or, if Is is empty, it
// is present and not null. Not negates the condition.
//
// Cond differs from evidence.Cond because its field is part of a Plan, which reads
// all fields of a message in one pass. An evidence.Cond searches for its field in a
// pass of its own: one such condition made reading a message of text 40% slower.
type Cond struct {
	At  Lens
	Is  []string
	Not bool
}

// UnmarshalText reads a condition from a config file: "path" for a field that is
// present, "path=this|that" for its values. A "!" before the path or the "="
// negates it.
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

// String returns the condition in the notation of UnmarshalText.
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

// accepts reports whether the condition holds of the field's value.
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

// writes reports whether v is the string s, or another scalar that is written as s.
func writes(v source.Value, s string) bool {
	return v.Is(s) || v.Kind() != source.String && string(v.Raw()) == s
}

// allHold reports whether conds is not empty and all conditions hold of v.
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

// fill returns the fields of the object that a template makes with values.
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
