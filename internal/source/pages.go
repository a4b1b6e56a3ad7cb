package source

import (
	"fmt"
)

const (
	// heldDocument is the size of the largest document that is held in memory. A longer
	// one is read through a window.
	heldDocument = 4 << 20
	// held/windowPart bytes are read at a time. A value of held/largePart bytes is large:
	// its end is recorded, so it can be skipped.
	windowPart = 16
	largePart  = 64
)

// SetWindow sets how many bytes of a document may be held in memory. A longer document is
// read through a window, even if the source itself is in memory. It is for callers with
// little memory and for tests.
func (s *Source) SetWindow(held int64) { s.held, s.text = held, nil }

// A pages is a document that is only partly in memory. It has been scanned once from
// start to end.
type pages struct {
	src   *Source
	base  int64 // the offset of the document
	chunk int64 // how many bytes are read at a time
	large ends  // the ends of the large values, relative to base
}

// pages returns the document that starts at start if it is too long to be held.
// Otherwise, and if the document has a fault, it returns nil.
func (r *Reader) pages(start int64) (*document, error) {
	held := r.src.held
	if held == 0 {
		held = heldDocument
	}
	if r.src.size-start <= held || r.win.text != nil {
		return nil, nil
	}
	p := &pages{src: r.src, base: start, chunk: max(held/windowPart, 2)}
	head, err := r.win.from(start)
	if err != nil {
		return nil, err
	}
	r.src.progress.twice()
	s, err := p.scan(head, int(max(held/largePart, 2)))
	if err != nil || s.Kind != FaultNone || int64(s.End) <= held {
		r.src.progress.once()
		return nil, err
	}
	nul, rest, _, err := r.skip(start+int64(s.End), true)
	if err != nil || nul.End > 0 || rest < r.src.size {
		r.src.progress.once()
		return nil, err
	}
	r.src.progress.again()
	return &document{start: start, scan: s, pages: p}, nil
}

// scan scans the value at base once. head is the part of it that is in memory. scan keeps
// only the bytes that it has not finished scanning.
func (p *pages) scan(head []byte, least int) (Scan, error) {
	scan := newScanner(p.src)
	scan.remember(least, p)
	at, text := p.base, head
	s := scan.Scan(text, 0, AllowNewlines)
	f := newFollower(p.src, at+int64(len(text)), p.chunk)
	defer f.finish()
	for s.Kind == FaultTruncated {
		end := at + int64(len(text))
		if end == p.src.size {
			break
		}
		if end-p.base > maxRecord {
			return s, fmt.Errorf("%s: the record at byte %d is longer than %d bytes", p.src.name, p.base, maxRecord)
		}
		n := s.next
		at += int64(n)
		s.slide(n)
		var err error
		if text, err = f.behind(text[n:]); err != nil {
			return s, err
		}
		s = scan.Resume(text, s)
	}
	s.slide(int(p.base - at))
	if s.Kind == FaultNone {
		p.large = *s.ends
		s.ends = nil
	}
	return s, nil
}

// slide adjusts the scan to a text without its first n bytes.
func (s *Scan) slide(n int) {
	s.Start, s.End, s.At, s.next, s.look = s.Start-n, s.End-n, s.At-n, s.next-n, s.look-n
	for _, f := range []*Flaw{&s.InvalidUTF8, &s.LoneSurrogate, &s.RawNewline} {
		f.Start, f.End, f.seen = f.Start-n, f.End-n, f.seen-n
	}
	s.ends.shift += n
}

// root returns the value of the document.
func (p *pages) root(s Scan) (Value, error) {
	at := Span{p.base + int64(s.Start), p.base + int64(s.End)}
	first := make([]byte, 1)
	err := p.src.readFull(first, at.Start)
	return p.value(first[0], at), err
}

// value returns the value at a span. Its first byte is in memory, and the rest is read on
// demand.
func (p *pages) value(first byte, at Span) Value {
	v := Value{text: brackets[first], base: at.Start, to: int(at.Len()), ends: &p.large, turn: p.large.turn}
	v.inner = p.large.find(v.turn, int(at.Start-p.base)+1)
	return v
}

// isLarge reports whether the span is a recorded large value.
func (p *pages) isLarge(at Span) bool {
	start := int(at.Start - p.base)
	end, _ := p.large.at(p.large.turn, start, p.large.find(p.large.turn, start))
	return end > 0 && p.base+int64(end) == at.End
}

// brackets maps the first byte of a string or container to a text of that byte.
var brackets = [256][]byte{'"': {'"'}, '[': {'['}, '{': {'{'}}

// Outside reports whether only the first byte of the value is in memory.
func (v Value) Outside() bool { return v.to > len(v.text) }

// Held returns the value with all of its bytes in memory.
func (v Value) Held() Value {
	if !v.Outside() {
		return v
	}
	text := v.ends.pages.read(nil, v.Span())
	if text == nil {
		return Value{}
	}
	scan := newScanner(v.ends.pages.src)
	scan.remember(longValue, v.ends.pages)
	s := scan.Scan(text, 0, AllowNewlines)
	if s.Kind != FaultNone || s.End != len(text) {
		v.ends.pages.changed()
		return Value{}
	}
	return s.value(text, v.base)
}

