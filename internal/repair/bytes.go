package repair

import (
	"bytes"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Bytes returns the fix that an operation on the bytes of a record comes to, in a
// source framed by lines or not; false where it is no such operation. What becomes
// of content is not accounted for where the bytes are no JSON: such a fix is as
// costly as its rule says.
func Bytes(src *transcript.Source, op *operation.Operation) (f edit.Fix, ok bool, err error) {
	w := &window{src: src}
	inside := func(at transcript.Span, edits func([]byte, int64) []edit.Edit) (edit.Fix, bool, error) {
		text, err := src.Bytes(at)
		f.Edits, f.Within = edits(text, at.Start), []transcript.Span{at}
		f.Change = edit.Total(edit.Splice(text, at.Start, f.Edits)).Minus(edit.Total(text))
		return f, len(f.Edits) > 0, err
	}
	switch do := op.Do.(type) {
	case *operation.DropRecord:
		lines := &list{src: w, lines: true}
		lines.remove(do.At)
		f.Edits, f.Gone = lines.compile(), []transcript.Span{do.At}
	case *operation.DropBytes:
		f.Edits = []edit.Edit{{Span: stripped(w, do.At)}}
		if op.Class == operation.Unsafe { // else it is padding
			f.Gone = []transcript.Span{do.At}
		}
	case *operation.EscapeNewlines:
		return inside(do.At, escapeNewlines)
	case *operation.ReplaceBytes:
		f, ok, err = inside(do.At, replaceBytes)
		for _, e := range f.Edits { // bytes in a row are one
			if n := len(f.Gone); n > 0 && f.Gone[n-1].End == e.Span.Start {
				f.Gone[n-1].End = e.Span.End
			} else {
				f.Gone = append(f.Gone, e.Span)
			}
		}
		return f, ok, err
	default:
		return f, false, nil
	}
	for _, e := range f.Edits {
		f.Change = f.Change.Minus(edit.Total([]byte(w.text(e.Span.Start, e.Span.End)))).Plus(edit.Total(e.Text))
	}
	return f, len(f.Edits) > 0, w.err
}

// stripped widens a run of bytes that fills a line by its line end, so that no
// blank line stays behind.
func stripped(w *window, s transcript.Span) transcript.Span {
	before, found := w.at(s.Start - 1)
	if found && before != '\n' {
		return s
	}
	if c, ok := w.at(s.End); ok && c == '\r' {
		if n, ok := w.at(s.End + 1); ok && n == '\n' {
			s.End += 2
		}
	} else if ok && c == '\n' {
		s.End++
	}
	return s
}

// eachString calls f with each string of a JSON text, quotes left out.
func eachString(text []byte, f func(from, to int)) {
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		from := i + 1
		for i++; i < len(text) && text[i] != '"'; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		f(from, min(i, len(text)))
	}
}

// escapeNewlines escapes the line ends inside strings.
func escapeNewlines(text []byte, base int64) (edits []edit.Edit) {
	eachString(text, func(from, to int) {
		for i := from; i < to; i++ {
			esc := ""
			switch text[i] {
			case '\n':
				esc = `\n`
			case '\r':
				esc = `\r`
			default:
				continue
			}
			edits = append(edits, edit.Edit{Span: transcript.Span{Start: base + int64(i), End: base + int64(i) + 1}, Text: []byte(esc)})
		}
	})
	return edits
}

// replaceBytes puts the replacement character in the place of bytes that are
// no UTF-8, and of halves of surrogate pairs.
func replaceBytes(text []byte, base int64) (edits []edit.Edit) {
	put := func(from, to int, with string) {
		edits = append(edits, edit.Edit{Span: transcript.Span{Start: base + int64(from), End: base + int64(to)}, Text: []byte(with)})
	}
	eachString(text, func(from, to int) {
		for i := from; i < to; {
			if text[i] == '\\' {
				n := 2
				if i+1 < to && text[i+1] == 'u' {
					n = 6
					switch half := unit(text, i, to); {
					case half >= 0xD800 && half < 0xDC00:
						if next := unit(text, i+6, to); next >= 0xDC00 && next < 0xE000 {
							n = 12
						} else {
							put(i, i+6, `\ufffd`)
						}
					case half >= 0xDC00 && half < 0xE000:
						put(i, i+6, `\ufffd`)
					}
				}
				i += n
				continue
			}
			if text[i] < utf8.RuneSelf {
				i++
				continue
			}
			r, n := utf8.DecodeRune(text[i:to])
			if r == utf8.RuneError && n == 1 {
				put(i, i+1, "\uFFFD")
			}
			i += n
		}
	})
	return edits
}

// unit returns the code unit of the \u escape at an offset, -1 for none.
func unit(text []byte, i, to int) int {
	if i+6 > to || !bytes.HasPrefix(text[i:], []byte(`\u`)) {
		return -1
	}
	n := 0
	for _, c := range text[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return n
}

// Canonical returns a text with what repairs of bytes would change in it
// changed: two texts that differ only by such repairs become the same.
func Canonical(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 && !bytes.Contains(text, []byte(`\u`)) && utf8.Valid(text) {
		return text
	}
	text = edit.Splice(text, 0, escapeNewlines(text, 0))
	return edit.Splice(text, 0, replaceBytes(text, 0))
}
