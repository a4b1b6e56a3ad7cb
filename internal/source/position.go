package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Position is a place in a source as a user looks it up.
type Position struct {
	// Offset counts bytes from 0 and includes a byte order mark.
	Offset int64
	// Line and Column count from 1. Columns are bytes from the start of the line.
	Line, Column int
	// Char is the column in characters (code points).
	Char int
}

// characters counts the characters that start in part of a text.
func characters(part []byte) int {
	n := 0
	for _, b := range part {
		if b&0xC0 != 0x80 { // not a continuation byte
			n++
		}
	}
	return n
}

// Pointers returns for each span the JSON pointer (RFC 6901) from v to the innermost
// value that contains the span, or to the field whose key the span touches. The pointer
// of a span outside v is the empty pointer, which is that of v itself. Once the context of
// the source is done, the remaining pointers are empty.
func (s *Source) Pointers(v Value, spans []Span) []string {
	if v.Outside() {
		return s.pointersOutside(v, spans)
	}
	p := pointers{src: s, look: v.from + lookEvery, text: v.text, base: v.base, spans: spans, found: make([]string, len(spans))}
	for i, at := range spans {
		if v.Span().Contains(at) {
			p.rest = append(p.rest, i)
		}
	}
	// A span that contains another one comes after it, because walk leaves values from
	// the inside out.
	slices.SortStableFunc(p.rest, func(a, b int) int { return cmp.Compare(spans[a].Start, spans[b].Start) })
	if v.Exists() && len(p.rest) > 0 {
		p.walk(v.from, v.to)
	}
	return p.found
}

// pointersOutside is Pointers for a value that is not in memory.
func (s *Source) pointersOutside(v Value, spans []Span) []string {
	found := make([]string, len(spans))
	if v.Kind() == String {
		return found
	}
	var rest []int // the remaining spans in v, sorted by start
	for i, at := range spans {
		if v.Span().Contains(at) {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(spans[a].Start, spans[b].Start) })
	index := 0
	v.walk(func(key, val Value) bool {
		at, name := val.Span(), strconv.Itoa(index)
		if index++; key.Exists() {
			at.Start, name = key.Span().Start, pointerEscaper.Replace(key.Str())
		}
		for len(rest) > 0 && spans[rest[0]].Start < at.Start {
			rest = rest[1:] // no value contains it
		}
		var in []int
		var of []Span
		// A comma follows the value, so a span that starts there is in no later value.
		for ; len(rest) > 0 && spans[rest[0]].Start <= at.End; rest = rest[1:] {
			if n := rest[0]; at.Contains(spans[n]) {
				in, of = append(in, n), append(of, spans[n])
			}
		}
		if len(in) == 0 {
			return len(rest) > 0
		}
		for i, p := range s.Pointers(val, of) {
			found[in[i]] = "/" + name + p
		}
		return len(rest) > 0
	})
	return found
}

// pointers finds spans in one pass over the tokens of a value. Each level of nesting
// costs an entry in path and no stack.
type pointers struct {
	src   *Source
	look  int // where to look at the context of src
	text  []byte
	base  int64
	spans []Span
	found []string
	rest  []int   // the spans that are still ahead, sorted by start
	open  []int   // the spans that have started and are not yet in a finished value
	path  []level // the containers around the current token
}

// A level is a container and its current field or element.
type level struct {
	start int // the offset of the container, or of its key if it has one
	key   Value
	index int
	array bool
}

func (p *pointers) walk(i, end int) {
	for i < end && len(p.rest)+len(p.open) > 0 {
		var top *level
		if len(p.path) > 0 {
			top = &p.path[len(p.path)-1]
		}
		if i >= p.look {
			if p.look = i + lookEvery; p.src.Err() != nil {
				return
			}
		}
		switch c := p.text[i]; c {
		case ' ', '\t', '\n', '\r', ':':
			i++
		case ',':
			i++
			if top != nil {
				top.index++
				top.key = Value{}
			}
		case '{', '[':
			p.path = append(p.path, level{start: p.memberStart(i), array: c == '['})
			i++
		case '}', ']':
			i++
			if top == nil {
				return
			}
			p.path = p.path[:len(p.path)-1]
			p.leave(top.start, i)
		default:
			to := max(min(skipValue(p.text, i), end), i+1)
			if c == '"' && top != nil && !top.array && !top.key.Exists() {
				top.key = Value{text: p.text, base: p.base, from: i, to: to}
				i = to
				continue
			}
			p.leave(p.memberStart(i), to)
			i = to
		}
	}
	p.leave(0, end)
}

// memberStart returns where the field or element with its value at i starts. A field
// starts at its key.
func (p *pointers) memberStart(i int) int {
	if len(p.path) > 0 {
		if key := p.path[len(p.path)-1].key; key.Exists() {
			return key.from
		}
	}
	return i
}

// leave assigns the pointer of the value [start, end) to the spans inside it. Spans
// inside nested values already have their pointers.
func (p *pointers) leave(start, end int) {
	from, to := p.base+int64(start), p.base+int64(end)
	for len(p.rest) > 0 {
		i := p.rest[0]
		if p.spans[i].Start >= to && p.spans[i].End > to {
			break
		}
		p.open = append(p.open, i)
		p.rest = p.rest[1:]
	}
	pointer, made := "", false
	for k, n := range slices.Backward(p.open) {
		s := p.spans[n]
		if s.Start < from {
			break
		}
		if s.End > to {
			continue
		}
		if !made {
			pointer, made = p.pointer(), true
		}
		p.found[n] = pointer
		p.open = slices.Delete(p.open, k, k+1)
	}
}

// pointer returns the pointer of the value that was just left.
func (p *pointers) pointer() string {
	var b strings.Builder
	for _, l := range p.path {
		b.WriteByte('/')
		if l.array {
			b.WriteString(strconv.Itoa(l.index))
		} else {
			b.WriteString(pointerEscaper.Replace(l.key.Str()))
		}
	}
	return b.String()
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")
