package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/transcript"
)

const (
	previewLead = 30  // columns shown before a change
	previewEdit = 80  // columns shown of a change
	previewRead = 400 // bytes read for either
)

// Preview writes what a repair changes, for people: each repair, and around
// each edit a window of the line before and after.
func Preview(w io.Writer, path string, src *transcript.Source, f *engine.Fixed, opts Options) error {
	s := newStyle(opts.Color)
	var b bytes.Buffer
	for i := range f.Repairs {
		r := &f.Repairs[i]
		fmt.Fprintf(&b, "%s: %s (%s) %s\n", s.path.Sprint(Printable(path)), Printable(r.Title), r.Class, s.gutter.Sprint("["+r.Rule+"]"))
	}
	edits := f.Pieces.Edits()
	offsets := make([]int64, len(edits))
	for i, e := range edits {
		offsets[i] = e.Span.Start
	}
	at, err := transcript.Positions(src, offsets)
	if err != nil {
		return err
	}
	results := f.NewResults()
	moved := int64(0) // by how much bytes behind the last edit moved
	for i, e := range edits {
		start := e.Span.Start + moved
		end := start + int64(len(e.Text))
		moved += int64(len(e.Text)) - e.Span.Len()
		for len(results) > 0 && results[0].Start < start {
			results = results[1:]
		}
		var result transcript.Span // the first one in the new text
		if len(results) > 0 && results[0].End < end {
			result = transcript.Span{Start: results[0].Start - start, End: results[0].End - start}
		}
		if b.Len() > diffBlock {
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
			b.Reset()
		}
		if opts.NoExcerpt {
			fmt.Fprintf(&b, "%5d: %d bytes become %d\n", at[i].Line, e.Span.Len(), len(e.Text))
			continue
		}
		if err := window(&b, s, src, at[i], e, result); err != nil {
			return err
		}
	}
	_, err = w.Write(b.Bytes())
	return err
}

// window writes the surroundings of an edit as they are and as they will be. Of
// a long text it shows its beginning, or the result in it where that comes late.
func window(b *bytes.Buffer, s *style, src *transcript.Source, at transcript.Position, e edit.Edit, result transcript.Span) error {
	read := func(from, to int64) ([]byte, error) {
		return src.Bytes(transcript.Span{Start: max(0, from), End: min(to, src.Size())})
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
		shown := visible(text)
		part := head(shown, most)
		var line strings.Builder
		if cut {
			line.WriteString(ellipsis)
		}
		writeCells(&line, lead)
		var changed strings.Builder
		if skipped {
			changed.WriteString(ellipsis)
		}
		writeCells(&changed, part)
		line.WriteString(c.Sprint(changed.String()))
		if len(part) < len(shown) || !whole {
			line.WriteString(ellipsis)
		} else {
			rest := cells(after)
			trail := head(rest, excerptColumns-columns(lead)-columns(part))
			writeCells(&line, trail)
			if len(trail) < len(rest) {
				line.WriteString(ellipsis)
			}
		}
		fmt.Fprintf(b, "%s %s %s\n", s.gutter.Sprintf("%5d |", at.Line), c.Sprint(mark), line.String())
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
