package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// besideWidth is how wide a map must be for both sides of a repair to stand beside each other.
const besideWidth = 120

// MapFixed writes what a repair changes in a session: the turns that change, before and after it,
// below the repairs that change them, and at the end what was proved.
func MapFixed(w io.Writer, src *source.Source, f *engine.Fixed, before, after *session.Session, opts MapOptions) error {
	m := newMapper(src, before, &opts)
	m.header()
	if !f.Changed() {
		sum := FixSummary{SafeOnly: opts.SafeOnly, Unsafe: opts.Unsafe}
		sum.AddFixed(f)
		text := "There is nothing to repair. "
		if sum.Problems() > 0 {
			text = "No repair is made. "
		}
		m.out.fold(opts.width(), "", bare(text+sum.left()))
		return m.out.flush(w)
	}
	half := opts
	if half.Width = opts.width() - len("- "); opts.width() >= besideWidth {
		half.Width = (opts.width() - textWidth(divider)) / 2
	}
	x := &comparison{mapper: m, fixed: f, was: newMapper(src, before, &half), is: newMapper(f.Pieces.Source(), after, &half)}
	x.was.keeps, x.is.keeps = true, true
	hunks := x.hunks()
	byHunk, rest := x.repairs(hunks)
	for i, h := range hunks {
		x.hunk(h, byHunk[i])
		if err := cmp.Or(m.err, x.was.err, x.is.err); err != nil {
			return err
		}
		if len(m.out.out) > diffBlock {
			if err := m.out.flush(w); err != nil {
				return err
			}
		}
	}
	if len(rest) > 0 {
		m.out.line()
		for _, i := range rest {
			x.title(i)
		}
	}
	m.out.line()
	sum := FixSummary{SafeOnly: opts.SafeOnly, Unsafe: opts.Unsafe}
	sum.AddFixed(f)
	m.out.fold(opts.width(), "", bare(fmt.Sprintf("%s (%s): all other bytes stay identical, and a second run changes nothing.", count(len(f.Repairs), "change"), sum.deeds())))
	if left := sum.left(); left != "" {
		m.out.fold(opts.width(), "", bare(left))
	}
	if opts.Command != "" {
		m.out.fold(opts.width(), "", bare("To make "+pick(len(f.Repairs), "it", "them")+": "), unbroken(nil, opts.Command))
	}
	return m.out.flush(w)
}

// divider is between the two sides of a repair.
const divider = " │ "

// A comparison is a session before and after a repair.
type comparison struct {
	*mapper
	fixed   *engine.Fixed
	was, is *mapper
}

// A turnHunk is turns of a thread that change, one behind the other.
type turnHunk struct{ was, is []int32 }

// hunks returns the turns that change.
func (x *comparison) hunks() (out []turnHunk) {
	for i := range min(len(x.was.Threads), len(x.is.Threads)) {
		out = append(out, x.changed(&x.was.Threads[i], &x.is.Threads[i])...)
	}
	return out
}

// changed returns the turns of a thread that change.
func (x *comparison) changed(was, is *session.Thread) (out []turnHunk) {
	at := map[source.Span]int32{} // the turns before, by their first message
	for i := was.TurnLo; i < was.TurnHi; i++ {
		at[x.was.Turns[i].At] = i
	}
	stays := map[int32]int32{}                 // turns after by those before
	from := make([]int32, is.TurnHi-is.TurnLo) // turns before by those after, -1 for none
	for i := is.TurnLo; i < is.TurnHi; i++ {
		from[i-is.TurnLo] = -1
		if old, there := x.fixed.Pieces.Original(x.is.Turns[i].At); there {
			if n, known := at[old]; known && x.same(n, i) {
				stays[n], from[i-is.TurnLo] = i, n
			}
		}
	}
	var h turnHunk
	end := func() {
		if len(h.was)+len(h.is) > 0 {
			out = append(out, h)
		}
		h = turnHunk{}
	}
	i, k := was.TurnLo, is.TurnLo
	for i < was.TurnHi || k < is.TurnHi {
		to, stay := stays[i]
		switch {
		case i < was.TurnHi && stay && to == k:
			end()
			i, k = i+1, k+1
		case i < was.TurnHi && (!stay || to < k): // it goes, or it moved up
			h.was = append(h.was, i)
			i++
		default: // it is new, or it moved
			h.is = append(h.is, k)
			k++
		}
	}
	end()
	return out
}

