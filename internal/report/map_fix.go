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
			x.title(i, true)
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

// A turnHunk is turns of a thread that change, one behind the other. Between them may be turns of results
// that stay.
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
	near := false // only results are between this hunk and the one before
	end := func() {
		answers := func(m *mapper, turns []int32) bool {
			return !slices.ContainsFunc(turns, func(i int32) bool { return !m.Turns[i].Answers })
		}
		switch {
		case len(h.was)+len(h.is) == 0:
			return
		case near && answers(x.was, h.was) && answers(x.is, h.is):
			last := &out[len(out)-1]
			last.was, last.is = append(last.was, h.was...), append(last.is, h.is...)
		default:
			out = append(out, h)
		}
		h, near = turnHunk{}, true
	}
	i, k := was.TurnLo, is.TurnLo
	for i < was.TurnHi || k < is.TurnHi {
		to, stay := stays[i]
		switch {
		case i < was.TurnHi && stay && to == k:
			end()
			near = near && x.was.Turns[i].Answers
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
	in := map[int32]int{}
	for n, h := range hunks {
		for _, i := range h.was {
			in[i] = n + 1
		}
	}
	// All turns by where they begin, each with the number of its hunk, 0 for none.
	type start struct {
		at      int64
		hunk    int
		answers bool
	}
	var starts []start
	for i := range x.was.Turns {
		t := &x.was.Turns[i]
		starts = append(starts, start{t.At.Start, in[int32(i)], t.Answers})
	}
	slices.SortFunc(starts, func(a, b start) int { return cmp.Compare(a.at, b.at) })
	behind := func(offset int64) int { // the first turn that begins behind an offset
		return sort.Search(len(starts), func(n int) bool { return starts[n].at > offset })
	}
	byHunk = make([][]int, len(hunks))
	causes := make([]map[string]int, len(hunks))
	for n, h := range hunks {
		causes[n] = x.causes(h)
	}
	for i := range x.fixed.Repairs {
		r := &x.fixed.Repairs[i]
		var found []int
		add := func(hunk int) {
			if hunk > 0 && !slices.Contains(found, hunk) {
				found = append(found, hunk)
			}
		}
		places := r.Dropped
		if r.Fix < len(x.fixed.Places) {
			places = slices.Concat(x.fixed.Places[r.Fix], places)
		}
		for _, at := range places {
			for k := max(behind(at.Start)-1, 0); k < behind(at.End-1); k++ {
				add(starts[k].hunk)
			}
		}
		for _, at := range places {
			// Or a turn nearby, to which something was added. Its results may be between.
			var near []int
			for k, turns := behind(at.End)-1, 0; k >= 0 && turns < 2 && len(found) == 0; k-- {
				if starts[k].hunk > 0 {
					near = append(near, starts[k].hunk)
				}
				if !starts[k].answers {
					turns++
				}
			}
			if n := slices.IndexFunc(near, func(h int) bool { return causes[h-1][r.Rule] > 0 }); n >= 0 {
				near = near[n:]
			}
			if len(near) > 0 {
				add(near[0])
			}
		}
		for n := range hunks { // or where its rule found something: a record may be written anew somewhere else
			if len(found) > 0 {
				break
			}
			named := 0
			for _, k := range byHunk[n] {
				if x.fixed.Repairs[k].Rule == r.Rule {
					named++
				}
			}
			if causes[n][r.Rule] > named {
				add(n + 1)
			}
		}
		for _, hunk := range found {
			byHunk[hunk-1] = append(byHunk[hunk-1], i)
		}
		if len(found) == 0 {
			rest = append(rest, i)
		}
	}
	// A repair of a call may write where its result belongs, which is near other turns that change.
	for n := range hunks {
		if len(byHunk[n]) > 0 {
			continue
		}
		for m := max(n-1, 0); m < min(n+2, len(hunks)); m++ {
			byHunk[m] = slices.DeleteFunc(byHunk[m], func(i int) bool {
				rule := x.fixed.Repairs[i].Rule
				moves := m != n && causes[n][rule] > 0 && causes[m][rule] == 0
				if moves && !slices.Contains(byHunk[n], i) {
					byHunk[n] = append(byHunk[n], i)
				}
				return moves
			})
		}
	}
	return byHunk, rest
}

// causes counts what was found in the turns of a hunk, by rule.
func (x *comparison) causes(h turnHunk) map[string]int {
	out := map[string]int{}
	count := func(found []*session.Problem) {
		for _, p := range found {
			out[p.Rule.Name]++
		}
	}
	for _, i := range h.was {
		t := &x.was.Turns[i]
		count(x.was.turns[i])
		for k := t.CallLo; k < t.CallHi; k++ {
			count(x.was.calls[k])
		}
		for k := t.LooseLo; k < t.LooseHi; k++ {
			count(x.was.loose[k])
		}
	}
	return out
}

// title writes a repair with its class and its rule, and where it is if no turn below it says so.
func (x *comparison) title(i int, alone bool) {
	r := &x.fixed.Repairs[i]
	where := ""
	if alone && r.Fix < len(x.fixed.Places) && len(x.fixed.Places[r.Fix]) > 0 {
		where = fmt.Sprintf(", line %d", x.line(x.fixed.Places[r.Fix][0].Start))
	}
	x.row(colored(x.style.fix, r.Class.String()), bare(": "+r.Title+" ["+r.Rule+"]"+where))
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
		x.title(i, false)
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
