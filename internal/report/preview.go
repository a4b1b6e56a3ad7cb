package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/fatih/color"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// mostRows is how many lines of a repair a preview shows at most.
const mostRows = 12

// Preview writes what a repair changes, for people, below the titles of the repairs that an edit is
// part of: of messages that are on one line, the elements that are removed and added, and of all
// else the lines.
func Preview(w io.Writer, path string, src *source.Source, f *engine.Fixed, opts Options) error {
	p := preview{style: newStyle(opts.Color), path: path, opts: opts, fixed: f, src: src, titles: newTitles(f)}
	p.before, p.after = newElements(opts.before), newElements(opts.after)
	lines := source.NewLines(src)
	results := f.NewResults()
	moved := int64(0) // by how much bytes behind the last edit moved
	var group []edited
	show := func() error {
		if len(p.out.out) > diffBlock {
			if err := p.out.flush(w); err != nil {
				return err
			}
		}
		err := p.group(group)
		group = group[:0]
		return err
	}
	for _, e := range f.Pieces.Edits() {
		at, err := lines.Position(e.Span.Start)
		if err != nil {
			return err
		}
		end, err := lines.Position(e.Span.End)
		if err != nil {
			return err
		}
		start := e.Span.Start + moved
		now := edited{Edit: e, at: at, last: end.Line, now: source.Span{Start: start, End: start + int64(len(e.Text))}, result: -1}
		moved += int64(len(e.Text)) - e.Span.Len()
		for len(results) > 0 && results[0].Start < start {
			results = results[1:]
		}
		if len(results) > 0 && results[0].End < now.now.End {
			now.result = int(results[0].Start - start)
		}
		repairs, other := p.titles.of(e.Span)
		if other {
			if err := show(); err != nil {
				return err
			}
			now.repairs = slices.Clone(repairs)
		}
		group = append(group, now)
	}
	if err := show(); err != nil {
		return err
	}
	p.more()
	for n, i := range p.titles.untold() {
		place := ""
		if fix := f.Repairs[i].Fix; fix < len(f.Places) && len(f.Places[fix]) > 0 {
			at, err := lines.Position(f.Places[fix][0].Start)
			if err != nil {
				return err
			}
			place = placeOf(at)
		}
		if n == 0 {
			p.gap()
		}
		p.heading(i, place)
	}
	return p.out.flush(w)
}

// An edited is an edit in a preview.
type edited struct {
	edit.Edit
	at      source.Position
	last    int         // the line in which it ends
	old     []byte      // the first bytes that it replaces; set for an outline
	now     source.Span // of its text, in the repaired source
	result  int         // where the first result begins in its text, -1 if there is none
	repairs []int       // which it is part of; empty if they are those of the edit before
}

// group shows edits that are part of the same repairs.
func (p *preview) group(edits []edited) error {
	if len(edits) == 0 {
		return nil
	}
	if first := &edits[0]; len(first.repairs) > 0 {
		p.title(first.repairs, placeOf(first.at))
	}
	told, err := p.outline(edits)
	if err == nil && !told && !p.opts.NoExcerpt {
		told, err = p.indented(edits)
	}
	if err != nil {
		return err
	}
	for i := range edits {
		e := &edits[i]
		if p.opts.NoExcerpt && !told {
			p.row(bare(fmt.Sprintf("%5d: %d bytes become %d", e.at.Line, e.Span.Len(), len(e.Text))))
			continue
		}
		ed, err := newEditedLines(p.src, e.at, e.Edit)
		if err != nil {
			return err
		}
		if (!told || p.opts.EachCall) && !p.opts.NoExcerpt {
			p.edit(ed, e.at.Line, e.at.Line+p.grown, e.result)
		}
		p.grown += ed.grown
	}
	return nil
}

// A preview is the output of Preview.
type preview struct {
	out    lines
	style  *style
	path   string
	opts   Options
	fixed  *engine.Fixed
	src    *source.Source
	titles *titles
	// before and after are the elements around all edits.
	before, after elements
	grown         int   // by how much lines behind the last edit moved
	pretty        bool  // the messages of the group are on several lines
	diff          *Diff // nil before it is needed
	seen          map[*change]bool
	begun         bool
	shown         int // the rows below the last title
	hidden        int // the rows that are not shown there
}

// title begins the rows of repairs, which change the file at a place.
func (p *preview) title(repairs []int, place string) {
	p.more()
	p.gap()
	p.shown = 0
	for _, i := range repairs {
		p.titles.told[i] = true
		p.heading(i, place)
	}
}

// gap writes a blank line, except before the first title.
func (p *preview) gap() {
	if p.begun {
		p.out.line()
	}
	p.begun = true
}

// heading writes the title of a repair.
func (p *preview) heading(i int, place string) {
	r := &p.fixed.Repairs[i]
	p.out.fold(p.opts.headWidth(), indent,
		unbroken(p.style.path, p.path), bare(place+": "), bare(r.Title), bare(fmt.Sprintf(" (%s) ", r.Class)), colored(p.style.gutter, "["+r.Rule+"]"))
}

// placeOf returns a position as it is written behind a path.
func placeOf(at source.Position) string { return fmt.Sprintf(":%d:%d", at.Line, at.Column) }

