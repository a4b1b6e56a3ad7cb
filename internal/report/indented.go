package report

import (
	"bytes"
	"slices"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// indented shows the lines that edits remove and add in messages that are on several lines, with
// a line before and behind. It reports whether that was all.
func (p *preview) indented(edits []edited) (bool, error) {
	if !p.pretty {
		return false, nil
	}
	if p.diff == nil {
		d, err := NewDiff(p.path, p.src, p.fixed.Pieces)
		if err != nil {
			return false, err
		}
		p.diff, p.seen = d, map[*change]bool{}
	}
	told := make([]bool, len(edits))
	shown := p.shown
	end := 0 // the last line in which the edits can change anything
	for i := range edits {
		end = max(end, edits[i].last+bytes.Count(edits[i].Text, []byte("\n")))
	}
	hunks := p.diff.hunks
	for len(hunks) > 0 && hunks[0].last() < edits[0].at.Line { // the groups come in order
		hunks = hunks[1:]
	}
	p.diff.hunks = hunks
	for i := range hunks {
		if hunks[i].changes[0].line > end {
			break
		}
		for k := range hunks[i].changes {
			c := &hunks[i].changes[k]
			ours := false
			for n := range edits {
				// Its first lines can be the same before and after.
				if e := &edits[n]; c.line <= e.last+bytes.Count(e.Text, []byte("\n")) && e.at.Line <= c.line+c.oldLines {
					ours, told[n] = true, true
				}
			}
			if !ours || p.seen[c] {
				continue
			}
			p.seen[c] = true
			if err := p.change(c); err != nil {
				return false, err
			}
		}
	}
	return p.shown > shown && !slices.Contains(told, false), nil
}

// last returns the last line of the original that a hunk changes.
func (h *hunk) last() int {
	c := &h.changes[len(h.changes)-1]
	return c.line + c.oldLines
}

// change shows a run of lines that is removed and the one that replaces it.
func (p *preview) change(c *change) error {
	start, err := p.diff.old.back(c.old.Start, 1, 0)
	if err != nil {
		return err
	}
	end, err := p.diff.old.ahead(c.old.End, 1)
	if err != nil {
		return err
	}
	before, err := p.lines(p.diff.old, source.Span{Start: start, End: c.old.Start})
	if err != nil {
		return err
	}
	removed, err := p.lines(p.diff.old, c.old)
	if err != nil {
		return err
	}
	added, err := p.lines(p.diff.new, c.new)
	if err != nil {
		return err
	}
	behind, err := p.lines(p.diff.old, source.Span{Start: c.old.End, End: end})
	if err != nil {
		return err
	}
	was, is := c.line, c.line+c.shift
	// An element behind another one is inserted before the bracket that ends the other one. The
	// element is easier to see.
	if len(removed) == 0 && len(added) > 1 && len(behind) > 0 && bytes.Equal(added[0], append(bytes.Clone(behind[0]), ',')) {
		before, added, behind = added[:1], append(added[1:len(added):len(added)], behind[0]), nil
		is++
	}
	// So is one before another one, which is inserted behind the bracket that begins the other one.
	switch {
	case len(removed) == 0 && slides(before, added):
		before, added, behind = nil, append([][]byte{before[0]}, added[:len(added)-1]...), added[len(added)-1:]
		is--
	case len(added) == 0 && len(removed) == c.oldLines && slides(before, removed):
		before, removed, behind = nil, append([][]byte{before[0]}, removed[:len(removed)-1]...), removed[len(removed)-1:]
		was, is = was-1, is-1
	}
	for i, line := range before {
		p.line(is-len(before)+i, " ", p.style.gutter, line)
	}
	for i, line := range removed {
		p.line(was+i, "-", p.style.severities[rules.Error], line)
	}
	p.hidden += c.oldLines - len(removed)
	for i, line := range added {
		p.line(is+i, "+", p.style.fix, line)
	}
	for i, line := range behind {
		p.line(is+c.newLines+i, " ", p.style.gutter, line)
	}
	return nil
}

// slides reports whether lines are the rest of an element and the beginning of the next one, and the
// line before them is the same beginning.
func slides(before, lines [][]byte) bool {
	n := len(lines) - 1
	return len(before) > 0 && n > 0 && bytes.Equal(before[0], lines[n]) && len(bytes.TrimSpace(lines[n])) == 1
}

// lines returns the first lines of a span, without their ends.
func (p *preview) lines(from *blocks, s source.Span) ([][]byte, error) {
	if s.Len() == 0 {
		return nil, nil
	}
	text, err := from.bytes(s.First(min(s.Len(), diffBlock)))
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), err
}

// line writes a line with its number and its sign, as much of it as fits.
func (p *preview) line(number int, sign string, c *color.Color, text []byte) {
	gutter := gutterOf(number)
	text = bytes.TrimSuffix(text, []byte("\r"))
	room := p.opts.width() - len(gutter) - len(" + ")
	all := cells(text[:min(len(text), previewRead)])
	shown := written(all)
	if columns(all) > room || len(text) > previewRead {
		shown = written(head(all, max(room-1, leastRoom))) + ellipsis
	}
	p.row(colored(p.style.gutter, gutter), bare(" "), colored(c, sign), bare(" "), bare(shown))
}
