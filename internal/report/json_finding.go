package report

import (
	"math/bits"
	"strconv"
)

// writeFinding writes a finding as encode does, but without reflection, because there may be very many. kind is
// the type of a line of JSONL, "" for none. The result is valid until the next call.
func (e *encoder) writeFinding(kind string, f *jsonFinding) []byte {
	e.out = append(e.out[:0], '{')
	if kind != "" {
		e.text(`"type":`, kind)
		e.out = append(e.out, ',')
	}
	e.text(`"rule":`, f.Rule)
	e.text(`,"category":`, f.Category)
	e.text(`,"severity":`, f.Severity)
	e.text(`,"message":`, f.Message)
	e.text(`,"url":`, f.URL)
	e.text(`,"path":`, f.Path)
	e.known(`,"dialect":`, f.Dialect)
	e.index(`,"conversation":`, f.Conversation)
	e.index(`,"turn":`, f.Turn)
	e.index(`,"index":`, f.Index)
	e.known(`,"place":`, f.Place)
	e.number(`,"record":`, int64(f.Record))
	e.text(`,"pointer":`, f.Pointer)
	e.known(`,"call_id":`, f.CallID)
	e.known(`,"tool":`, f.Tool)
	e.position(`,"start":`, f.Start)
	e.position(`,"end":`, f.End)
	e.known(`,"provider_error":`, f.ProviderError)
	e.known(`,"confidence":`, f.Confidence)
	e.out = append(e.out, `,"related":`...)
	writeList(e, f.Related, func(r *jsonRelated) {
		e.text(`{"message":`, r.Message)
		e.position(`,"start":`, r.Start)
		e.position(`,"end":`, r.End)
	})
	e.text(`,"fingerprint":`, f.Fingerprint)
	e.out = append(e.out, `,"fix":`...)
	if f.Fix == nil {
		e.out = append(e.out, "null"...)
	} else {
		e.text(`{"title":`, f.Fix.Title)
		e.text(`,"class":`, f.Fix.Class)
		e.text(`,"operation":`, f.Fix.Operation)
		e.out = strconv.AppendBool(append(e.out, `,"by_strategy":`...), f.Fix.ByStrategy)
		e.out = append(e.out, `,"edits":`...)
		writeList(e, f.Fix.Edits, func(edit *jsonEdit) {
			e.number(`{"start":`, edit.Start)
			e.number(`,"end":`, edit.End)
			e.text(`,"text":`, edit.Text)
		})
		e.out = append(e.out, '}')
	}
	e.known(`,"unfixed":`, f.Unfixed)
	e.out = append(e.out, '}')
	return e.out
}

// writeList writes a list of objects, of which each writes all but the end.
func writeList[T any](e *encoder, list []T, each func(*T)) {
	if list == nil {
		e.out = append(e.out, "null"...)
		return
	}
	e.out = append(e.out, '[')
	for i := range list {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		each(&list[i])
		e.out = append(e.out, '}')
	}
	e.out = append(e.out, ']')
}

// text writes a key and a string.
func (e *encoder) text(key, s string) {
	e.out = append(e.out, key...)
	from, done := len(e.out), 0
	e.out = append(e.out, '"')
	for i := plainTo(s, 0); i < len(s); i = plainTo(s, i+1) {
		escape := s[i]
		switch escape {
		case '"', '\\':
		case '\n':
			escape = 'n'
		case '\r':
			escape = 'r'
		case '\t':
			escape = 't'
		default: // what it becomes depends on what follows it
			e.out, _ = e.append(e.out[:from], s) // a string can always be encoded
			return
		}
		e.out = append(append(e.out, s[done:i]...), '\\', escape)
		done = i + 1
	}
	e.out = append(append(e.out, s[done:]...), '"')
}

// plainTo returns the index of the first byte of s from i on that is not written as it is, or the length. It
// looks at eight bytes at once: for each, the highest bit of a mask is set if the byte is special. A subtraction
// may also set that of a byte behind the first such byte.
func plainTo(s string, i int) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		t := s[i : i+8]
		x := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		quoted, escaped := x|each^'#'*each, x^'\\'*each // 0 for '"' and '#', and for a backslash
		special := x | (x - ' '*each) | (x + each) | (quoted-each)&^quoted | (escaped-each)&^escaped
		if special &= high; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '#' {
			break
		}
	}
	return i
}

func (e *encoder) known(key string, s *string) {
	if s == nil {
		e.out = append(append(e.out, key...), "null"...)
		return
	}
	e.text(key, *s)
}

func (e *encoder) number(key string, n int64) {
	e.out = strconv.AppendInt(append(e.out, key...), n, 10)
}

func (e *encoder) index(key string, n *int) {
	if n == nil {
		e.out = append(append(e.out, key...), "null"...)
		return
	}
	e.number(key, int64(*n))
}

func (e *encoder) position(key string, p jsonPosition) {
	e.out = append(e.out, key...)
	e.number(`{"offset":`, p.Offset)
	e.number(`,"line":`, int64(p.Line))
	e.number(`,"column":`, int64(p.Column))
	e.out = append(e.out, '}')
}
