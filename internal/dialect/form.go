package dialect

import (
	"strings"

	"github.com/toolguard/toolguard/internal/source"
)

// A Template is JSON in which the strings "$id", "$name", "$args", "$text" and
// "$blocks" stand for values. A field whose value is absent is left out.
type Template string

// writes reports whether v is the string s, or another scalar that is written as s.
func writes(v source.Value, s string) bool {
	return v.Is(s) || v.Kind() != source.String && v.Span().Len() == int64(len(s)) && string(v.Raw()) == s
}

// pick sets out to the fields of an object with certain keys, in one pass. If a key occurs
// twice, the first one counts.
func pick(out []source.Value, v source.Value, keys ...string) {
	for k, val := range v.Members() {
		for i, key := range keys {
			if !out[i].Exists() && k.Is(key) {
				out[i] = val
			}
		}
	}
}

// fill returns the fields of the object that a template makes with values.
func fill(form Template, values map[string]string) []Field {
	var out []Field
	for k, v := range source.NewValue([]byte(form), 0).Members() {
		if raw := filled(form, v, values); raw != "" {
			if out == nil {
				out = make([]Field, 0, 4) // most templates have few
			}
			key := form.part(k)
			if key = key[1 : len(key)-1]; strings.Contains(key, `\`) {
				key = k.Str()
			}
			out = append(out, Field{key, raw})
		}
	}
	return out
}

// part returns the text of a value of the template, without copying it.
func (t Template) part(v source.Value) string { return string(t[v.Span().Start:v.Span().End]) }

// filled returns a value of the template with values, "" if it is absent.
func filled(form Template, v source.Value, values map[string]string) string {
	var parts []string
	switch v.Kind() {
	case source.String:
		if raw, is := values[string(v.Text())]; is { // without a copy
			return raw
		}
	case source.Object:
		for k, val := range v.Members() {
			if raw := filled(form, val, values); raw != "" {
				parts = append(parts, form.part(k)+":"+raw)
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case source.Array:
		for _, e := range v.Elements() {
			if raw := filled(form, e, values); raw != "" {
				parts = append(parts, raw)
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return form.part(v)
}
