// Package unfold builds values from data in another form, such as JSON in strings, and
// maps each of their bytes back to the source. It knows no dialects.
package unfold

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/source"
)

// An Unfolded is a JSON value that was assembled from data in another form: JSON text in
// strings, or arrays spread over fields with numbered keys. Its spans refer to its own
// text. Origin maps them to the source.
type Unfolded struct {
	text    []byte
	pieces  pieces
	origins []origin
	scanner source.Scanner
}

// An origin is where the values of pieces come from if that is not the source: another
// Unfolded, or a string that was decoded.
type origin struct {
	in  *Unfolded   // nil for the source
	raw []byte      // the raw string; nil for pieces that were not decoded
	at  source.Span // of the raw string, in in
	// offset maps an offset in the decoded text to one inside the string. It is nil until
	// it is needed.
	offset func(int) int
}

// Value returns the assembled value.
func (u *Unfolded) Value() source.Value { return source.NewValue(u.text, 0) }

// Bytes returns the bytes of a span of the text, clipped to the text.
func (u *Unfolded) Bytes(s source.Span) []byte {
	end := min(max(s.Start, s.End), int64(len(u.text)))
	return u.text[min(max(0, s.Start), end):end]
}

// Source returns the text as a source of its own.
func (u *Unfolded) Source() *source.Source { return source.FromBytes("", u.text) }

// Reserve allocates space for n more bytes. Unused pages of a large buffer take no memory.
func (u *Unfolded) Reserve(n int) {
	if cap(u.text)-len(u.text) < n {
		u.text = append(make([]byte, 0, len(u.text)+max(n, len(u.text)/4)), u.text...)
	}
}

// Decoded yields the spans of the strings of the source whose text was read as JSON.
func (u *Unfolded) Decoded() iter.Seq[source.Span] {
	return func(yield func(source.Span) bool) {
		for _, o := range u.origins {
			at := o.at
			if o.in != nil {
				for inner := range o.in.Decoded() {
					if !yield(inner) {
						return
					}
				}
				at = o.in.Origin(at)
			}
			if o.raw != nil && !yield(at) {
				return
			}
		}
	}
}

// Editable reports whether Fold can make edits of the text in the source: the whole text is that of
// one string of the source, encoded once, and its characters can be written back.
func (u *Unfolded) Editable() bool {
	p, _ := u.pieces.find(0)
	return len(u.pieces.blocks) == 1 && u.pieces.n == 1 && p.kind == pieceDecoded && u.origins[0].in == nil &&
		utf8.Valid(u.text) && !bytes.ContainsRune(u.text, utf8.RuneError)
}

// Fold returns edits of the text of an Editable, in order, as edits of the source, and the span of the
// string that they are in. It returns false if they would write another text.
func (u *Unfolded) Fold(spans []source.Span, texts [][]byte) ([]source.Span, [][]byte, source.Span, bool) {
	o := u.origins[0]
	ascii := !slices.ContainsFunc(o.raw, func(b byte) bool { return b >= utf8.RuneSelf })
	outer, escaped := make([]source.Span, len(spans)), make([][]byte, len(texts))
	var want, raw []byte
	done, doneRaw := int64(0), o.at.Start
	for i, s := range spans {
		outer[i], escaped[i] = u.within(piece{from: o.at, kind: pieceDecoded, origin: 1, end: len(u.text)}, s), escape(texts[i], ascii)
		want = append(append(want, u.text[done:s.Start]...), texts[i]...)
		raw = append(append(raw, o.raw[doneRaw-o.at.Start:outer[i].Start-o.at.Start]...), escaped[i]...)
		done, doneRaw = s.End, outer[i].End
	}
	want, raw = append(want, u.text[done:]...), append(raw, o.raw[doneRaw-o.at.Start:]...)
	if !bytes.Equal(source.AppendUnescaped(nil, raw[1:len(raw)-1]), want) {
		return nil, nil, source.Span{}, false
	}
	return outer, escaped, o.at, true
}

