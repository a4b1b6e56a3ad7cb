package redact

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostHeld is how many characters of a string are in memory at once. A longer string is read
// again each time that something must be known about it, so it needs no more memory than a short
// one. It is more than longestSearch, because filler of shorter texts is searched as a whole.
const mostHeld = 4 << 10

// pageSize is how many bytes of a source are read at once.
const pageSize = 32 << 10

// pages are parts of a source that were read last. Several inputs share them.
type pages struct {
	src  io.ReaderAt
	last [4]page
	next int
	err  error
}

// A page is a part of a source. It never changes, so inputs may keep it.
type page struct {
	at   int64
	text []byte
}

// from returns the bytes of the page at an offset, from there on. There are none if they cannot
// be read.
func (p *pages) from(at int64) []byte {
	start := at - at%pageSize
	for i := range p.last {
		if have := &p.last[i]; have.text != nil && have.at == start {
			return have.text[min(int(at-start), len(have.text)):]
		}
	}
	text := make([]byte, pageSize)
	n, err := p.src.ReadAt(text, start)
	if err != nil && err != io.EOF && p.err == nil {
		p.err = err
	}
	if p.err != nil {
		return nil
	}
	p.last[p.next] = page{start, text[:n]}
	p.next = (p.next + 1) % len(p.last)
	return text[min(int(at-start), n):n]
}

// An input is text to be redacted: the bytes of a source, the characters of a string in memory,
// or those of a string that is decoded while it is read.
type input struct {
	pages   *pages // nil for the characters of a string
	page    []byte // what has been read of the following bytes
	at, end int64  // the offset of the next byte, and the end
	ahead   rune
	size    int // of ahead in bytes, 0 if it has not been read
	// text are the characters of a string, and places their offsets in the source; nil if
	// nobody needs them.
	text   []rune
	places []int64
	long   *decoder // the characters of a string that is not in memory, or nil
}

// mark returns an input that begins where this one is.
func (in *input) mark() input {
	out := *in
	if in.long != nil {
		d := *in.long
		d.outer = d.outer.mark()
		out.long = &d
	}
	return out
}

// peek returns the next character, and false at the end.
func (in *input) peek() (rune, bool) {
	switch {
	case in.long != nil:
		return in.long.peek()
	case in.pages == nil:
		if len(in.text) == 0 {
			return 0, false
		}
		return in.text[0], true
	case in.size > 0:
		return in.ahead, true
	case in.at >= in.end:
		return 0, false
	}
	if len(in.page) == 0 {
		if in.page = in.pages.from(in.at); len(in.page) == 0 {
			return 0, false
		}
	}
	if c := in.page[0]; c < utf8.RuneSelf {
		in.ahead, in.size = rune(c), 1
		return in.ahead, true
	}
	text := in.page
	if !utf8.FullRune(text) { // it can continue on the next page
		if more := in.pages.from(in.at + int64(len(text))); len(more) > 0 {
			text = append(slices.Clip(text), more[:min(len(more), utf8.UTFMax)]...)
		}
	}
	text = text[:min(int64(len(text)), in.end-in.at)]
	in.ahead, in.size = utf8.DecodeRune(text)
	if in.ahead == utf8.RuneError && in.size == 1 {
		in.ahead = notUTF8 - rune(text[0])
	}
	return in.ahead, true
}

// next moves behind the next character.
func (in *input) next() {
	switch {
	case in.long != nil:
		in.long.skip()
	case in.pages == nil:
		in.text = in.text[1:]
		if in.places != nil {
			in.places = in.places[1:]
		}
	default:
		in.at += int64(in.size)
		in.page = in.page[min(in.size, len(in.page)):] // it may end on the next page
		in.size = 0
	}
}

// offset returns the offset of the next character in the source.
func (in *input) offset() int64 {
	switch {
	case in.long != nil:
		if _, more := in.long.peek(); more {
			return in.long.ahead.at
		}
	case in.pages != nil:
		return in.at
	case len(in.places) > 0:
		return in.places[0]
	}
	return -1
}

