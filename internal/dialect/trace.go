package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
)

// A Trace says where messages hold reasoning, or what ties them to reasoning that only
// its provider can read: signatures, sealed texts, ids of items. It is a path from the
// message, in which "#" stands for each element of a list, "*" for each field of an
// object, and "a/b" for the fields a and b. "@this" is the message itself. Conditions may
// follow, as in "parts.#.id if kind=text and name": all of them must hold of the
// innermost list element on the path, or of the message. A value in them may end in "*",
// which matches any ending.
//
// Unlike a Lens, a Trace leads to all values that match.
type Trace string

// wholeMessage is the path of a Trace to the message itself.
const wholeMessage = "@this"

// Valid returns an error that says what is wrong with a trace from a config file.
func (t Trace) Valid() error {
	path, conds, ok := strings.Cut(string(t), " if ")
	if path == "" || slices.Contains(strings.Split(strings.ReplaceAll(path, "/", "."), "."), "") {
		return fmt.Errorf("%q is not a path: expected field names joined by dots", path)
	}
	if !ok {
		if path == wholeMessage {
			return errors.New(`"@this" without a condition would remove every message`)
		}
		return nil
	}
	for text := range strings.SplitSeq(conds, " and ") {
		if err := new(evidence.Cond).UnmarshalText([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// follow calls found for each value to which the trace leads in an element.
func (t Trace) follow(v source.Value, found func(source.Value)) {
	path, rest, _ := strings.Cut(string(t), " if ")
	var conds []*evidence.Cond
	if rest != "" {
		conds = evidence.All(strings.Split(rest, " and ")...)
	}
	if path == wholeMessage {
		if evidence.Hold(conds, v) {
			found(v)
		}
		return
	}
	walk(v, strings.Split(path, "."), v, func(in, at source.Value) {
		if evidence.Hold(conds, in) {
			found(at)
		}
	})
}

// walk follows a path. in is the innermost list element on it.
func walk(v source.Value, path []string, in source.Value, found func(in, at source.Value)) {
	if len(path) == 0 {
		found(in, v)
		return
	}
	switch step := path[0]; {
	case step == "#":
		for _, e := range v.Elements() {
			walk(e, path[1:], e, found)
		}
	case v.Kind() != source.Object:
	default:
		keys := strings.Split(step, "/")
		for k, val := range v.Members() {
			if step == "*" || contains(keys, k) {
				walk(val, path[1:], in, found)
			}
		}
	}
}

// Strips returns the spans of what ties an element of the dialect to reasoning, besides the
// blocks that the driver reads as reasoning. Empty values tie it to nothing.
func (d *Dialect) Strips(v source.Value) (spans []source.Span) {
	for _, t := range d.Strip {
		t.follow(v, func(at source.Value) {
			if empty := hollow(at) || isEmptyObject(at); !empty {
				spans = append(spans, at.Span())
			}
		})
	}
	return spans
}

// StripsWhole reports whether an element that is not a message is one that holds only
// reasoning.
func (d *Dialect) StripsWhole(v source.Value) (whole bool) {
	for _, t := range d.Strip {
		if strings.HasPrefix(string(t), wholeMessage) {
			t.follow(v, func(source.Value) { whole = true })
		}
	}
	return whole
}