// same reports whether a turn before looks like one after.
func (x *comparison) same(was, is int32) bool {
	a, b := &x.was.Turns[was], &x.is.Turns[is]
	if a.Messages != b.Messages || a.Bytes != b.Bytes || a.Role != b.Role || a.CallHi-a.CallLo != b.CallHi-b.CallLo || a.LooseHi-a.LooseLo != b.LooseHi-b.LooseLo {
		return false
	}
	for n := range a.CallHi - a.CallLo {
		c, d := &x.was.Calls[a.CallLo+n], &x.is.Calls[b.CallLo+n]
		if c.ID != d.ID || c.State != d.State || c.Misplaced != d.Misplaced || c.Result.Bytes != d.Result.Bytes || c.Result.Placeholder != d.Result.Placeholder || c.Result.Failed != d.Result.Failed {
			return false
		}
	}
	for n := range a.LooseHi - a.LooseLo {
		if x.was.Loose[a.LooseLo+n].ID != x.is.Loose[b.LooseLo+n].ID {
			return false
		}
	}
	return true
}

// repairs returns the repairs that change the turns of each hunk, and those of none.
func (x *comparison) repairs(hunks []turnHunk) (byHunk [][]int, rest []int) {
	type start struct {
		at   int64
		hunk int
	}
	in := map[int32]int{}
	for n, h := range hunks {
		for _, i := range h.was {
			in[i] = n + 1
		}
	}
	var starts []start // of all turns, with the number of their hunk, 0 for none
	for i := range x.was.Turns {
		starts = append(starts, start{x.was.Turns[i].At.Start, in[int32(i)]})
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Compare(a.at, b.at) })
	byHunk = make([][]int, len(hunks))
	for i := range x.fixed.Repairs {
		hunk := 0
		if fix := x.fixed.Repairs[i].Fix; fix < len(x.fixed.Places) {
			for _, at := range x.fixed.Places[fix] {
				n := sort.Search(len(starts), func(n int) bool { return starts[n].at > at.End })
				for k := n - 1; k >= 0 && k >= n-2 && hunk == 0; k-- { // or the turn before, to which something was added
					hunk = starts[k].hunk
				}
			}
		}
		if hunk == 0 {
			rest = append(rest, i)
		} else {
			byHunk[hunk-1] = append(byHunk[hunk-1], i)
		}
	}
	return byHunk, rest
}

// title writes a repair with its class and its rule.
func (x *comparison) title(i int) {
	r := &x.fixed.Repairs[i]
	x.row(colored(x.style.fix, r.Class.String()), bare(": "+r.Title+" ["+r.Rule+"]"))
}

// mostTitles is how many repairs are named above the turns that they change.
const mostTitles = 4

// hunk writes turns before and after the repair.
func (x *comparison) hunk(h turnHunk, repairs []int) {
	x.out.line()
	for n, i := range repairs {
		if n == mostTitles && len(repairs) > mostTitles+1 {
			x.row(bare("and " + count(len(repairs)-n, "more repair")))
			break
		}
		x.title(i)
	}
	side := func(m *mapper, turns []int32) [][]part {
		m.rows = nil
		quiet := func(i int32) bool {
			t := &m.Turns[i]
			return t.Answers && len(m.turns[i]) == 0 && t.CallLo == t.CallHi
		}
		told := slices.ContainsFunc(turns, func(i int32) bool { return !quiet(i) })
		for _, i := range turns {
			if told && quiet(i) {
				continue // its results are at their calls
			}
			m.turn(m.ThreadOf(i), i, 0)
		}
		return m.rows
	}
	was, is := side(x.was, h.was), side(x.is, h.is)
	if x.opts.width() < besideWidth {
		for _, row := range was {
			x.out.line(append([]part{colored(x.style.severity(rules.Error), "- ")}, row...)...)
		}
		for _, row := range is {
			x.out.line(append([]part{colored(x.style.fix, "+ ")}, row...)...)
		}
		return
	}
	line := divider
	if x.opts.ASCII {
		line = " | "
	}
	for i := range max(len(was), len(is)) {
		var row []part
		if i < len(was) {
			row = append(row, was[i]...)
		}
		row = append(row, bare(strings.Repeat(" ", max(x.was.opts.width()-measure(row...), 0))), colored(x.style.gutter, line))
		if i < len(is) {
			row = append(row, is[i]...)
		}
		x.out.line(row...)
	}
}