// Light returns the value without its bytes if they can be read again. Keeping a light
// value of a document that is read through a window does not keep the document in memory.
func (v Value) Light() Value {
	if v.ends == nil || v.ends.pages == nil || v.Outside() || v.to-v.from < longValue || brackets[v.text[v.from]] == nil {
		return v
	}
	return v.ends.pages.value(v.text[v.from], v.Span())
}

// Head returns the first n elements of an array that is not in memory as a new array that
// has no place in the source. It returns any other value unchanged.
func (v Value) Head(n int) Value {
	if !v.Outside() || v.Kind() != Array {
		return v
	}
	text := []byte{'['}
	for i, e := range v.Elements() {
		if i == n {
			break
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, e.Raw()...)
	}
	return NewValue(append(text, ']'), v.base)
}

// read returns the bytes of a span, or nil if they can no longer be read. It uses the
// buffer into if that is large enough.
func (p *pages) read(into []byte, at Span) []byte {
	text, err := p.src.Into(into, at)
	if err != nil {
		p.src.fail(err)
		return nil
	}
	return text
}

// changed ends reading a document that has changed since it was scanned.
func (p *pages) changed() {
	p.src.fail(fmt.Errorf("%s: changed while it was read", p.src.name))
}

// walk yields the keys and values of a container that is not in memory. Elements of
// arrays have no keys.
func (v Value) walk(yield func(key, val Value) bool) {
	for c := v.cursor(); c.next(); {
		if !yield(c.key, c.val) {
			return
		}
	}
}

// A cursor iterates over the values of a container that is not in memory.
type cursor struct {
	*pages
	scan   Scanner
	text   []byte // the bytes from base on, which values may keep
	base   int64
	at     int64
	end    int64 // the end of the container
	object bool
	begun  bool
	long   uint32 // the index of the next large value
	// passing is set if each value is needed only until the next one is read, or for as
	// long as swap keeps its buffer.
	passing bool
	swap    swap
	// key and val are the current key and value. Only objects have keys.
	key, val Value
}

// cursor returns a cursor before the first value of a container.
func (v Value) cursor() *cursor {
	p := v.ends.pages
	c := &cursor{
		pages: p, scan: NewScanner(), at: v.base + 1, end: v.base + int64(v.to),
		object: v.Kind() == Object, long: v.inner,
	}
	c.scan.remember(longValue, p)
	return c
}

// next advances to the next value and reports whether there is one.
func (c *cursor) next() bool {
	if c.begun {
		if c.skip() != ',' {
			return false
		}
		c.at++
	}
	c.begun = true
	if b := c.skip(); b == 0 || b == '}' || b == ']' {
		return false
	}
	if c.object {
		if c.key = c.read(); c.key.Kind() != String || c.skip() != ':' {
			return false
		}
		c.at++
	}
	first := c.skip()
	end, behind := c.large.at(c.large.turn, int(c.at-c.pages.base), c.long)
	if c.long = behind; end > 0 && brackets[first] != nil {
		c.val = c.value(first, Span{c.at, c.pages.base + int64(end)})
		c.at = c.val.Span().End
	} else {
		c.val = c.read()
	}
	return c.val.Exists()
}

// load reads n bytes at the cursor, or all that are left, and reports whether it
// succeeded.
func (c *cursor) load(n int64) bool {
	into, ok := []byte(nil), true
	if c.passing {
		into, ok = c.swap.next(c.text)
	}
	if !ok {
		return false
	}
	c.text, c.base = c.pages.read(into, Span{c.at, min(c.at+n, c.end)}), c.at
	return c.text != nil
}

// skip skips blanks and returns the byte after them, or 0 if there is none.
func (c *cursor) skip() byte {
	for c.at < c.end {
		if c.at < c.base || c.at >= c.base+int64(len(c.text)) {
			if !c.load(c.chunk) {
				return 0
			}
		}
		i := SkipBlank(c.text, int(c.at-c.base))
		if c.at = c.base + int64(i); i < len(c.text) {
			return c.text[i]
		}
	}
	return 0
}

// read returns the value at the cursor and moves the cursor behind it.
func (c *cursor) read() Value {
	for {
		from := int(c.at - c.base)
		all := c.base+int64(len(c.text)) == c.end
		s := c.scan.Scan(c.text, from, AllowNewlines)
		switch {
		case s.Kind == FaultNone && (all || s.End < len(c.text)):
			c.at = c.base + int64(s.End)
			return s.value(c.text, c.base)
		case all, s.Kind != FaultTruncated && s.Kind != FaultNone:
			c.changed()
			return Value{}
		}
		if !c.load(max(c.chunk, 2*int64(len(c.text)-from))) {
			return Value{}
		}
	}
}
