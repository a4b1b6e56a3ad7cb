// Package unfold makes values of what stands in another form, as JSON in strings
// does, and knows where in the source each byte of them comes from. It knows no
// dialects.
package unfold

import (
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/source"
)

// An Unfolded is a JSON value that was put together out of what a record holds
// in another form: JSON text in strings, lists that are spread over members with
// numbers in their names. Its spans are places in a text of its own; Origin
// says where in the source that stands.
type Unfolded struct {
	text    []byte
	pieces  []unfoldedPiece
	scanner source.Scanner
}

// An unfoldedPiece is a part of the text that was made of one value.
type unfoldedPiece struct {
	at   int // where it begins; it ends where the next one does
	kind unfoldedKind
	from source.Span // of the value
	in   *Unfolded   // where that value stands; nil for the source
	// text is the string that was decoded; nil for other kinds.
	text *decodedText
}

// A decodedText is a string whose text was decoded.
type decodedText struct {
	raw []byte
	// offset maps a place in the decoded text to one inside the string; nil until
	// it is asked for.
	offset func(int) int
}

type unfoldedKind uint8

const (
	pieceMade    unfoldedKind = iota // written anew, on account of a value
	pieceCopied                      // a value as it stands
	pieceDecoded                     // the text of a string
)

// Value returns what was put together.
func (u *Unfolded) Value() source.Value { return source.NewValue(u.text, 0) }

// Bytes returns what stands at a span of the text, as much of it as there is.
func (u *Unfolded) Bytes(s source.Span) []byte {
	end := min(max(s.Start, s.End), int64(len(u.text)))
	return u.text[min(max(0, s.Start), end):end]
}

// Make appends JSON that is not in the source, written on account of a value.
func (u *Unfolded) Make(text string, from source.Value, in *Unfolded) {
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
	u.add(pieceDecoded, nil, v, in)
	u.text = source.AppendUnescaped(slices.Grow(u.text, len(inner)), inner)
	text := u.text[before:]
	at := source.SkipBlank(text, 0)
	if at < len(text) && (text[at] == '[' || text[at] == '{') && u.valid(text) {
		return true
	}
	u.Cut(before)
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

func (u *Unfolded) add(kind unfoldedKind, text []byte, from source.Value, in *Unfolded) {
	p := unfoldedPiece{at: len(u.text), kind: kind, from: from.Span(), in: in}
	if kind == pieceDecoded {
		p.text = &decodedText{raw: from.Raw()}
	}
	u.pieces = append(u.pieces, p)
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
	for len(u.pieces) > 0 && u.pieces[len(u.pieces)-1].at >= n {
		u.pieces = u.pieces[:len(u.pieces)-1]
	}
}

// Origin returns where in the source that stands which a span of the text was
// made of. Of what was put together out of several values that do not stand in
// that order, it is the first.
func (u *Unfolded) Origin(s source.Span) source.Span {
	if len(u.pieces) == 0 {
		return source.Span{}
	}
	first, last := u.piece(s.Start), u.piece(max(s.Start, s.End-1))
	from := u.origin(first, s)
	if last != first {
		if to := u.origin(last, s); to.End > from.Start {
			return source.Span{Start: from.Start, End: to.End}
		}
	}
	return from
}

// piece returns the index of the piece that holds an offset.
func (u *Unfolded) piece(at int64) int {
	return max(0, sort.Search(len(u.pieces), func(i int) bool { return int64(u.pieces[i].at) > at })-1)
}

// origin returns where the part of a span stands that is in a piece.
func (u *Unfolded) origin(n int, s source.Span) source.Span {
	p := &u.pieces[n]
	end := len(u.text)
	if n+1 < len(u.pieces) {
		end = u.pieces[n+1].at
	}
	from, to := max(0, int(s.Start)-p.at), min(int(s.End), end)-p.at
	out := p.from
	switch p.kind {
	case pieceCopied:
		out = source.Span{Start: out.Start + int64(from), End: out.Start + int64(max(from, to))}
	case pieceDecoded:
		if p.text.offset == nil {
			_, p.text.offset = source.Unescape(p.text.raw[1 : len(p.text.raw)-1])
		}
		start := out.Start + 1 + int64(p.text.offset(from))
		out = source.Span{Start: start, End: max(start, out.Start+1+int64(p.text.offset(to)))}
	case pieceMade:
	}
	if p.in != nil {
		return p.in.Origin(out)
	}
	return out
}