// escape writes a text as a part of a JSON string.
func escape(text []byte, ascii bool) []byte {
	out := make([]byte, 0, len(text)+len(text)/4)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		at := strings.IndexRune("\"\\\b\f\n\r\t", r)
		switch high, low := utf16.EncodeRune(r); {
		case at >= 0:
			out = append(out, '\\', `"\bfnrt`[at])
		case ascii && high != utf8.RuneError:
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		case r < ' ', ascii && r >= utf8.RuneSelf:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

// Make appends JSON that is not in the source. from is the value it was made for.
func (u *Unfolded) Make(text string, from source.Value, in *Unfolded) {
	if text == "" {
		return
	}
	u.add(pieceMade, []byte(text), from, in)
}

// Next begins the next element of an array or field of an object, with a comma unless it is the first.
func (u *Unfolded) Next(from source.Value, in *Unfolded) { u.Make(u.comma(), from, in) }

// Field begins the next field of an object.
func (u *Unfolded) Field(key string, from source.Value, in *Unfolded) {
	u.Make(u.comma()+source.Quote(key)+":", from, in)
}

// comma returns what is between the text and a further element or field.
func (u *Unfolded) comma() string {
	if n := len(u.text); n == 0 || u.text[n-1] == '[' || u.text[n-1] == '{' {
		return ""
	}
	return ","
}

// Copy appends a value unchanged from the source or from another Unfolded.
func (u *Unfolded) Copy(v source.Value, in *Unfolded) { u.add(pieceCopied, v.Raw(), v, in) }

// Decode appends the array or object that a string holds as JSON text, possibly encoded
// several times. If there is none, it returns false and appends nothing.
func (u *Unfolded) Decode(v source.Value, in *Unfolded) bool {
	if v.Kind() != source.String || len(v.Raw()) < 4 {
		return false
	}
	inner := v.Raw()[1 : len(v.Raw())-1]
	// The first byte shows that most strings are plain text. An escape can be any
	// character.
	if at := source.SkipBlank(inner, 0); at == len(inner) || inner[at] != '[' && inner[at] != '{' && inner[at] != '\\' {
		return false
	}
	before := len(u.text)
	u.Reserve(len(inner))
	u.text = source.AppendUnescaped(u.text, inner)
	text := u.text[before:]
	u.text = u.text[:before]
	at := source.SkipBlank(text, 0)
	if at < len(text) && (text[at] == '[' || text[at] == '{') && u.valid(text) {
		u.add(pieceDecoded, text, v, in)
		return true
	}
	if at == len(text) || text[at] != '"' || !u.valid(text) {
		return false
	}
	again := &Unfolded{scanner: u.scanner}
	again.add(pieceDecoded, text, v, in)
	return u.Decode(again.Value(), again)
}

func (u *Unfolded) valid(text []byte) bool {
	if u.scanner == nil {
		u.scanner = source.NewScanner()
	}
	s := u.scanner.Scan(text, 0, source.Strict)
	return s.Kind == source.FaultNone && source.SkipBlank(text, s.End) == len(text)
}

// Put appends text that stands for the span at of the source.
func (u *Unfolded) Put(text string, at source.Span) { u.put(pieceMade, text, at) }

// Take appends text that is the span at of the source.
func (u *Unfolded) Take(text string, at source.Span) { u.put(pieceCopied, text, at) }

// Pack appends text that the span at of the source holds in a form that nobody reads, such as base64.
func (u *Unfolded) Pack(text string, at source.Span) { u.put(piecePacked, text, at) }

func (u *Unfolded) put(kind pieceKind, text string, at source.Span) {
	u.pieces.add(piece{at: len(u.text), kind: kind, from: at})
	u.text = append(u.text, text...)
}

// Unpack appends the array or object that a string holds as base64 of JSON text. Each line of the
// base64 stands for what is written in it. If there is none, Unpack returns false and appends nothing.
func (u *Unfolded) Unpack(v source.Value, in *Unfolded) bool {
	if v.Kind() != source.String {
		return false
	}
	start := v.Span().Start
	var digits []byte
	var ends []int          // of the digits of each line
	var lines []source.Span // of the lines, in what the string is in
	raw := v.Raw()
	for at := 1; at < len(raw)-1; {
		end := len(raw) - 1
		if n := bytes.Index(raw[at:end], []byte(`\n`)); n >= 0 {
			end = at + n
		}
		digits = source.AppendUnescaped(digits, raw[at:end])
		ends, lines = append(ends, len(digits)), append(lines, source.Span{Start: start + int64(at), End: start + int64(end)})
		at = end + len(`\n`)
	}
	text, err := base64.StdEncoding.DecodeString(string(digits))
	if at := source.SkipBlank(text, 0); err != nil || at == len(text) || text[at] != '[' && text[at] != '{' || !u.valid(text) {
		return false
	}
	for i, end := range Base64Lines(text, ends) {
		if end[1] > end[0] {
			u.add(piecePacked, text[end[0]:end[1]], v.Part(lines[i]), in)
		}
	}
	return true
}

// Base64Lines returns where the parts of a text begin and end that lines of base64 stand for.
// ends[i] is the number of digits in the lines up to i. No part begins inside a character.
func Base64Lines(text []byte, ends []int) [][2]int {
	out := make([][2]int, len(ends))
	done := 0
	for i, n := range ends {
		end := len(text)
		if i < len(ends)-1 {
			end = max(done, min(n*3/4, end))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end++
			}
		}
		out[i] = [2]int{done, end}
		done = end
	}
	return out
}

// Packed reports whether a span of the text comes from a span of the source that nobody can read.
func (u *Unfolded) Packed(s source.Span) bool {
	p, known := u.pieces.find(s.Start)
	if known && p.kind != piecePacked && p.origin > 0 && u.origins[p.origin-1].in != nil {
		return u.origins[p.origin-1].in.Packed(u.within(p, s))
	}
	return known && p.kind == piecePacked
}

func (u *Unfolded) add(kind pieceKind, text []byte, from source.Value, in *Unfolded) {
	p := piece{at: len(u.text), kind: kind, from: from.Span()}
	switch last := len(u.origins); {
	case kind == pieceDecoded:
		u.origins = append(u.origins, origin{in: in, raw: from.Raw(), at: from.Span()})
		p.origin = last + 1
	case in == nil:
	case last > 0 && u.origins[last-1].in == in && u.origins[last-1].raw == nil:
		p.origin = last
	default:
		u.origins = append(u.origins, origin{in: in})
		p.origin = last + 1
	}
	u.pieces.add(p)
	u.text = append(u.text, text...)
}

// Len returns the length of the text.
func (u *Unfolded) Len() int { return len(u.text) }

// Since returns the value that was appended from offset n on.
func (u *Unfolded) Since(n int) source.Value {
	if n == len(u.text) {
		return source.Value{}
	}
	return source.NewValue(u.text[n:], int64(n))
}

// Cut removes everything that was appended from offset n on.
func (u *Unfolded) Cut(n int) {
	u.text = u.text[:n]
	u.pieces.cut(n)
}

// Origin returns the span in the source that a span of the text comes from. If the text
// was assembled from values in another order, it is the span of the first one.
func (u *Unfolded) Origin(s source.Span) source.Span {
	first, known := u.pieces.find(s.Start)
	if !known {
		return source.Span{}
	}
	from := u.origin(first, s)
	if last, _ := u.pieces.find(max(s.Start, s.End-1)); last.at != first.at {
		if to := u.origin(last, s); to.End > from.Start {
			return source.Span{Start: from.Start, End: to.End}
		}
	}
	return from
}

// origin returns the origin of the part of s that is in piece p.
func (u *Unfolded) origin(p piece, s source.Span) source.Span {
	out := u.within(p, s)
	if p.origin > 0 && u.origins[p.origin-1].in != nil {
		return u.origins[p.origin-1].in.Origin(out)
	}
	return out
}

// within returns the span that the part of s in piece p comes from, in what the piece comes from.
func (u *Unfolded) within(p piece, s source.Span) source.Span {
	from, to := max(0, int(s.Start)-p.at), min(int(s.End), p.end, len(u.text))-p.at
	out := p.from
	switch p.kind {
	case pieceCopied:
		out = source.Span{Start: out.Start + int64(from), End: out.Start + int64(max(from, to))}
	case pieceDecoded:
		o := &u.origins[p.origin-1]
		if o.offset == nil {
			o.offset = source.EscapedOffset(o.raw[1 : len(o.raw)-1])
		}
		start := out.Start + 1 + int64(o.offset(from))
		out = source.Span{Start: start, End: max(start, out.Start+1+int64(o.offset(to)))}
	case pieceMade, piecePacked:
	}
	return out
}
