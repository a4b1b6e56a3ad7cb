// Package repair turns operations into edits. It lays out each touched turn once and compiles
// the layout to edits. It does not know why an operation was requested.
package repair

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// A builder makes new objects. It is reused, because there may be very many of them.
type builder struct {
	scan      source.Scanner
	members   []dialect.Field // of the current object
	skeletons []skeleton      // of the last objects
	texts     []string        // that text returned last
}

// text returns a text as a string, which is often the same that it returned for n before.
func (b *builder) text(n int, text []byte) string {
	if n >= len(b.texts) {
		b.texts = append(b.texts, make([]string, n+1-len(b.texts))...)
	}
	if b.texts[n] != string(text) {
		b.texts[n] = string(text)
	}
	return b.texts[n]
}

// A skeleton is an object with certain keys, without the values. In place of the values, it is an object
// with exactly these keys, whatever values are there.
type skeleton struct {
	keys []string
	gaps []string // the text before each value, and after the last one
	last []string // the short values of the last object, which were checked
}

// longChecked is the length of the longest value that a skeleton remembers.
const longChecked = 256

// mostSkeletons is the number of skeletons that are kept. Few objects of a file have others.
const mostSkeletons = 8

// build returns a compact object with the given fields. If two fields have the same key, the
// last value counts, at the place of the first. Each value is checked to be one value, so the result is an
// object with exactly these fields.
func (b *builder) build(fields []dialect.Field) ([]byte, error) {
	members := b.members[:0]
	size := 2
	for _, f := range fields {
		size += len(f.Key) + len(f.Raw) + len(`"":,`)
		if i := slices.IndexFunc(members, func(m dialect.Field) bool { return m.Key == f.Key }); i >= 0 {
			members[i].Raw = f.Raw
			continue
		}
		members = append(members, f)
	}
	b.members = members
	f, err := b.skeleton(members)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for i, m := range members {
		out = append(append(out, f.gaps[i]...), m.Raw...)
		if f.last[i] == m.Raw && m.Raw != "" {
			continue
		}
		text := out[len(out)-len(m.Raw):]
		if err := b.whole(text); err != nil {
			return nil, err
		}
		if blank(text[0]) || blank(text[len(text)-1]) {
			return nil, fmt.Errorf("not a value alone: %.40q", text)
		}
		if len(m.Raw) <= longChecked {
			f.last[i] = m.Raw
		}
	}
	return append(out, f.gaps[len(members)]...), nil
}

// skeleton returns the skeleton of an object with the given fields. sjson makes it, once for many
// objects. sjson returns broken input without an error, so it only ever gets one object and
// escaped keys.
func (b *builder) skeleton(members []dialect.Field) (*skeleton, error) {
	for i := range b.skeletons {
		f := &b.skeletons[i]
		if slices.EqualFunc(f.keys, members, func(key string, m dialect.Field) bool { return key == m.Key }) {
			return f, nil
		}
	}
	f := skeleton{}
	out := []byte("{}")
	for _, m := range members {
		var err error
		if out, err = sjson.SetRawBytes(out, escapeKey(m.Key), []byte("0")); err != nil {
			return nil, fmt.Errorf("member %q: %w", m.Key, err)
		}
		f.keys = append(f.keys, m.Key)
	}
	if err := b.whole(out); err != nil {
		return nil, err
	}
	last := int64(0)
	for k, v := range source.NewValue(out, 0).Members() {
		if n := len(f.gaps); n == len(members) || !k.Is(members[n].Key) || string(v.Raw()) != "0" {
			break
		}
		f.gaps = append(f.gaps, string(out[last:v.Span().Start]))
		last = v.Span().End
	}
	if len(f.gaps) != len(members) {
		return nil, fmt.Errorf("not the members that were set: %.40q", out)
	}
	f.gaps, f.last = append(f.gaps, string(out[last:])), make([]string, len(members))
	if len(b.skeletons) == mostSkeletons {
		b.skeletons = slices.Delete(b.skeletons, 0, 1)
	}
	b.skeletons = append(b.skeletons, f)
	return &b.skeletons[len(b.skeletons)-1], nil
}

