package detect

import (
	"bytes"
	"iter"
	"math"
	"slices"

	"github.com/toolguard/toolguard/internal/source"
)

// endsWith reports whether an array of messages ends with an answer, which is a message
// or an array of items. Some programs append the answer to the messages that they logged
// as sent.
func endsWith(list, answer source.Value) bool {
	if answer.Kind() != source.Array {
		return alike(last(list, 1), slices.Values([]source.Value{answer}), repeats)
	}
	n := 0
	for range answer.Elements() {
		n++
	}
	return n > 0 && alike(last(list, n), elements(answer), repeats)
}

// last yields the last n elements of an array.
func last(list source.Value, n int) iter.Seq[source.Value] {
	return func(yield func(source.Value) bool) {
		for range list.Elements() {
			n--
		}
		for i, e := range list.Elements() {
			if i >= -n && !yield(e) {
				return
			}
		}
	}
}

func elements(list source.Value) iter.Seq[source.Value] { return last(list, math.MaxInt) }

// alike reports whether two sequences have equal length and like holds for each pair.
func alike(a, b iter.Seq[source.Value], like func(a, b source.Value) bool) bool {
	next, stop := iter.Pull(b)
	defer stop()
	for v := range a {
		if other, more := next(); !more || !like(v, other) {
			return false
		}
	}
	_, more := next()
	return !more
}

// repeats reports whether two messages have the same content. Fields that both have must
// be equal, and each may have strings and numbers that the other does not.
func repeats(a, b source.Value) bool {
	if a.Kind() != source.Object || b.Kind() != source.Object {
		return false
	}
	said := false
	for key, p := range paired(a, b) {
		switch says := p[0].Kind() == source.Array || p[0].Kind() == source.Object || p[1].Kind() == source.Array || p[1].Kind() == source.Object ||
			key == "content" || key == "call_id"; {
		case same(p[0], p[1], 1):
			said = said || says && !silent(p[0])
		case says, p[0].Exists() && p[1].Exists():
			return false
		}
	}
	return said
}

// paired returns the values of two objects by key. A value is None if its object lacks
// the key.
func paired(a, b source.Value) map[string]*[2]source.Value {
	out := map[string]*[2]source.Value{}
	for i, v := range []source.Value{a, b} {
		for k, val := range v.Members() {
			p := out[k.Str()]
			if p == nil {
				p = &[2]source.Value{}
				out[k.Str()] = p
			}
			p[i] = val
		}
	}
	return out
}

// silent reports whether a value has no content: it is null or empty, or contains only
// null.
func silent(v source.Value) bool {
	switch v.Kind() {
	case source.None, source.Null:
		return true
	case source.String:
		return v.Span().Len() == 2
	case source.Array:
		return !v.First().Exists()
	case source.Object:
		for _, val := range v.Members() {
			if val.Kind() != source.Null {
				return false
			}
		}
		return true
	}
	return false
}

// mostSame is the depth to which values are compared as JSON instead of text.
const mostSame = 8

// same reports whether two values are the same JSON, regardless of the order of fields. A
// silent value equals an absent one.
func same(a, b source.Value, depth int) bool {
	switch {
	case a.Span().Len() == b.Span().Len() && bytes.Equal(a.Raw(), b.Raw()), silent(a) && silent(b):
		return true
	case a.Kind() != b.Kind() || depth > mostSame:
		return false
	}
	switch a.Kind() {
	case source.String:
		return bytes.Equal(a.Text(), b.Text())
	case source.Array:
		return alike(elements(a), elements(b), func(a, b source.Value) bool { return same(a, b, depth+1) })
	case source.Object:
		for _, p := range paired(a, b) {
			if !same(p[0], p[1], depth+1) {
				return false
			}
		}
		return true
	}
	return false
}
