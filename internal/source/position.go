package source

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Position is a place in a source the way people look it up.
type Position struct {
	// Offset counts bytes from 0, a byte order mark included.
	Offset int64
	// Line and Column count from 1. Columns are bytes from the start of the
	// line.
	Line, Column int
	// Char is the column in characters (code points) instead of bytes.
	Char int
}

// characters counts the characters that begin in part of a text.
func characters(part []byte) int {
	n := 0
	for _, b := range part {
		if b&0xC0 != 0x80 { // no continuation of one
			n++
		}
	}
	return n
}

// Pointers returns for each span the JSON pointer (RFC 6901) from v to the
// innermost value that contains it, or to the member whose key it touches. The
// pointer of what lies outside of v is that of v itself, the empty one.
func Pointers(v Value, spans []Span) []string {
	if v.Outside() {
		return pointersOutside(v, spans)
	}
	p := pointers{text: v.text, base: v.base, spans: spans, found: make([]string, len(spans))}
	for i, s := range spans {
		if v.Span().Contains(s) {
			p.rest = append(p.rest, i)
		}
	}
	// A span that contains another one is behind it: values are left from the
	// inside to the outside.
	slices.SortStableFunc(p.rest, func(a, b int) int { return cmp.Compare(spans[a].Start, spans[b].Start) })
	if v.Exists() && len(p.rest) > 0 {
		p.walk(v.from, v.to)
	}
	return p.found
}

// pointersOutside returns the same of a value that is not in memory.
func pointersOutside(v Value, spans []Span) []string {
	found := make([]string, len(spans))
	if v.Kind() == String {
		return found
	}
	var rest []int // spans in v that are ahead, by their start
	for i, s := range spans {
		if v.Span().Contains(s) {
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
			rest = rest[1:] // it is in none of them
		}
		var in []int
		var of []Span
		// At its end there is a comma, so that what starts there is in no later one.
		for ; len(rest) > 0 && spans[rest[0]].Start <= at.End; rest = rest[1:] {
			if n := rest[0]; at.Contains(spans[n]) {
				in, of = append(in, n), append(of, spans[n])
			}
		}
		if len(in) == 0 {
			return len(rest) > 0
		}
		for i, p := range Pointers(val, of) {
			found[in[i]] = "/" + name + p
		}
		return len(rest) > 0
	})
	return found
}

// pointers looks for spans in one pass over a value's tokens. Depth costs it a
// level of its path, not of the stack.
type pointers struct {
	text  []byte
	base  int64
	spans []Span
	found []string
	rest  []int   // spans still ahead, by their start
	open  []int   // spans that started and are in no value that has ended
	path  []level // the containers around the current token
}

// A level is a container and the member or element it is at.
type level struct {
	start int // where the container stands, or its key if it has one
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

// memberStart returns where the member whose value starts at i starts: at its
// key, if it has one.
func (p *pointers) memberStart(i int) int {
	if len(p.path) > 0 {
		if key := p.path[len(p.path)-1].key; key.Exists() {
			return key.from
		}
	}
	return i
}

// leave gives the spans inside the value [start, end) its pointer: those that
// values within it contain have theirs already.
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
