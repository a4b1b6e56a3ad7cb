package repair

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
)

// Bytes returns the fix for an operation on the bytes of a record, and false if op is not
// such an operation. If the bytes are not JSON, their content cannot be accounted for, and
// the fix has the class that its rule gives it. A record that is cut off can be accounted for up
// to the tear.
func (t *Tears) Bytes(op *operation.Operation) (f edit.Fix, ok bool, err error) {
	src := t.Source
	w := &window{src: src}
	read := func(s source.Span) []byte {
		b, err := src.Bytes(s)
		w.err = cmp.Or(w.err, err)
		return b
	}
	switch do := op.Do.(type) {
	case *operation.DropRecord:
		lines := &list{src: w, lines: true}
		lines.remove(do.At)
		f.Edits, f.Gone = lines.compile(), []source.Span{do.At}
		if do.Last {
			// The line ending before it stays, because the client appends to the file.
			f.Edits = []edit.Edit{{Span: source.Span{Start: do.At.Start, End: w.size()}}}
		}
		if do.Torn {
			if err := t.drops(&f, do.At); err != nil {
				return f, false, err
			}
		}
	case *operation.DropBytes:
		f.Edits = []edit.Edit{{Span: stripped(w, do.At)}}
		switch {
		case do.Torn:
			if err := t.drops(&f, do.At); err != nil {
				return f, false, err
			}
		case op.Class == operation.Unsafe: // otherwise it is padding
			f.Gone = []source.Span{do.At}
		}
	case *operation.EscapeNewlines:
		f.Within = []source.Span{do.At}
		f.Edits, _ = stringFaults(read(do.At), do.At.Start)
	case *operation.ReplaceBytes:
		f.Within = []source.Span{do.At}
		_, f.Edits = stringFaults(read(do.At), do.At.Start)
		for _, e := range f.Edits { // adjacent bytes are one edit
			if n := len(f.Gone); n > 0 && f.Gone[n-1].End == e.Span.Start {
				f.Gone[n-1].End = e.Span.End
			} else {
				f.Gone = append(f.Gone, e.Span)
			}
		}
	}
	if len(f.Edits) == 0 || w.err != nil {
		return f, false, w.err
	}
	changed := f.Edits[0].Span // there is only one
	if len(f.Within) > 0 {
		changed = f.Within[0]
	}
	was := read(changed)
	if w.err != nil {
		return f, false, w.err
	}
	f.Change = edit.Total(edit.Splice(was, changed.Start, f.Edits)).Minus(edit.Total(was))
	return f, true, nil
}

// stripped extends a run of bytes that fills a line to include the line ending, so that no
// blank line is left.
func stripped(w *window, s source.Span) source.Span {
	if s.Start > 0 && w.at(s.Start-1) != '\n' {
		return s
	}
	switch end := w.text(s.End, min(s.End+2, w.size())); {
	case end == "\r\n":
		s.End += 2
	case strings.HasPrefix(end, "\n"):
		s.End++
	}
	return s
}

// stringFaults returns edits of the strings in a JSON text that begins at offset base: edits
// that escape line endings, and edits that replace invalid UTF-8 and halves of surrogate
// pairs by the replacement character.
func stringFaults(text []byte, base int64) (newlines, invalid []edit.Edit) {
	inside, n := false, 0
	for i := 0; i < len(text); i += n {
		replaced := func(n int, with string) edit.Edit {
			at := base + int64(i)
			return edit.Edit{Span: source.Span{Start: at, End: at + int64(n)}, Text: []byte(with)}
		}
		n = 1
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case !inside:
		case c == '\n':
			newlines = append(newlines, replaced(1, `\n`))
		case c == '\r':
			newlines = append(newlines, replaced(1, `\r`))
		case c != '\\':
			var r rune
			if r, n = utf8.DecodeRune(text[i:]); r == utf8.RuneError && n == 1 {
				invalid = append(invalid, replaced(1, "\uFFFD"))
			}
		default:
			n = 2
			if half := unit(text[i:]); half >= 0 {
				if n = 6; utf16.DecodeRune(half, unit(text[i+6:])) != utf8.RuneError {
					n = 12
				} else if utf16.IsSurrogate(half) {
					invalid = append(invalid, replaced(6, `\ufffd`))
				}
			}
		}
	}
	return newlines, invalid
}

// unit returns the code unit of the \u escape at the start of a text, -1 if there is none.
func unit(text []byte) rune {
	if len(text) < 6 || !bytes.HasPrefix(text, []byte(`\u`)) {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Canonical returns a text after all repairs of its bytes. Two texts that differ only by such
// repairs have the same result.
func Canonical(text []byte) []byte {
	newlines, _ := stringFaults(text, 0)
	text = edit.Splice(text, 0, newlines)
	_, invalid := stringFaults(text, 0)
	return edit.Splice(text, 0, invalid)
}