// count returns how many of the following characters are like this.
func (in *input) count(like func(rune) bool, most int) int {
	at, n := in.mark(), 0
	for r, more := at.peek(); more && n < most && like(r); r, more = at.peek() {
		at.next()
		n++
	}
	return n
}

// take returns the next n characters.
func (in *input) take(n int) []rune {
	out := make([]rune, 0, n)
	for r, more := in.peek(); more && len(out) < n; r, more = in.peek() {
		out = append(out, r)
		in.next()
	}
	return out
}

// copy writes the next n characters as they are.
func (in *input) copy(out *output, n int) {
	for r, more := in.peek(); more && n > 0; r, more = in.peek() {
		out.add(r)
		in.next()
		n--
	}
}

// A form says how a character of a string is written.
type form uint8

const (
	literal form = iota
	short        // an escape of two characters, such as \n
	hexLow       // \u with digits in lower case
	hexHigh      // \u with digits in upper case
	pairLow      // two \u escapes
	pairHigh
	broken // a part of an invalid escape
)

// A character is one of a string.
type character struct {
	at   int64 // the offset in the source
	rune rune
	form form
}

// A decoder reads the characters of a string, without the quotes. An unclosed string ends with
// the text.
type decoder struct {
	outer  input // behind the characters in queue
	closed bool
	ended  bool
	left   int // how many characters are read at most
	// queue are the characters of an escape that has been read, and before it a half of a
	// surrogate pair.
	queue   [8]character
	from, n int
	ahead   character
	has     bool // ahead has been read
}

// peek returns the next character, and false at the end.
func (d *decoder) peek() (rune, bool) {
	if d.left == 0 {
		return 0, false
	}
	if !d.has {
		d.ahead, d.has = d.next()
	}
	return d.ahead.rune, d.has
}

// skip moves behind the character that peek has returned.
func (d *decoder) skip() {
	d.has = false
	d.left--
}

// next reads the next character, which peek has not returned yet.
func (d *decoder) next() (character, bool) {
	if d.from == d.n {
		d.from, d.n = 0, 0
		if c, more := d.outer.peek(); more && !d.ended && c != '"' && c != '\\' {
			out := character{d.outer.offset(), c, literal}
			d.outer.next()
			return out, true
		}
	}
	for !d.ended && (d.from == d.n || d.from+1 == d.n && d.queue[d.from].isHalf()) {
		if d.from > 0 {
			d.queue[0] = d.queue[d.from]
			d.from, d.n = 0, d.n-d.from
		}
		d.read()
	}
	if d.from == d.n {
		return character{}, false
	}
	d.from++
	return d.queue[d.from-1], true
}

// isHalf reports whether a character is the escape of the first half of a surrogate pair.
func (c character) isHalf() bool {
	return 0xD800 <= c.rune && c.rune < 0xDC00 && c.form != literal
}

// add adds a character to the queue.
func (d *decoder) add(r rune, f form, at int64) {
	d.queue[d.n] = character{at, r, f}
	d.n++
}

// read reads a character or an escape into the queue.
func (d *decoder) read() {
	at := d.outer.offset()
	c, more := d.outer.peek()
	if !more {
		d.ended = true
		return
	}
	d.outer.next()
	switch {
	case c == '"':
		d.ended, d.closed = true, true
		return
	case c != '\\':
		d.add(c, literal, at)
		return
	}
	e, more := d.outer.peek()
	i := strings.IndexRune(`"\/bfnrt`, e)
	switch {
	case !more:
		d.add('\\', broken, at)
	case i >= 0:
		d.outer.next()
		d.add(rune("\"\\/\b\f\n\r\t"[i]), short, at)
	case e != 'u':
		d.outer.next()
		d.add('\\', broken, at)
		d.add(unescaping(e), broken, at)
	default:
		d.outer.next()
		d.hex(at)
	}
}

// unescaping returns a character that is in no escape either, like r.
func unescaping(r rune) rune {
	switch {
	case stays(r):
		return r
	case 0 <= r && r < utf8.RuneSelf:
		return 'x'
	}
	return filledLike(r)
}

