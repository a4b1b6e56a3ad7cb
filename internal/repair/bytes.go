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

// A patch is a fix of the bytes of a record in the making.
type patch struct {
	*window
	tears *Tears
	class operation.Class
	fix   edit.Fix
}

// read returns the text of a span, and notes an error.
func (p *patch) read(s source.Span) []byte {
	b, err := p.src.Bytes(s)
	p.err = cmp.Or(p.err, err)
	return b
}

// Bytes returns the fix for an operation on the bytes of a record, and false if op is not
// such an operation. If the bytes are not JSON, their content cannot be accounted for, and
// the fix has the class that its rule gives it. A record that is cut off can be accounted for up
// to the tear.
func (t *Tears) Bytes(op *operation.Operation) (f edit.Fix, ok bool, err error) {
	do, p := rowOf(op).bytes, &patch{window: &window{src: t.Source}, tears: t, class: op.Class}
	if do == nil {
		return f, false, nil
	}
	if err := do(p, op.Do); err != nil {
		return p.fix, false, err
	}
	if len(p.fix.Edits) == 0 || p.err != nil {
		return p.fix, false, p.err
	}
	changed := p.fix.Edits[0].Span // there is only one
	if len(p.fix.Within) > 0 {
		changed = p.fix.Within[0]
	}
	was := p.read(changed)
	if p.err != nil {
		return p.fix, false, p.err
	}
	p.fix.Change = edit.Total(edit.Splice(was, changed.Start, p.fix.Edits)).Minus(edit.Total(was))
	return p.fix, true, nil
}

func (p *patch) dropRecord(do *operation.DropRecord) error {
	lines := &list{src: p.window, lines: true}
	lines.remove(do.At)
	p.fix.Edits, p.fix.Gone = lines.compile(), []source.Span{do.At}
	if do.Last {
		// The line ending before it stays, because the client appends to the file.
		p.fix.Edits = []edit.Edit{{Span: source.Span{Start: do.At.Start, End: p.size()}}}
	}
	if do.Torn {
		return p.tears.drops(&p.fix, do.At)
	}
	return nil
}

func (p *patch) dropBytes(do *operation.DropBytes) error {
	p.fix.Edits = []edit.Edit{{Span: stripped(p.window, do.At)}}
	if do.Torn {
		return p.tears.drops(&p.fix, do.At)
	}
	if p.class == operation.Unsafe { // otherwise it is padding
		p.fix.Gone = []source.Span{do.At}
	}
	return nil
}

func (p *patch) escapeNewlines(do *operation.EscapeNewlines) error {
	p.fix.Within = []source.Span{do.At}
	p.fix.Edits, _ = stringFaults(p.read(do.At), do.At.Start)
	return nil
}

func (p *patch) replaceBytes(do *operation.ReplaceBytes) error {
	p.fix.Within = []source.Span{do.At}
	_, p.fix.Edits = stringFaults(p.read(do.At), do.At.Start)
	for _, e := range p.fix.Edits { // adjacent bytes are one edit
		if n := len(p.fix.Gone); n > 0 && p.fix.Gone[n-1].End == e.Span.Start {
			p.fix.Gone[n-1].End = e.Span.End
		} else {
			p.fix.Gone = append(p.fix.Gone, e.Span)
		}
	}
	return nil
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