// row writes a row, or counts it if there are enough of them.
func (p *preview) row(parts ...part) {
	if p.shown == mostRows {
		p.hidden++
		return
	}
	p.shown++
	p.out.line(parts...)
}

// more says how many rows are not shown.
func (p *preview) more() {
	if p.hidden > 0 {
		p.out.line(colored(p.style.gutter, "      |"), bare(" … "+count(p.hidden, "more line")))
	}
	p.hidden = 0
}

// titles say which repairs an edit is part of. The edits come in order.
type titles struct {
	fixes  [][]int // by fix: its repairs
	places []fixedPlace
	last   []int // the repairs that were told of last
	told   []bool
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
	sort.SliceStable(t.places, func(i, j int) bool { return t.places[i].Start < t.places[j].Start })
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

// edit writes the lines that an edit removes and adds. was and is are the numbers of the line
// that it begins in, before and after. result is where a result begins in the new text, or -1.
func (p *preview) edit(ed *editedLines, was, is, result int) {
	removed, added := ed.old, ed.new
	if ed.inserts {
		removed = nil
	}
	// Of many lines, those that are removed leave half of the rows to the others.
	room := mostRows - p.shown
	fits := max(min(len(removed), room-len(added)), min(len(removed), room/2))
	for i, l := range removed[:fits] {
		p.changed(ed, l, was+ed.skipped+i, "-", p.style.severities[rules.Error])
	}
	p.hidden += len(removed) - fits + ed.unread
	from := 0
	for i, l := range added {
		if l.at <= result && i >= room-fits { // the result is what matters
			from = i
		}
	}
	p.hidden += from
	for i, l := range added[from:] {
		if result >= l.at && result <= l.at+len(l.text) {
			l.result = result - l.at
		}
		p.changed(ed, l, is+ed.skipped+from+i, "+", p.style.fix)
	}
}

// changed writes a line that is removed or added. Of a long one it shows what is changed in
// it, from its beginning on, or the result in it where that comes late.
func (p *preview) changed(ed *editedLines, l changedLine, number int, mark string, c *color.Color) {
	if p.shown == mostRows {
		p.hidden++
		return
	}
	gutter := fmt.Sprintf("%5d |", number)
	width := p.opts.width()
	// Some characters are escaped where a colour begins or ends. They are wider then.
	for room := width - len(gutter) - len(" + "); ; {
		parts := []part{colored(p.style.gutter, gutter), bare(" "), colored(c, mark)}
		if before, changed, behind := l.window(ed, room); before+changed+behind != "" {
			parts = append(parts, bare(" "+before), colored(c, changed), bare(behind))
		}
		over := measure(parts...) - width
		if over <= 0 || room <= leastRoom {
			p.row(parts...)
			return
		}
		room = max(room-over, leastRoom)
	}
}

// leastRoom is the least number of columns that a changed line gets.
const leastRoom = 5

// window returns what is shown of a line in so many columns: the text before the change, the
// change, and the text behind it.
func (l *changedLine) window(ed *editedLines, room int) (before, changed, behind string) {
	whole, known := ed.whole(l)
	fits := known && len(whole) <= 3*previewRead && columns(cells(whole)) <= room
	room = max(room-3, 2) // without the ellipses
	// What is removed and what is added begin in the same column.
	if fits && (!l.first || columns(cells(ed.before)) <= room/3) {
		return l.parts(ed)
	}
	text, late := l.text, false
	var lead []cell
	if l.first {
		all := cells(ed.before)
		lead = tail(all, room/3)
		if ed.cutBefore || len(lead) < len(all) {
			before = ellipsis
		}
	}
	before += written(lead)
	most := room - columns(lead)
	read := func(text []byte) []cell { return cells(text[:min(len(text), previewRead)]) }
	if l.result > 0 && columns(read(text)) > most && columns(read(text[:l.result])) > room/6 {
		text, late = text[l.result:], true
	}
	if late {
		changed = ellipsis
	}
	cut := l.cut
	if len(text) > previewRead {
		text, cut = text[:previewRead], true
	}
	if cut {
		text = source.WholeCharacters(text)
	} else if !l.last {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	all := cells(text)
	shown := head(all, most)
	changed += written(shown)
	switch {
	case cut || len(shown) < len(all):
		behind = ellipsis
	case l.last:
		all := cells(ed.behind)
		trail := head(all, most-columns(shown))
		behind = written(trail)
		if ed.cutBehind || len(trail) < len(all) {
			behind += ellipsis
		}
	}
	return before, changed, behind
}

// parts returns the whole of a line as window does.
func (l *changedLine) parts(ed *editedLines) (before, changed, behind string) {
	changed = written(cells(bytes.TrimSuffix(l.text, []byte("\r"))))
	if l.first {
		before = written(cells(ed.before))
	}
	if l.last {
		changed, behind = written(cells(l.text)), written(cells(ed.behind))
	}
	return before, changed, behind
}

// written returns the text of cells.
func written(cs []cell) string {
	var b strings.Builder
	for _, c := range cs {
		b.WriteString(c.text)
	}
	return b.String()
}
