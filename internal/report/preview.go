package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/source"
)

// previewRead is how many bytes are read of a change, and of what stands on each side.
const previewRead = 400

// Preview writes what a repair changes, for people: around each edit a window of the
// line before and after, below the titles of the repairs that it is part of.
func Preview(w io.Writer, path string, src *source.Source, f *engine.Fixed, opts Options) error {
	s := newStyle(opts.Color)
	var l lines
	titles := newTitles(f)
	title := func(repairs []int) {
		if len(l.out) > 0 || titles.begun {
			l.line()
		}
		titles.begun = true
		for _, i := range repairs {
			r := &f.Repairs[i]
			titles.told[i] = true
			l.fold(opts.headWidth(), indent, 2,
				part{s.path, path}, bare(": "), bare(r.Title), bare(fmt.Sprintf(" (%s) ", r.Class)), part{s.gutter, "[" + r.Rule + "]"})
		}
	}
	lines := source.NewLines(src)
	results := f.NewResults()
	moved := int64(0) // by how much bytes behind the last edit moved
	for _, e := range f.Pieces.Edits() {
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
		if repairs, other := titles.of(e.Span); other {
			title(repairs)
		}
		if opts.NoExcerpt {
			l.line(bare(fmt.Sprintf("%5d: %d bytes become %d", at.Line, e.Span.Len(), len(e.Text))))
			continue
		}
		if err := window(&l, s, src, at, e, result, opts.width()); err != nil {
			return err
		}
	}
	if rest := titles.untold(); len(rest) > 0 {
		title(rest)
	}
	return l.flush(w)
}

// titles say which repairs an edit is part of. The edits come in order.
type titles struct {
	fixes  [][]int // by fix: its repairs
	places []fixedPlace
	last   []int // the repairs that were told of last
	told   []bool
	begun  bool
}

// A fixedPlace is a part of the original that a fix changes.
type fixedPlace struct {
	source.Span
	fix int
}

func newTitles(f *engine.Fixed) *titles {
	t := &titles{fixes: make([][]int, len(f.Places)), told: make([]bool, len(f.Repairs))}
	for i := range f.Repairs {
		if fix := f.Repairs[i].Fix; fix < len(t.fixes) {
			t.fixes[fix] = append(t.fixes[fix], i)
		}
	}
	for fix, list := range f.Places {
		for _, at := range list {
			t.places = append(t.places, fixedPlace{at, fix})
		}
	}
	slices.SortStableFunc(t.places, func(a, b fixedPlace) int { return cmp.Compare(a.Start, b.Start) })
	return t
}

// of returns the repairs that an edit is part of, and whether they are others than those
// of the edit before.
func (t *titles) of(at source.Span) (repairs []int, other bool) {
	var fixes []int
	for len(t.places) > 0 && t.places[0].Start <= at.End {
		if t.places[0].End >= at.Start {
			fixes = append(fixes, t.places[0].fix)
		}
		t.places = t.places[1:]
	}
	slices.Sort(fixes)
	for _, fix := range slices.Compact(fixes) {
		repairs = append(repairs, t.fixes[fix]...)
	}
	if len(repairs) == 0 || slices.Equal(repairs, t.last) {
		return nil, false
	}
	t.last = repairs
	return repairs, true
}

// untold returns the repairs that were part of no edit, because others undid them.
func (t *titles) untold() (out []int) {
	for i, told := range t.told {
		if !told {
			out = append(out, i)
		}
	}
	return out
}

// window writes the surroundings of an edit as they are and as they will be. Of
// a long text it shows its beginning, or the result in it where that comes late.
func window(l *lines, s *style, src *source.Source, at source.Position, e edit.Edit, result source.Span, width int) error {
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
	number := fmt.Sprintf("%5d |", at.Line)
	room := max(width-len(number)-len(" + ")-3, 2) // without the ellipses
	lead := tail(cells(before), room/3)
	skipped, most := false, room-columns(lead)
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
			trail := head(rest, room-columns(lead)-columns(shown))
			writeCells(&behind, trail)
			if len(trail) < len(rest) {
				behind.WriteString(ellipsis)
			}
		}
		l.line(
			part{s.gutter, number}, bare(" "), part{c, mark}, bare(" "),
			bare(before.String()), part{c, changed.String()}, bare(behind.String()),
		)
	}
	if len(was) > 0 {
		side("-", s.severities[len(s.severities)-1], was, int64(len(was)) == e.Span.Len())
	}
	text := e.Text
	wide := func(text []byte) int { return columns(visible(text[:min(len(text), previewRead)])) }
	if wide(text) > most && wide(text[:result.Start]) > room/6 {
		text, skipped = text[result.Start:], true
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
