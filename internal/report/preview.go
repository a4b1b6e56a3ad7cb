package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	previewLead = 30  // columns shown before a change
	previewEdit = 80  // columns shown of a change
	previewRead = 400 // bytes read for either
)

// Preview writes what a repair changes, for people: each repair, and around
// each edit a window of the line before and after.
func Preview(w io.Writer, path string, src *source.Source, f *engine.Fixed, opts Options) error {
	s := newStyle(opts.Color)
	var l lines
	for i := range f.Repairs {
		r := &f.Repairs[i]
		l.line(part{s.path, path}, bare(": "), bare(r.Title), bare(fmt.Sprintf(" (%s) ", r.Class)), part{s.gutter, "[" + r.Rule + "]"})
	}
	edits := f.Pieces.Edits()
	lines := source.NewLines(src)
	results := f.NewResults()
	moved := int64(0) // by how much bytes behind the last edit moved
	for _, e := range edits {
		at, err := lines.Position(e.Span.Start)
		if err != nil {
			return err
		}
		start := e.Span.Start + moved
		end := start + int64(len(e.Text))
		moved += int64(len(e.Text)) - e.Span.Len()
		for len(results) > 0 && results[0].Start < start {
			results = results[1:]
		}
		var result source.Span // the first one in the new text
		if len(results) > 0 && results[0].End < end {
			result = source.Span{Start: results[0].Start - start, End: results[0].End - start}
		}
		if len(l.out) > diffBlock {
			if err := l.flush(w); err != nil {
				return err
			}
		}
		if opts.NoExcerpt {
			l.line(bare(fmt.Sprintf("%5d: %d bytes become %d", at.Line, e.Span.Len(), len(e.Text))))
			continue
		}
		if err := window(&l, s, src, at, e, result); err != nil {
			return err
		}
	}
	return l.flush(w)
}

// window writes the surroundings of an edit as they are and as they will be. Of
// a long text it shows its beginning, or the result in it where that comes late.
func window(l *lines, s *style, src *source.Source, at source.Position, e edit.Edit, result source.Span) error {
	read := func(from, to int64) ([]byte, error) {
		return src.Bytes(source.Span{Start: max(0, from), End: min(to, src.Size())})
	}
	lineStart := at.Offset - int64(at.Column-1)
	before, err := read(max(lineStart, e.Span.Start-previewRead), e.Span.Start)
	if err != nil {
		return err
	}
	was, err := read(e.Span.Start, min(e.Span.End, e.Span.Start+previewRead))
	if err != nil {
		return err
	}
	after, err := read(e.Span.End, e.Span.End+previewRead)
	if err != nil {
		return err
	}
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	after = bytes.TrimSuffix(after, []byte("\r"))
	lead := tail(cells(before), previewLead)
	skipped, most := false, previewEdit
	cut := len(lead) < len(cells(before)) || int64(len(before)) < at.Offset-lineStart
	side := func(mark string, c *color.Color, text []byte, whole bool) {
		all := visible(text)
		shown := head(all, most)
		var before, changed, behind strings.Builder
		if cut {
			before.WriteString(ellipsis)
		}
		writeCells(&before, lead)
		if skipped {
			changed.WriteString(ellipsis)
		}
		writeCells(&changed, shown)
		if len(shown) < len(all) || !whole {
			behind.WriteString(ellipsis)
		} else {
			rest := cells(after)
			trail := head(rest, excerptColumns-columns(lead)-columns(shown))
			writeCells(&behind, trail)
			if len(trail) < len(rest) {
				behind.WriteString(ellipsis)
			}
		}
		l.line(
			part{s.gutter, fmt.Sprintf("%5d |", at.Line)}, bare(" "), part{c, mark}, bare(" "),
			bare(before.String()), part{c, changed.String()}, bare(behind.String()),
		)
	}
	if len(was) > 0 {
		side("-", s.severities[len(s.severities)-1], was, int64(len(was)) == e.Span.Len())
	}
	text := e.Text
	width := func(text []byte) int { return columns(visible(text[:min(len(text), previewRead)])) }
	if width(text) > most && width(text[:result.Start]) > previewLead/2 {
		text, skipped, most = text[result.Start:], true, max(most, excerptColumns-columns(lead))
	}
	side("+", s.fix, text[:min(len(text), previewRead)], len(text) <= previewRead)
	return nil
}

// visible splits a changed text into cells. Line ends are part of it: each is
// shown as one sign, together with the blanks that indent the next line.
func visible(text []byte) []cell {
	var out []cell
	for {
		line, rest, found := bytes.Cut(text, []byte("\n"))
		if !found {
			return append(out, cells(text)...)
		}
		out = append(out, cells(bytes.TrimSuffix(line, []byte("\r")))...)
		out = append(out, cell{"↵", 1})
		text = bytes.TrimLeft(rest, " \t")
	}
}

func writeCells(b *strings.Builder, cs []cell) {
	for _, c := range cs {
		b.WriteString(c.text)
	}
}
