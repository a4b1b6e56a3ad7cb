package schema

import (
	"bytes"
	"sort"
	"strconv"

	"github.com/toolguard/toolguard/internal/source"
)

// canonical returns the same text for two values if JSON Schema considers them equal: 1
// and 1.0, or objects with the same fields in any order.
func canonical(v source.Value) string { return string(appendCanonical(nil, v)) }

func appendCanonical(out []byte, v source.Value) []byte {
	switch v.Kind() {
	case source.Number:
		d := parseDecimal(v.Raw())
		if d.negative {
			out = append(out, '-')
		}
		out = append(out, d.digits...)
		return strconv.AppendInt(append(out, 'e'), d.exp, 10)
	case source.String:
		return appendCounted(out, v.Text())
	case source.Array:
		out = append(out, '[')
		for _, e := range v.Elements() {
			out = append(appendCanonical(out, e), ',')
		}
		return append(out, ']')
	case source.Object:
		members := newObject(v).members
		sort.Slice(members, func(i, j int) bool { return bytes.Compare(members[i].name, members[j].name) < 0 })
		out = append(out, '{')
		for _, m := range members {
			out = append(appendCanonical(appendCounted(out, m.name), m.value), ',')
		}
		return append(out, '}')
	default:
		return append(out, v.Raw()...)
	}
}

// appendCounted appends a text after its length, so that it cannot be confused with what
// follows.
func appendCounted(out, text []byte) []byte {
	out = append(strconv.AppendInt(append(out, '"'), int64(len(text)), 10), ':')
	return append(out, text...)
}

// enumOf returns the values that an enum allows.
func enumOf(list source.Value) *equals {
	e := &equals{keyword: "enum", values: map[string]bool{}}
	var shown []string
	plain := true
	for _, v := range list.Elements() {
		e.kinds |= kindOf(v)
		e.values[canonical(v)] = true
		plain = plain && kindOf(v)&(kindArray|kindObject) == 0
		if plain {
			shown = append(shown, display(v))
		}
	}
	switch {
	case !plain:
		e.message = "'enum' failed"
	case len(shown) == 1:
		e.message = "value must be " + shown[0]
	default:
		e.message = "value must be one of " + listed(len(shown), func(i int) string { return cut(shown[i]) })
	}
	return e
}

// constOf returns the value that a const allows.
func constOf(v source.Value) *equals {
	e := &equals{keyword: "const", kinds: kindOf(v), values: map[string]bool{canonical(v): true}, message: "'const' failed"}
	if kindOf(v)&(kindArray|kindObject) == 0 {
		e.message = "value must be " + display(v)
	}
	return e
}

// allows reports whether a value is allowed.
func (e *equals) allows(v source.Value) bool {
	var room [64]byte
	return e.kinds&kindOf(v) != 0 && e.values[string(appendCanonical(room[:0], v))]
}
