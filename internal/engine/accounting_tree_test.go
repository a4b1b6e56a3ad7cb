package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// A tree is a JSON value as encoding/json reads it. Keys keep their order, and
// keys and scalars keep the bytes they were written with.
type tree struct {
	kind byte // '{', '[', or 0 for a scalar
	raw  string
	keys []string // with quotes; only of an object
	kids []*tree

	start, end int // in the text that was parsed
	from       int // where the key begins; start for a value without one
}

// parseTree reads one JSON value.
func parseTree(text []byte) (*tree, error) {
	if !json.Valid(text) {
		return nil, errors.New("invalid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var root *tree
	var open []*tree
	key, from, at := "", -1, 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		start, end := at, int(dec.InputOffset())
		for strings.IndexByte(" \t\r\n,:", text[start]) >= 0 {
			start++
		}
		at = end
		n := &tree{raw: string(text[start:end]), start: start, end: end, from: start}
		if d, is := tok.(json.Delim); is {
			if d == '}' || d == ']' {
				open[len(open)-1].end = end
				open = open[:len(open)-1]
				continue
			}
			n.kind, n.raw = byte(d), ""
		} else if len(open) > 0 && open[len(open)-1].kind == '{' && from < 0 {
			key, from = n.raw, start
			continue
		}
		if len(open) == 0 {
			root = n
		} else {
			up := open[len(open)-1]
			if up.kind == '{' {
				up.keys = append(up.keys, key)
				n.from, from = from, -1
			}
			up.kids = append(up.kids, n)
		}
		if n.kind != 0 {
			open = append(open, n)
		}
	}
}

// parseRecords reads a text as one JSON document or as JSON lines. Offsets are
// those in the text. It returns nil for a text with anything else in it.
func parseRecords(text []byte) (records []*tree) {
	if t, err := parseTree(text); err == nil {
		return []*tree{t}
	}
	at := 0
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			t, err := parseTree(line)
			if err != nil {
				return nil
			}
			t.shift(at)
			records = append(records, t)
		}
		at += len(line)
	}
	return records
}

func (t *tree) shift(by int) {
	t.start, t.end, t.from = t.start+by, t.end+by, t.from+by
	for _, k := range t.kids {
		k.shift(by)
	}
}

// unquoted returns what a key or a string says, and false for any other scalar.
func unquoted(raw string) (string, bool) {
	var s string
	if raw == "" || raw[0] != '"' || json.Unmarshal([]byte(raw), &s) != nil {
		return "", false
	}
	return s, true
}

// quoted writes a string without escapes that it does not need.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// get returns the value of a key, nil if there is none.
func (t *tree) get(key string) *tree {
	if i := slices.Index(t.keys, `"`+key+`"`); i >= 0 {
		return t.kids[i]
	}
	return nil
}

// str returns the string of a key, "" if there is none.
func (t *tree) str(key string) string {
	if v := t.get(key); v != nil {
		s, _ := unquoted(v.raw)
		return s
	}
	return ""
}

// set sets a key, at the end if it is new.
func (t *tree) set(key string, v *tree) {
	if i := slices.Index(t.keys, `"`+key+`"`); i >= 0 {
		t.kids[i] = v
		return
	}
	t.keys, t.kids = append(t.keys, `"`+key+`"`), append(t.kids, v)
}

// remove removes a key.
func (t *tree) remove(key string) {
	if i := slices.Index(t.keys, `"`+key+`"`); i >= 0 {
		t.keys, t.kids = slices.Delete(t.keys, i, i+1), slices.Delete(t.kids, i, i+1)
	}
}

// clone copies a tree.
func (t *tree) clone() *tree {
	out := *t
	out.keys = slices.Clone(t.keys)
	out.kids = make([]*tree, len(t.kids))
	for i, k := range t.kids {
		out.kids[i] = k.clone()
	}
	return &out
}

// each calls f for t and everything in it, with the path to it.
func (t *tree) each(f func(way []*tree, t *tree)) {
	var walk func(way []*tree, t *tree)
	walk = func(way []*tree, t *tree) {
		f(way, t)
		way = append(way, t)
		for _, k := range t.kids {
			walk(way, k)
		}
	}
	walk(nil, t)
}

// A layout is how JSON is written.
type layout struct {
	indent       string // "" for one line
	comma, colon string
}

var layouts = []layout{
	{comma: ",", colon: ":"},
	{comma: ", ", colon: ": "},
	{indent: " ", comma: ",", colon: ": "},
	{indent: "  ", comma: ",", colon: ": "},
	{indent: "\t", comma: ",", colon: ":"},
}

var oneLine = layouts[0]

// write writes a tree.
func (l layout) write(b *strings.Builder, t *tree, depth int) {
	if t.kind == 0 {
		b.WriteString(t.raw)
		return
	}
	line := func(depth int) {
		if l.indent != "" {
			b.WriteString("\n" + strings.Repeat(l.indent, depth))
		}
	}
	b.WriteByte(t.kind)
	for i, k := range t.kids {
		if i > 0 {
			b.WriteString(l.comma)
		}
		line(depth + 1)
		if t.kind == '{' {
			b.WriteString(t.keys[i] + l.colon)
		}
		l.write(b, k, depth+1)
	}
	if len(t.kids) > 0 {
		line(depth)
	}
	b.WriteByte(t.kind + 2) // the bracket that closes it
}

func (l layout) text(t *tree) string {
	var b strings.Builder
	l.write(&b, t, 0)
	return b.String()
}

// cuts returns the text without one of its values, for each value that can be removed: a
// line, an element of a list, a field of an object; the largest first.
func cuts(text []byte) (out [][]byte) {
	records := parseRecords(text)
	type cut struct{ from, to int }
	var all []cut
	for i, r := range records {
		if len(records) > 1 {
			to := len(text)
			if i+1 < len(records) {
				to = records[i+1].start
			}
			all = append(all, cut{r.start, to})
		}
		r.each(func(_ []*tree, t *tree) {
			for i, k := range t.kids {
				if t.kind == '{' && (plainKey(t.keys[i]) == "role" || plainKey(t.keys[i]) == "type") {
					continue // without them the rest says something else
				}
				switch {
				case i > 0:
					all = append(all, cut{t.kids[i-1].end, k.end})
				case len(t.kids) > 1:
					all = append(all, cut{k.from, t.kids[1].from})
				default:
					all = append(all, cut{k.from, k.end})
				}
			}
		})
	}
	slices.SortStableFunc(all, func(a, b cut) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	for _, c := range all {
		out = append(out, slices.Concat(text[:c.from], text[c.to:]))
	}
	return out
}
