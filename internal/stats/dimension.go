package stats

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Dimension is a property of calls by which they are counted.
type Dimension uint8

// The dimensions.
const (
	Agent Dimension = iota
	Version
	Tool
	Model
	Month
	Project
	dimensions = iota
)

// names are the names of the dimensions, as people give them.
var names = [dimensions]string{"agent", "version", "tool", "model", "month", "project"}

// String returns the name of the dimension.
func (d Dimension) String() string { return names[d] }

// Dimensions returns the names of all dimensions.
func Dimensions() []string { return slices.Clone(names[:]) }

// ParseTable returns the dimensions that a text names: version,tool. If one is unknown, it returns its
// name.
func ParseTable(text string) (by []Dimension, unknown string) {
	for name := range strings.SplitSeq(text, ",") {
		d := slices.Index(names[:], name)
		if d < 0 {
			return nil, name
		}
		if !slices.Contains(by, Dimension(d)) {
			by = append(by, Dimension(d))
		}
	}
	return by, ""
}

// Unknown is the value of a property that is not recorded.
const Unknown = "unknown"

// A Key has a value for each dimension that counts, and "" for the others.
type Key [dimensions]string

// of returns the key with only some dimensions.
func (k *Key) of(by []Dimension) (out Key) {
	for _, d := range by {
		out[d] = k[d]
	}
	return out
}

// compare orders keys.
func (k *Key) compare(o *Key) int {
	for d := range k {
		if c := cmp.Compare(k[d], o[d]); c != 0 {
			return c
		}
	}
	return 0
}

// longestValue is how many bytes of a value are kept.
const longestValue = 120

// valueOf returns a value of a key: what a transcript says, not too long.
func valueOf(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return Unknown
	}
	if len(text) <= longestValue {
		return strings.Clone(text)
	}
	n := longestValue
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// natural orders texts with numbers in them: 2.1.9 before 2.1.33.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		n, m := digits(x), digits(y)
		if n > 0 && m > 0 {
			i, j := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
			if c := cmp.Or(cmp.Compare(len(i), len(j)), cmp.Compare(i, j)); c != 0 {
				return c
			}
			x, y = x[n:], y[m:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits returns how many digits a text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}
