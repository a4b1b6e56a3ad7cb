// Package unfold makes values of what stands in another form, as JSON in strings
// does, and knows where in the source each byte of them comes from. It knows no
// dialects.
package unfold

import "github.com/toolguard/toolguard/internal/source"

// An Unfolded is a JSON value that was put together out of what a record holds
// in another form: JSON text in strings, lists that are spread over members with
// numbers in their names. Its spans are places in a text of its own; Origin
// says where in the source that stands.
type Unfolded struct {
	text    []byte
	pieces  pieces
	origins []origin
	scanner source.Scanner
}

// An origin is where the values of pieces stand, unless it is the source, or the
// string of which one was decoded.
type origin struct {
	in  *Unfolded // nil for the source
	raw []byte    // the string as it is written; nil for pieces that are not decoded
	// offset maps a place in the decoded text to one inside the string; nil until
	// it is asked for.
	offset func(int) int
}

// Value returns what was put together.
func (u *Unfolded) Value() source.Value { return source.NewValue(u.text, 0) }

// Bytes returns what stands at a span of the text, as much of it as there is.
func (u *Unfolded) Bytes(s source.Span) []byte {
	end := min(max(s.Start, s.End), int64(len(u.text)))
	return u.text[min(max(0, s.Start), end):end]
}

// Reserve makes room for so many bytes more. What is never filled of a large text
// takes no memory.
func (u *Unfolded) Reserve(n int) {
	if cap(u.text)-len(u.text) < n {
		u.text = append(make([]byte, 0, len(u.text)+max(n, len(u.text)/4)), u.text...)
	}
}

// Make appends JSON that is not in the source, written on account of a value.
func (u *Unfolded) Make(text string, from source.Value, in *Unfolded) {
	if text == "" {
		return
	}
	u.add(pieceMade, []byte(text), from, in)
}

// Copy appends a value as it stands in the source, or in another unfolded text.
func (u *Unfolded) Copy(v source.Value, in *Unfolded) { u.add(pieceCopied, v.Raw(), v, in) }

// Decode appends the list or the object that a string holds as JSON text, which
// may be a string of such a text again. It returns false, and appends nothing,
// when the string holds none.
func (u *Unfolded) Decode(v source.Value, in *Unfolded) bool {
	if v.Kind() != source.String || len(v.Raw()) < 4 {
		return false
	}
	inner := v.Raw()[1 : len(v.Raw())-1]
	// The first byte tells of most strings that they are only text. An escape
	// can stand for any.
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

func (u *Unfolded) add(kind pieceKind, text []byte, from source.Value, in *Unfolded) {
	p := piece{at: len(u.text), kind: kind, from: from.Span()}
	switch last := len(u.origins); {
	case kind == pieceDecoded:
		u.origins = append(u.origins, origin{in: in, raw: from.Raw()})
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

// Len returns how long the text is so far.
func (u *Unfolded) Len() int { return len(u.text) }

// Since returns the value that was appended from a length on.
func (u *Unfolded) Since(n int) source.Value {
	if n == len(u.text) {
		return source.Value{}
	}
	return source.NewValue(u.text[n:], int64(n))
}

// Cut takes away what was appended from a length on.
func (u *Unfolded) Cut(n int) {
	u.text = u.text[:n]
	u.pieces.cut(n)
}

// Origin returns where in the source that stands which a span of the text was
// made of. Of what was put together out of several values that do not stand in
// that order, it is the first.
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

// origin returns where the part of a span stands that is in a piece.
func (u *Unfolded) origin(p piece, s source.Span) source.Span {
	var o *origin
	if p.origin > 0 {
		o = &u.origins[p.origin-1]
	}
	from, to := max(0, int(s.Start)-p.at), min(int(s.End), p.end, len(u.text))-p.at
	out := p.from
	switch p.kind {
	case pieceCopied:
		out = source.Span{Start: out.Start + int64(from), End: out.Start + int64(max(from, to))}
	case pieceDecoded:
		if o.offset == nil {
			o.offset = source.EscapedOffset(o.raw[1 : len(o.raw)-1])
		}
		start := out.Start + 1 + int64(o.offset(from))
		out = source.Span{Start: start, End: max(start, out.Start+1+int64(o.offset(to)))}
	case pieceMade:
	}
	if o != nil && o.in != nil {
		return o.in.Origin(out)
	}
	return out
}
