package redact

import (
	"bytes"
	"encoding/json"
	"io"
)

// mostHeld is how many bytes of a string are in memory at once. Of a longer string, only the hash
// and the length are known.
const mostHeld = 4 << 10

// pageSize is how many bytes of a source are read at once.
const pageSize = 64 << 10

// An input is JSON to be redacted: a part of a source, or the text of a string of the source.
type input struct {
	page    []byte // the bytes from at on that are in memory
	at, end int64
	// src is the source, nil for the text of a string. Then raw is the string as it is written in
	// the source, where it begins at base, and where maps offsets of the text to it. Of a source,
	// buf has what was read last, from the offset from on.
	src   io.ReaderAt
	buf   []byte
	from  int64
	err   error
	raw   []byte
	base  int64
	where func(int) int
}

// more reports whether there is another byte, which is then in page.
func (in *input) more() bool {
	if in.at >= in.end || in.err != nil {
		return false
	}
	if len(in.page) == 0 {
		if in.src == nil {
			return false
		}
		if in.buf == nil {
			in.buf = make([]byte, 0, pageSize)
		}
		n, err := in.src.ReadAt(in.buf[:pageSize], in.at)
		if n == 0 && err == nil || err == io.EOF && n == 0 {
			err = io.ErrUnexpectedEOF
		}
		in.buf, in.from = in.buf[:n], in.at
		if n == 0 {
			in.err = err
			return false
		}
		in.seek(in.at, in.end)
	}
	return true
}

// seek moves to an offset of a source.
func (in *input) seek(at, end int64) {
	in.at, in.end, in.page = at, end, nil
	if n := at - in.from; n >= 0 && n < int64(len(in.buf)) {
		in.page = in.buf[n:min(int64(len(in.buf)), end-in.from)]
	}
}

// skip moves over n bytes of the page.
func (in *input) skip(n int) {
	in.page = in.page[n:]
	in.at += int64(n)
}

// offset returns the offset of the next byte in the source.
func (in *input) offset() int64 {
	if in.src != nil {
		return in.at
	}
	return in.base + int64(in.where(int(in.at)))
}

// copy writes the next n bytes of the page as they are written in the source.
func (in *input) copy(out *output, n int) {
	if in.src != nil {
		out.write(in.page[:n])
	} else {
		out.write(in.raw[in.where(int(in.at)):in.where(int(in.at)+n)])
	}
	in.skip(n)
}

// A scalar is a string, without its quotes, or a number.
type scalar struct {
	start, end int64  // in the source
	head       []byte // the text: all of it unless it is long
	long       bool
	sum        sum    // of a long text
	tail       []byte // of a long text
	closed     bool
	breaks     []lineBreak
}

// A lineBreak is a line feed or a carriage return in a string.
type lineBreak struct {
	at   int64
	char byte
}

// size returns the length in the source.
func (t *scalar) size() int64 { return t.end - t.start }

// mostTail is what is kept of the end of a long text, by which readers see that it is in tags.
const mostTail = 256

// take reads a token up to the end that find returns, or -1 if it is not on the page. hash adds
// the text of a long one.
func (in *input) take(r *redactor, find func(page []byte) int) (t scalar) {
	t.start = in.offset()
	r.head = r.head[:0]
	for in.more() {
		n := find(in.page)
		t.closed = n >= 0
		if n < 0 {
			n = len(in.page)
		}
		piece := in.page[:n]
		for from := 0; ; {
			i := lineBreakIn(piece[from:])
			if i < 0 {
				break
			}
			t.breaks = append(t.breaks, lineBreak{in.offset() + int64(from+i), piece[from+i]})
			from += i + 1
		}
		switch {
		case in.src == nil, !t.long && len(r.head) == 0 && t.closed && n <= mostHeld:
			t.head = piece // what usually happens
			in.skip(n)
			t.end = in.offset()
			return t
		case !t.long && len(r.head)+n <= mostHeld:
			r.head = append(r.head, piece...)
		default:
			if !t.long {
				t.long = true
				r.begin(text)
				r.mac.Write(r.head)
				t.tail = append(t.tail, r.head...)
				r.head = append(r.head, piece[:min(n, mostHeld-len(r.head))]...)
			}
			r.mac.Write(piece)
			t.tail = append(t.tail, piece[max(0, len(piece)-mostTail):]...)
			t.tail = t.tail[max(0, len(t.tail)-mostTail):]
		}
		in.skip(n)
		if t.closed {
			break
		}
	}
	t.head, t.end = r.head, in.offset()
	if t.long {
		t.sum = r.finish()
	}
	return t
}

// lineBreakIn returns the offset of the first line feed or carriage return, -1 if there is none.
func lineBreakIn(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

// text reads the text of a string up to the quote.
func (in *input) text(r *redactor) scalar {
	escaped := false // the page ended with a backslash
	return in.take(r, func(page []byte) int {
		i := 0
		if escaped {
			i, escaped = 1, false
		}
		end := closing(page[i:])
		if escaped = end == -2; end < 0 {
			return -1
		}
		return i + end
	})
}

// closing returns the offset of the quote that ends a string. If there is none, it is -1, or -2 if
// the text ends with a backslash that begins an escape.
func closing(page []byte) int {
	for i := 0; ; {
		rest := page[i:]
		quote := bytes.IndexByte(rest, '"')
		if quote >= 0 {
			rest = rest[:quote]
		}
		slash := bytes.IndexByte(rest, '\\')
		switch {
		case slash < 0 && quote < 0:
			return -1
		case slash < 0:
			return i + quote
		}
		if i += slash + 2; i > len(page) {
			return -2
		}
	}
}

// number reads a number, or what could be the start of one.
func (in *input) number(r *redactor) scalar {
	t := in.take(r, func(page []byte) int {
		for i, c := range page {
			if c-'0' >= 10 && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
				return i
			}
		}
		return -1
	})
	return t
}

// isNumber reports whether a text is a number of JSON.
func isNumber(b []byte) bool { return json.Valid(b) && (b[0] == '-' || b[0]-'0' < 10) }

// An output receives the redacted text of a source. Bytes at the places of faults are set.
type output struct {
	to     io.Writer
	at     int64
	faults []poke // in order, from at on
}

// A poke is a text that is written at an offset, so that the output has the same fault there.
type poke struct {
	at   int64
	text string
}

// write writes text. The writer keeps the error.
func (out *output) write(b []byte) {
	end := out.at + int64(len(b))
	for len(out.faults) > 0 && out.faults[0].at < end {
		p := &out.faults[0]
		if n := p.at - out.at; n > 0 {
			_, _ = out.to.Write(b[:n])
			b, out.at = b[n:], p.at
		}
		n := min(len(p.text), len(b))
		_, _ = io.WriteString(out.to, p.text[:n])
		b, out.at = b[n:], out.at+int64(n)
		p.at, p.text = p.at+int64(n), p.text[n:]
		if p.text != "" {
			return
		}
		out.faults = out.faults[1:]
	}
	_, _ = out.to.Write(b)
	out.at = end
}