// escapeKey returns the sjson path of a key, whatever characters it contains.
func escapeKey(key string) string {
	if strings.HasPrefix(key, ":") {
		return `\` + key
	}
	return gjson.Escape(key)
}

// setField returns a compact object with a field set, in its place or at the end.
func (b *builder) setField(object []byte, field dialect.Field) ([]byte, error) {
	if err := b.whole(object); err != nil {
		return nil, err
	}
	v := source.NewValue(object, 0)
	if v.Kind() != source.Object {
		return nil, fmt.Errorf("no object: %.40q", object)
	}
	var fields []dialect.Field
	for k, val := range v.Members() {
		fields = append(fields, dialect.Field{Key: k.Str(), Raw: string(val.Raw())})
	}
	return b.build(append(fields, field))
}

// whole returns an error unless text is one JSON value.
func (b *builder) whole(text []byte) error {
	if b.scan == nil {
		b.scan = source.NewScanner()
	}
	s := b.scan.Scan(text, 0, source.Strict)
	if s.Kind != source.FaultNone || len(bytes.TrimSpace(text[s.End:])) > 0 {
		return fmt.Errorf("not JSON: %.40q", text)
	}
	return nil
}

// A style is the layout of the elements near a new one.
type style struct {
	multi  bool   // each field is on its own line
	nested bool   // the elements of nested lists are too
	nl     string // the line ending
	indent string // of the element
	unit   string // one step of indentation
	colon  string // between a key's quote and its value
	comma  string // between two fields on one line
}

// styleOf reads the style of an element in the same list.
func styleOf(v source.Value) style {
	st := style{nl: "\n", colon: ":", comma: ",", nested: true}
	raw, base := v.Raw(), v.Span().Start
	if i := bytes.IndexByte(raw, '\n'); i > 0 && raw[i-1] == '\r' {
		st.nl = "\r\n"
	}
	n, last := 0, int64(1) // the number of fields, and the offset after the last one
	for k, val := range v.Members() {
		key, at := k.Span(), val.Span()
		before := raw[last : key.Start-base]
		switch {
		case n == 0:
			st.colon = string(raw[key.End-base : at.Start-base])
			st.unit, st.multi = lastLine(before)
		case n == 1 && !st.multi:
			st.comma = string(before)
		}
		if n, last = n+1, at.End-base; n == 2 && !st.multi {
			break
		}
		if k := val.Kind(); st.multi && (k == source.Array || k == source.Object) && len(val.Raw()) > 2 {
			st.nested = bytes.IndexByte(val.Raw(), '\n') >= 0
		}
	}
	if st.multi {
		tail, _ := lastLine(raw[last:])
		st.indent = strings.TrimRight(tail, "}]")
		st.unit = strings.TrimPrefix(st.unit, st.indent)
	}
	return st
}

// dense reports whether there is no white space around separators.
func (s *style) dense() bool { return !s.multi && s.colon == ":" && s.comma == "," }

// spaced reports whether there is white space between the tokens of a text.
func spaced(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case blank(text[i]):
			return true
		case text[i] != '"':
			continue
		}
		for i++; i < len(text) && text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
	}
	return false
}

// lastLine returns the text after the last line feed, if there is one.
func lastLine(text []byte) (string, bool) {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		return string(text[i+1:]), true
	}
	return "", false
}

// A content is a new list of blocks.
type content []block

// A block is one element of the list. A kept block was recorded, and keeps its bytes.
type block struct {
	text []byte
	kept bool
}

// add appends a block.
func (c *content) add(text []byte, keep bool) { *c = append(*c, block{text, keep}) }

// json returns the list, and the spans of the kept blocks in it.
func (c content) json() (list string, kept []source.Span) {
	text := []byte{'['}
	for i, b := range c {
		if i > 0 {
			text = append(text, ',')
		}
		at := int64(len(text))
		if text = append(text, b.text...); b.kept {
			kept = append(kept, source.Span{Start: at, End: int64(len(text))})
		}
	}
	return string(text) + "]", kept
}

// render lays out compact JSON in a style. depth is its indentation relative to the element,
// in steps. Values at the spans in kept keep their bytes.
func render(compact []byte, st style, depth int, kept ...source.Span) []byte {
	if st.dense() && !spaced(compact) {
		return compact
	}
	out := slices.Grow([]byte(nil), len(compact)+len(compact)/4) // never nil
	var walk func(v source.Value, depth int, multi bool)
	walk = func(v source.Value, depth int, multi bool) {
		raw := v.Raw()
		keep := len(kept) > 0 && v.Span() == kept[0]
		if keep {
			kept = kept[1:]
		}
		if kind := v.Kind(); keep || kind != source.Object && kind != source.Array || len(raw) == 2 {
			out = append(out, raw...)
			return
		}
		line := func(d int) {
			if multi {
				out = append(out, st.nl+st.indent+strings.Repeat(st.unit, d)...)
			}
		}
		out = append(out, raw[0])
		sep := ""
		for k, val := range children(v) {
			out = append(out, sep...)
			line(depth + 1)
			if k.Exists() {
				out = append(append(out, k.Raw()...), st.colon...)
			}
			walk(val, depth+1, multi && st.nested)
			if sep = st.comma; multi {
				sep = ","
			}
		}
		line(depth)
		out = append(out, raw[len(raw)-1])
	}
	walk(source.NewValue(compact, 0), depth, st.multi)
	return out
}

// children yields the values in an object, with their keys, or in a list.
func children(v source.Value) iter.Seq2[source.Value, source.Value] {
	if v.Kind() == source.Object {
		return v.Members()
	}
	return func(yield func(key, val source.Value) bool) {
		for _, e := range v.Elements() {
			if !yield(source.Value{}, e) {
				return
			}
		}
	}
}
