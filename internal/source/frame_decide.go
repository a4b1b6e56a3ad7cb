package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"
)

// decide finds the framing and sets pos to where Next looks for the first record.
func (r *Reader) decide() error {
	if r.src.asLines {
		r.framing = FramingLines
		return nil
	}
	if err := r.win.load(0, 3); err != nil {
		return err
	}
	head := r.win.bytes(0, r.win.end())
	switch {
	case bytes.HasPrefix(head, []byte(byteOrderMark)):
		r.pos = 3
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return r.none("starts with a UTF-16 byte order mark")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return r.none("is compressed with gzip")
	}
	nul, start, c, err := r.skip(r.pos, true)
	if err != nil {
		return err
	}
	if start == r.src.size {
		if nul.End > 0 {
			r.framing = FramingLines
		}
		return nil
	}
	if !startsValue(c) {
		return r.sample(document{start: start, scan: Scan{Kind: FaultInvalidJSON}}, false)
	}
	if c == '{' || c == '[' {
		switch doc, err := r.pages(start); {
		case err != nil:
			return err
		case doc != nil:
			doc.nul = nul
			r.framing, r.doc = FramingDocument, doc
			return nil
		}
	}

	text, err := r.win.from(start)
	if err != nil {
		return err
	}
	if bytes.IndexByte(text, '\n') < 0 && r.win.end() < r.src.size {
		// Do not load a line of a gigabyte that is not JSON from its start.
		s := r.scan.Scan(text, 0, Strict)
		if s.Kind == FaultInvalidJSON && text[s.At] != 0 && !documentLike(text) {
			return r.sample(document{start: start, scan: s}, false)
		}
	}
	first, err := r.readLine(start, start, r.src.size)
	if err != nil {
		return err
	}
	text = r.win.bytes(start, first.end)
	s := r.scan.Scan(text, 0, Strict)
	doc := document{
		start:   start,
		nul:     nul,
		scan:    s,
		like:    documentLike(text),
		bracket: first.next > first.end && (c == '[' || c == '{') && SkipBlank(text, 1) == len(text),
	}
	if s.Kind == FaultNone {
		n, whole := 1, false
		at, good := s.End, r.follows(start, text, s.End)
		for good {
			at = SkipBlank(text, at)
			if whole = at == len(text) || text[at] == 0; whole {
				break
			}
			v := r.scan.Scan(text, at, Strict)
			good = v.Kind == FaultNone && r.follows(start, text, v.End)
			at = v.End
			n++
		}
		switch {
		case whole:
			return r.decideByLine(doc, n, start+int64(at))
		case n > 1:
			// The first value is complete, but the line is not.
			if err := r.sample(doc, false); err != nil || r.framing == FramingLines {
				return err
			}
			r.framing, r.reason = FramingValues, ""
			return nil
		}
		doc.scan.fail(FaultInvalidJSON, SkipBlank(text, s.End), wantEnd)
		return r.sample(doc, false)
	}
	if s.Kind == FaultTruncated && first.next < r.src.size {
		return r.decideByDocument(doc)
	}
	return r.decideBroken(doc)
}

// decideByLine decides from a first line of n complete values that end at offset at.
func (r *Reader) decideByLine(doc document, n int, at int64) error {
	_, rest, _, err := r.skip(at, true)
	if err != nil {
		return err
	}
	c := r.win.bytes(doc.start, doc.start+1)[0]
	switch {
	case rest == r.src.size && n == 1:
		r.framing, r.doc = FramingDocument, &doc
	case rest == r.src.size:
		r.framing = FramingValues
	case c == '{' || c == '[':
		r.framing = FramingLines
	default:
		return r.sample(doc, true)
	}
	return nil
}

// decideByDocument decides for a source whose first line ends inside a value.
func (r *Reader) decideByDocument(doc document) error {
	s, err := r.scanFrom(doc.start, AllowNewlines, r.src.size)
	if err != nil {
		return err
	}
	doc.scan = s
	if s.Kind != FaultNone {
		return r.decideBroken(doc)
	}
	_, at, c, err := r.skipMarks(doc.start + int64(s.End))
	switch {
	case err != nil:
		return err
	case at == r.src.size:
		r.framing, r.doc = FramingDocument, &doc
		return nil
	case !startsValue(c):
		doc.scan.fail(FaultInvalidJSON, int(at-doc.start), wantEnd)
		return r.sample(doc, false)
	case s.RawNewline.Count > 0:
		// A torn line is more likely than a document.
		if err := r.sample(doc, false); err != nil || r.framing == FramingLines {
			return err
		}
	}
	r.framing, r.reason, r.doc = FramingValues, "", nil
	return nil
}