// hex reads the digits of an escape.
func (d *decoder) hex(at int64) {
	r, f := rune(0), hexLow
	for n := range 4 {
		c, more := d.outer.peek()
		if !more || !isHex(c) {
			d.add('\\', broken, at)
			d.add('u', broken, at)
			for range n {
				d.add('0', broken, at)
			}
			if more && c != '"' && c != '\\' {
				d.outer.next()
				d.add(unescaping(c), broken, at)
			}
			return
		}
		d.outer.next()
		r = r<<4 | digitValue(c)
		if 'A' <= c && c <= 'F' {
			f = hexHigh
		}
	}
	if d.n > d.from && 0xDC00 <= r && r < 0xE000 && d.queue[d.n-1].isHalf() {
		half := &d.queue[d.n-1]
		half.rune = 0x10000 + (half.rune-0xD800)<<10 + (r - 0xDC00)
		half.form = pairLow
		if f == hexHigh {
			half.form = pairHigh
		}
		return
	}
	d.add(r, f, at)
}

func isHex(c rune) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// digitValue returns the value of a hexadecimal digit.
func digitValue(c rune) rune {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

// An output receives redacted text: as the bytes of a source, or as the characters of a string.
type output struct {
	to   *bufio.Writer // nil for the characters of a string
	text []rune        // those of a string in memory
	// outer receives those of a string that is not in memory. They are written as the characters
	// of like, which are those of the original.
	outer *output
	like  *decoder
	set   escapes
	n     int // of the characters written
}

// add writes characters.
func (out *output) add(text ...rune) {
	switch {
	case out.to != nil:
		for _, r := range text {
			if r < 0 {
				_ = out.to.WriteByte(byte(notUTF8 - r)) // Flush reports the error
				continue
			}
			_, _ = out.to.WriteRune(r)
		}
	case out.outer != nil:
		for _, r := range text {
			c, _ := out.like.next() // there are as many characters
			out.outer.write(out.set.rune(c, r, out.n), c.form)
			out.n++
		}
	default:
		out.text = append(out.text, text...)
	}
}

// write writes a character of a string in its form.
func (out *output) write(r rune, f form) {
	switch f {
	case literal, broken:
		out.add(r)
	case short:
		out.add('\\', rune(`"\/bfnrt`[strings.IndexByte("\"\\/\b\f\n\r\t", byte(r))]))
	case hexLow, hexHigh:
		out.escape(r, f == hexHigh)
	case pairLow, pairHigh:
		out.escape(0xD800+(r-0x10000)>>10, f == pairHigh)
		out.escape(0xDC00+(r-0x10000)&0x3FF, f == pairHigh)
	}
}

// escape writes a \u escape.
func (out *output) escape(r rune, high bool) {
	digits := "0123456789abcdef"
	if high {
		digits = "0123456789ABCDEF"
	}
	out.add('\\', 'u', rune(digits[r>>12&15]), rune(digits[r>>8&15]), rune(digits[r>>4&15]), rune(digits[r&15]))
}

// escapes say how the characters of a string are replaced that are written as escapes.
//
// A \u escape is as long as a piece that must not survive, and those of ASCII are much alike. So
// each becomes the escape of an ideograph that the text does not have, unless equal texts must stay
// equal however they are written.
type escapes struct {
	replaced bool          // whether \u escapes become those of ideographs
	had      map[rune]bool // the characters that the string has as \u escapes; nil for none
}

// note notes a character of the string.
func (e *escapes) note(c character) {
	if c.form == hexLow || c.form == hexHigh {
		if e.had == nil {
			e.had = map[rune]bool{}
		}
		e.had[c.rune] = true
	}
}

// rune returns what is written for r, the filler for the character c, which is the nth of its
// string. Invalid escapes stay: they would become valid ones.
func (e *escapes) rune(c character, r rune, n int) rune {
	switch {
	case c.form == broken:
		return c.rune
	case e.replaced && (c.form == hexLow || c.form == hexHigh) && r != c.rune && (r < 0xD800 || r >= 0xE000):
		r = ideograph(r + rune(n))
		for try := 0; try < attempts && e.had[r] || r == c.rune; try++ {
			r = ideograph(r + 1)
		}
	}
	return r
}

// ideograph returns an ideograph for a character.
func ideograph(r rune) rune { return 0x4E00 + r*131%0x5000 }