// decideBroken decides for a source that does not start with a complete value.
func (r *Reader) decideBroken(doc document) error {
	text := r.win.bytes(doc.start, r.win.end())
	s := doc.scan
	if s.Kind == FaultInvalidJSON && s.At < len(text) && text[s.At] == 0 {
		// A crash can leave NULs in place of the rest.
		_, at, _, err := r.skip(doc.start+int64(s.At), true)
		if err != nil {
			return err
		}
		if at == r.src.size {
			doc.scan = r.scan.Scan(text[:s.At], 0, AllowNewlines)
		}
	}
	if doc.scan.Kind == FaultTruncated {
		// In a source of lines, the value would have ended long before the source.
		if text[0] == '[' {
			r.framing, r.doc = FramingDocument, &doc
			return nil
		}
	}
	return r.sample(doc, false)
}

// sample decides by reading the start of the source as lines. If that fails, the source
// may still be the broken document doc. If scalars is set, lines of scalars are accepted,
// provided that all of them are good.
func (r *Reader) sample(doc document, scalars bool) error {
	if doc.bracket {
		// A log never has a line with only a bracket.
		r.framing, r.doc = FramingDocument, &doc
		return nil
	}
	at := doc.start + int64(doc.scan.At)
	r.win.base, r.win.buf = 0, nil // the window may be large, and lines has its own

	lines := newReader(r.src, r.win.chunk, r.long)
	lines.win.swap, lines.win.text = r.win.swap, r.win.text
	lines.decided, lines.framing, lines.pos = true, FramingLines, r.pos
	var good, bad, scalar int
	for range sampleRecords {
		rec, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch rec.Value.Kind() {
		case Object, Array:
			good++
		case None:
			if rec.unreadable() {
				bad++
			}
		default:
			scalar++
		}
		if lines.pos > doc.start+sampleBytes {
			break
		}
	}
	switch {
	case good > 0 && bad <= good, scalars && bad == 0:
		r.framing = FramingLines
		r.win = lines.win
		return nil
	case doc.like:
		r.framing, r.doc = FramingDocument, &doc
		return nil
	}
	if n := good + scalar; n > 0 {
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		return r.none(fmt.Sprintf("invalid JSON: only %d of the first %d lines %s valid", n, n+bad, verb))
	}
	head := make([]byte, min(utf8.UTFMax, r.src.size-at))
	if err := r.src.readFull(head, at); err != nil {
		return err
	}
	if len(head) == 0 {
		return r.none("invalid JSON: unexpected end of input, expected " + doc.scan.Want)
	}
	what := fmt.Sprintf("byte 0x%02x", head[0])
	if c, n := utf8.DecodeRune(head); unicode.IsPrint(c) && (c != utf8.RuneError || n > 1) {
		what = fmt.Sprintf("character %q", c)
	} else if c == '\n' || c == '\r' {
		what = "line end"
	}
	return r.none(fmt.Sprintf("invalid JSON: unexpected %s at byte %d", what, at+1))
}

func (r *Reader) none(reason string) error {
	r.framing, r.reason = FramingNone, reason
	return nil
}

// unreadable reports whether a fault makes the record unreadable. It returns false for a
// record of NULs, which has no value either.
func (r Record) unreadable() bool {
	return slices.ContainsFunc(r.Faults, Fault.Unreadable)
}

// documentLike reports whether text starts like a JSON document. Text such as `[INFO]`
// and `{{ name }}` does not. A NUL counts as the end of the text.
func documentLike(text []byte) bool {
	i := SkipBlank(text, 1)
	end := i >= len(text) || text[i] == 0
	if text[0] == '{' {
		return end || bytes.IndexByte([]byte(`"}'`), text[i]) >= 0 || unicode.IsLetter(rune(text[i]))
	}
	if text[0] != '[' {
		return false
	}
	if end || bytes.IndexByte([]byte(`{["]`), text[i]) >= 0 {
		return true
	}
	s := new(portable).Scan(text, i, Strict)
	if s.Kind != FaultNone {
		return false
	}
	i = SkipBlank(text, s.End)
	return i < len(text) && text[i] == ','
}

// startsValue reports whether a JSON value can start with c.
func startsValue(c byte) bool {
	switch c {
	case '{', '[', '"', '-', 't', 'f', 'n':
		return true
	}
	return c-'0' < 10
}
