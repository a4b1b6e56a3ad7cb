package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// MapOptions say what a map shows of a session, and how.
type MapOptions struct {
	Options
	// ASCII writes no other characters.
	ASCII bool
	// Version is that of the agent that wrote the session, "" if it is not known.
	Version string
	// Problems shows only what is around findings: so many turns before and behind.
	Problems bool
	Context  int
	// SafeOnly and Unsafe are the classes of repairs that MapFixed was allowed to show.
	SafeOnly, Unsafe bool
	// Command is what to type to make these repairs, "" if they cannot be made.
	Command string
	// All folds nothing.
	All bool
	// Thread reports whether a thread is shown; nil for all.
	Thread func(*session.Thread) bool
	// Only reports whether a turn, or a call of it, is shown; all of its texts then are. nil for no
	// choice. turn is its number in the thread, id that of the call, "" for the turn.
	Only func(t *session.Thread, turn int, id string) bool
}

// Map writes a session as a map: its turns, the calls below their turn with what became of them, and
// what was found where it is. Stretches in which nothing was found are folded.
func Map(w io.Writer, src *source.Source, s *session.Session, opts MapOptions) error {
	m := newMapper(src, s, &opts)
	m.header()
	m.columns()
	for i := range s.Threads {
		if m.err != nil {
			return m.err
		}
		if t := &s.Threads[i]; m.shown(t) && (t.Parent < 0 || !m.shown(s.ThreadOf(s.Calls[t.Parent].Turn))) {
			m.thread(int32(i), 0)
		}
		if len(m.out.out) > diffBlock {
			if err := m.out.flush(w); err != nil {
				return err
			}
		}
	}
	m.beside(math.MaxInt32)
	m.legend()
	if m.err != nil {
		return m.err
	}
	return m.out.flush(w)
}

// legend says what the rules mean that found errors or warnings: the worst first, then the most often.
func (m *mapper) legend() {
	type found struct {
		rule     *rules.Rule
		severity rules.Severity
		n        int
	}
	var list []found
	for i := range m.Problems {
		p := &m.Problems[i]
		if p.Severity < rules.Warning || p.Thread >= 0 && !m.shown(&m.Threads[p.Thread]) {
			continue
		}
		k := slices.IndexFunc(list, func(f found) bool { return f.rule == p.Rule && f.severity == p.Severity })
		if k < 0 {
			k = len(list)
			list = append(list, found{p.Rule, p.Severity, 0})
		}
		list[k].n++
	}
	if len(list) == 0 || m.opts.Only != nil {
		return
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.severity, a.severity), cmp.Compare(b.n, a.n), cmp.Compare(a.rule.Name, b.rule.Name))
	})
	m.out.line()
	for _, f := range list {
		m.out.fold(m.opts.width(), "  ", colored(m.style.severity(f.severity), m.signs.sign(f.severity)+" "), unbroken(m.style.path, f.rule.Name),
			bare(fmt.Sprintf(", %s: %s.", count(f.n, "time"), m.plain(f.rule.Summary))))
	}
}

// A mapper writes a map.
type mapper struct {
	*session.Session
	opts  *MapOptions
	out   lines
	style *style
	signs signs
	lines *source.Lines
	err   error
	// turns, calls and loose are the findings about each, and rest those about none, by record.
	turns, calls, loose map[int32][]*session.Problem
	messages            map[*session.Problem]string // of findings, if only a part of the session is shown
	rest                []besideTurns
	parents             map[int32][]int32 // the threads that calls began
	numbers, places     int               // the widths of columns
	byLine              bool              // places are lines, not messages
	threads             int               // that were shown
	keeps               bool              // rows are kept and not written
	results             map[int32][]int32 // the calls that results of a turn answer; nil before it is needed
	rows                [][]part
}

// A besideTurns is a finding about no turn.
type besideTurns struct {
	*session.Problem
	record  int32
	line    int
	message string
}

// signs are the characters of a map.
type signs struct{ fork, last, bar, to, wrong, open, fold, dash, cut string }

// sign returns the mark of findings of a severity.
func (s *signs) sign(v rules.Severity) string {
	switch v {
	case rules.Error:
		return s.wrong
	case rules.Warning:
		return "!"
	}
	return "i"
}

var (
	unicodeSigns = signs{"├ ", "└ ", "│ ", "→", "✗", "…", "⋯", "–", ellipsis}
	asciiSigns   = signs{"|- ", "`- ", "|  ", "->", "x", "..", "...", "-", "~"}
)

func newMapper(src *source.Source, s *session.Session, opts *MapOptions) *mapper {
	m := &mapper{
		Session: s, opts: opts, style: newStyle(opts.Color), signs: unicodeSigns, lines: source.NewLines(src),
		turns: map[int32][]*session.Problem{}, calls: map[int32][]*session.Problem{}, loose: map[int32][]*session.Problem{}, parents: map[int32][]int32{},
		messages: map[*session.Problem]string{},
		byLine:   s.Report.File.Framing != source.FramingDocument,
	}
	if m.out.ascii = opts.ASCII; opts.ASCII {
		m.signs = asciiSigns
	}
	i := 0
	for f := range s.Report.Findings.All() {
		p := &s.Problems[i]
		i++
		if opts.Only != nil && !opts.NoExcerpt {
			m.messages[p] = f.Message
		}
		switch {
		case p.Call >= 0:
			m.calls[p.Call] = append(m.calls[p.Call], p)
		case p.Loose >= 0:
			m.loose[p.Loose] = append(m.loose[p.Loose], p)
		case p.Turn >= 0:
			m.turns[p.Turn] = append(m.turns[p.Turn], p)
		default:
			m.rest = append(m.rest, besideTurns{p, f.Record, f.Start.Line, f.Message})
		}
	}
	slices.SortStableFunc(m.rest, func(a, b besideTurns) int { return int(a.record) - int(b.record) })
	most := int32(0)
	for i := range s.Threads {
		t := &s.Threads[i]
		most = max(most, t.TurnHi-t.TurnLo)
		if t.Parent >= 0 {
			m.parents[t.Parent] = append(m.parents[t.Parent], int32(i))
		}
		if !m.byLine {
			m.places = max(m.places, len(m.placeOf(t, t.Turns)))
		}
	}
	if m.byLine {
		m.places = max(len("line"), len(strconv.Itoa(s.Report.File.Records)))
	}
	m.numbers = max(len("turn"), len(strconv.Itoa(int(most))))
	return m
}

// shown reports whether a thread is shown.
func (m *mapper) shown(t *session.Thread) bool { return m.opts.Thread == nil || m.opts.Thread(t) }

// placeOf returns how the provider of a thread names a message of it.
func (m *mapper) placeOf(t *session.Thread, message int) string {
	list := "messages"
	if p := profile.ByName(t.Provider); p != nil {
		list = p.Wire.List()
	}
	return list + "." + strconv.Itoa(message)
}

// header writes what the session is.
func (m *mapper) header() {
	r := m.Report
	what := r.File.Dialect
	if what == "" {
		what = "unknown format"
	}
	if m.opts.Version != "" {
		what += " " + m.opts.Version
	}
	if m.Model != "" {
		what += ", " + m.Model
	}
	turns := 0
	for i := range m.Threads {
		turns += m.Threads[i].Turns
	}
	var about []string
	if n := r.File.Conversations; n > 1 {
		about = append(about, count(n, "conversation"))
	}
	about = append(about, count(turns, "turn"), count(r.Calls, "call"), count(r.Results, "result"))
	if m.Last > m.First {
		about = append(about, spent(m.Last-m.First)+" from "+time.UnixMilli(m.First).Format("2006-01-02"))
	}
	about = append(about, short(m.Size))
	parts := []part{colored(m.style.path, what), bare(": ")}
	for i, text := range about {
		if i > 0 {
			parts = append(parts, bare(", "))
		}
		parts = append(parts, unbroken(nil, text))
	}
	errors, warnings := 0, 0
	for i := range m.Problems {
		switch m.Problems[i].Severity {
		case rules.Error:
			errors++
		case rules.Warning:
			warnings++
		}
	}
	for _, n := range []struct {
		n        int
		severity rules.Severity
	}{{errors, rules.Error}, {warnings, rules.Warning}} {
		if n.n > 0 {
			parts = append(parts, bare(", "), unbroken(m.style.severity(n.severity), count(n.n, n.severity.String())))
		}
	}
	if errors+warnings == 0 {
		parts = append(parts, bare(", "), unbroken(nil, "no problems"))
	}
	m.out.fold(m.opts.width(), "  ", parts...)
}

// columns writes the heads of the columns.
func (m *mapper) columns() {
	place := "message"
	if m.byLine {
		place = "line"
	}
	head := fmt.Sprintf("%*s %*s", m.numbers, "turn", m.places, place)
	if m.First > 0 {
		head += fmt.Sprintf(" %*s", timeWidth, "time")
	}
	m.out.line(colored(m.style.gutter, strings.TrimRight(head, " ")))
}

// timeWidth is the width of the column of times.
const timeWidth = 9

// lead returns the columns before what a row says. Negative numbers stand for nothing.
func (m *mapper) lead(number int, place, at string) []part {
	n := ""
	if number >= 0 {
		n = strconv.Itoa(number)
	}
	text := fmt.Sprintf("%*s %*s ", m.numbers, n, m.places, place)
	if m.First > 0 && !m.keeps {
		text += fmt.Sprintf("%*s ", timeWidth, at)
	}
	return []part{colored(m.style.gutter, text), bare(" ")}
}

// line returns the line of an offset.
func (m *mapper) line(offset int64) int {
	at, err := m.lines.Position(offset)
	if err != nil && m.err == nil {
		m.err = err
	}
	return at.Line
}

// place returns where a message is, as the column of places names it.
func (m *mapper) place(t *session.Thread, at source.Span, message int) string {
	if m.byLine {
		return strconv.Itoa(m.line(at.Start))
	}
	return m.placeOf(t, message)
}

// row writes a row, cut at the width.
func (m *mapper) row(parts ...part) {
	if measure(parts...) <= m.opts.width() {
		m.write(parts)
		return
	}
	for n := len(parts); n > 0; n-- {
		room := m.opts.width() - measure(parts[:n-1]...)
		if room < 1 {
			continue
		}
		cut := parts[n-1]
		cut.text = m.within(cut.text, room)
		if cut.text == parts[n-1].text {
			cut.text = written(head(cells([]byte(cut.text)), room-1)) + m.signs.cut // what follows is left out
		}
		m.write(append(slices.Clone(parts[:n-1]), cut))
		return
	}
}

// rowMarked writes a row with marks behind it, or below it if there is no room.
func (m *mapper) rowMarked(parts, more, marks []part) {
	if len(marks) == 0 || measure(parts...)+measure(marks...) <= m.opts.width() {
		m.row(append(parts, marks...)...)
		return
	}
	m.row(parts...)
	m.below(more, marks)
}

// below writes marks in rows of their own, further to the left if a mark needs that: no mark is cut.
func (m *mapper) below(lead, marks []part) {
	for len(marks) > 0 {
		for len(marks) > 1 && strings.TrimSpace(marks[0].text) == "" {
			marks = marks[1:]
		}
		n := 1
		for n < len(marks) && measure(lead...)+measure(marks[:n+1]...) <= m.opts.width() {
			n++
		}
		row := append(slices.Clone(lead), marks[:n]...)
		if over := measure(row...) - m.opts.width(); over > 0 {
			row = append([]part{bare(strings.Repeat(" ", max(measure(lead...)-over, 0)))}, marks[:n]...)
		}
		m.row(row...)
		marks = marks[n:]
	}
}

// write writes a row, or keeps it for who writes it beside another one.
func (m *mapper) write(parts []part) {
	for len(parts) > 0 {
		last := parts[len(parts)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			parts = append(slices.Clone(parts[:len(parts)-1]), last)
			break
		}
		parts = parts[:len(parts)-1]
	}
	if m.keeps {
		m.rows = append(m.rows, parts)
		return
	}
	m.out.line(parts...)
}

// plain returns a text in the characters that may be written.
func (m *mapper) plain(text string) string { return m.within(text, math.MaxInt) }

// within returns a text in so many columns.
func (m *mapper) within(text string, room int) string {
	if m.opts.ASCII {
		text = strings.Map(func(r rune) rune {
			if r > unicode.MaxASCII {
				return '?'
			}
			return r
		}, text)
	}
	all := cells([]byte(text))
	if columns(all) <= room {
		return text
	}
	return written(head(all, max(room-1, 0))) + m.signs.cut
}

// thread writes a thread, and those that its calls began.
func (m *mapper) thread(n int32, depth int) {
	t := &m.Threads[n]
	m.beside(t.Record)
	if m.opts.Only != nil {
		m.chosen(t)
		return
	}
	m.heading(t, depth)
	if t.Folded {
		return
	}
	see := m.visible(t)
	for i := t.TurnLo; i < t.TurnHi && m.err == nil; {
		if see[i-t.TurnLo] {
			m.turn(t, i, depth)
			i++
			continue
		}
		end := i
		for end < t.TurnHi && !see[end-t.TurnLo] && m.Turns[end].Superseded == m.Turns[i].Superseded {
			end++
		}
		m.fold(t, i, end, depth)
		i = end
	}
}

// mainName is what a conversation without a name is called.
const mainName = "main"

// heading writes which thread it is, unless the file has only one.
func (m *mapper) heading(t *session.Thread, depth int) {
	m.threads++
	if len(m.Threads) == 1 && !t.Folded {
		return
	}
	about := []string{count(t.Turns, "turn"), count(t.Calls, "call")}
	if t.Bytes > 0 {
		about = append(about, short(t.Bytes))
	}
	name := t.Name
	lead := []part{bare(strings.Repeat(m.signs.bar, depth))}
	switch {
	case t.Folded && t.N == 1:
		name = fmt.Sprintf("%s row at line %d, nothing found", m.signs.fold, m.line(t.At))
	case t.Folded:
		name = fmt.Sprintf("%s %s from line %d, nothing found", m.signs.fold, count(t.N, "row"), m.line(t.At))
	case t.Row:
		name = fmt.Sprintf("row at line %d", m.line(t.At))
	case name == "":
		name = mainName
	}
	if depth > 0 {
		lead = append(m.lead(-1, "", ""), lead...)
	}
	c := m.style.path
	if t.Folded {
		c = m.style.gutter
	}
	m.row(append(lead, colored(c, name), bare(": "+strings.Join(about, ", ")))...)
}

// mostSound is how many turns without findings are shown in a row.
const mostSound = 6

// visible returns which turns of a thread are shown.
func (m *mapper) visible(t *session.Thread) []bool {
	see := make([]bool, t.TurnHi-t.TurnLo)
	if m.opts.All && !m.opts.Problems {
		for i := range see {
			see[i] = true
		}
		return see
	}
	context := 1
	if m.opts.Problems {
		context = m.opts.Context
	}
	for i := t.TurnLo; i < t.TurnHi; i++ {
		if m.faulty(i) {
			// Turns that only hold results of calls shown do not count, because they have no row.
			at := int(i - t.TurnLo)
			see[at] = true
			for _, step := range []int{-1, 1} {
				for k, left := at+step, context; k >= 0 && k < len(see) && left > 0; k += step {
					see[k] = true
					if !m.Turns[t.TurnLo+int32(k)].Answers {
						left--
					}
				}
			}
		}
	}
	if m.opts.Problems {
		return see
	}
	for _, i := range []int{0, len(see) - 1} {
		if i >= 0 && i < len(see) {
			see[i] = true
		}
	}
	for lo := 0; lo < len(see); lo++ {
		if see[lo] {
			continue
		}
		hi, rows := lo, 0
		for hi < len(see) && !see[hi] {
			if !m.Turns[t.TurnLo+int32(hi)].Answers {
				rows++
			}
			hi++
		}
		for k := lo; rows <= mostSound && k < hi; k++ {
			see[k] = true
		}
		lo = hi
	}
	return see
}

// faulty reports whether anything was found in a turn or in the threads that its calls began.
func (m *mapper) faulty(turn int32) bool {
	if len(m.turns[turn]) > 0 {
		return true
	}
	t := &m.Turns[turn]
	for i := t.LooseLo; i < t.LooseHi; i++ {
		if len(m.loose[i]) > 0 {
			return true
		}
	}
	for i := t.CallLo; i < t.CallHi; i++ {
		if len(m.calls[i]) > 0 {
			return true
		}
		for _, thread := range m.parents[i] {
			for k := m.Threads[thread].TurnLo; k < m.Threads[thread].TurnHi; k++ {
				if m.faulty(k) {
					return true
				}
			}
		}
	}
	return false
}

// fold writes a stretch of turns as one row.
func (m *mapper) fold(t *session.Thread, lo, hi int32, depth int) {
	m.beside(m.Turns[lo].Record)
	m.ReadTimes(lo, lo+1)
	m.ReadTimes(hi-1, hi)
	first, last := m.Turns[lo].Time, m.Turns[hi-1].Time
	calls, answered := 0, 0
	var size int64
	for i := lo; i < hi; i++ {
		turn := &m.Turns[i]
		size += turn.Bytes
		for k := turn.CallLo; k < turn.CallHi; k++ {
			calls++
			if m.Calls[k].State == session.Answered || m.Calls[k].State == session.Exempt {
				answered++
			}
		}
	}
	name := "turn " + strconv.Itoa(int(lo-t.TurnLo))
	if hi-lo > 1 {
		name = fmt.Sprintf("turns %d%s%d", lo-t.TurnLo, m.signs.dash, hi-1-t.TurnLo)
	}
	about := []string{count(calls, "call")}
	switch {
	case m.Turns[lo].Superseded:
		name += ", no longer sent"
	case calls > 0 && answered == calls:
		about = append(about, "all answered")
	case calls > 0:
		about = append(about, fmt.Sprintf("%d answered", answered))
	}
	if first > 0 && last > first {
		about = append(about, spent(last-first))
	}
	about = append(about, short(size))
	m.row(bare(strings.Repeat(" ", max(m.numbers-len("turn"), 0))), bare(strings.Repeat(m.signs.bar, depth)),
		colored(m.style.gutter, m.signs.fold+" "+name+": "+strings.Join(about, ", ")))
}

// turn writes a turn with its calls.
func (m *mapper) turn(t *session.Thread, i int32, depth int) {
	m.ReadTimes(i, i+1)
	turn := &m.Turns[i]
	m.beside(turn.Record)
	if turn.Answers && len(m.turns[i]) == 0 && turn.CallLo == turn.CallHi && !m.keeps {
		return // its results are at their calls
	}
	m.turnRow(t, i, depth)
	last := func(k int32) bool { return k == turn.CallHi-1 && turn.LooseLo == turn.LooseHi }
	for k := turn.CallLo; k < turn.CallHi; {
		lo, n := k, m.alike(k, turn.CallHi, m.likeCall)
		for ; k < lo+n; k++ {
			if m.call(t, k, depth, last(k)); m.folds(n) && k == lo+fewAlike-1 {
				k = lo + n - 1
				m.moreCalls(t, lo, n-fewAlike, depth, last(k))
			}
		}
	}
	if m.keeps && turn.Answers {
		m.answers(i, depth)
	}
	for k := turn.LooseLo; k < turn.LooseHi; {
		lo, n := k, m.alike(k, turn.LooseHi, m.likeLoose)
		for ; k < lo+n; k++ {
			if m.looseResult(k, depth, k == turn.LooseHi-1); m.folds(n) && k == lo+fewAlike-1 {
				k = lo + n - 1
				m.more(depth, k == turn.LooseHi-1, count(int(n-fewAlike), "more result")+": ",
					append([]part{colored(m.style.severity(rules.Error), m.fate(&m.Loose[lo]))}, m.rules(m.loose[lo])...))
			}
		}
	}
}

// fewAlike is how many of many rows with equal marks are shown.
const fewAlike = 3

// folds reports whether only some of n rows with equal marks are shown.
func (m *mapper) folds(n int32) bool {
	return n > mostSound && !m.opts.All && m.opts.Only == nil && !m.keeps
}

// alike returns how many rows from lo on, below hi, are like the first one.
func (m *mapper) alike(lo, hi int32, like func(a, b int32) bool) int32 {
	k := lo + 1
	for k < hi && like(lo, k) {
		k++
	}
	return k - lo
}

// likeCall reports whether two calls have equal marks, and began no thread.
func (m *mapper) likeCall(a, b int32) bool {
	c, d := &m.Calls[a], &m.Calls[b]
	return c.State == d.State && c.Misplaced == d.Misplaced && len(m.parents[a]) == 0 && len(m.parents[b]) == 0 &&
		sameRules(m.calls[a], m.calls[b])
}

// likeLoose reports whether two results without a call have equal marks.
func (m *mapper) likeLoose(a, b int32) bool {
	return m.Loose[a].Fate == m.Loose[b].Fate && sameRules(m.loose[a], m.loose[b])
}

// sameRules reports whether the same rules found something twice.
func sameRules(a, b []*session.Problem) bool {
	return slices.EqualFunc(a, b, func(a, b *session.Problem) bool { return a.Rule == b.Rule && a.Severity == b.Severity })
}

// moreCalls writes how many further calls are like one.
func (m *mapper) moreCalls(t *session.Thread, like, n int32, depth int, last bool) {
	c := &m.Calls[like]
	what := count(int(n), "more call")
	where, fault := m.outcome(t, c)
	var marks []part
	switch found := m.rules(m.calls[like]); {
	case fault.text != "":
		what, marks = what+": ", append([]part{fault}, found...)
	case c.State == session.Answered:
		what, marks = what+", all answered", found
	default:
		what, marks = what+": "+where.text, found
	}
	m.more(depth, last, what, marks)
}

// more writes that there are more rows with the same marks.
func (m *mapper) more(depth int, last bool, what string, marks []part) {
	fork := m.signs.fork
	if last {
		fork = m.signs.last
	}
	bars := bare(strings.Repeat(m.signs.bar, depth))
	m.rowMarked(append(m.lead(-1, "", ""), bars, colored(m.style.gutter, fork+m.signs.fold+" "+what)), append(m.lead(-1, "", ""), bars, bare("    ")), marks)
}

// turnRow writes the row of a turn.
func (m *mapper) turnRow(t *session.Thread, i int32, depth int) {
	turn := &m.Turns[i]
	at := ""
	if turn.Time > 0 {
		if at = "+" + spent(turn.Time-m.First); turn.Time == m.First {
			at = clock(turn.Time)
		}
	}
	number := int(i - t.TurnLo)
	parts := append(m.lead(number, m.place(t, turn.At, int(turn.Message)), at), bare(strings.Repeat(m.signs.bar, depth)), bare(turn.Role.String()))
	marks := m.marks(m.turns[i])
	text := m.saidBy(turn)
	if room := m.opts.width() - measure(parts...) - measure(marks...) - 1; text != "" && room > leastRoom {
		parts = append(parts, bare(" "), colored(m.style.gutter, m.within(text, room)))
	}
	m.rowMarked(parts, append(m.lead(-1, "", ""), bare(strings.Repeat(m.signs.bar, depth))), marks)
}

// answers writes the results in a turn that holds nothing else, which is shown because it changes.
func (m *mapper) answers(turn int32, depth int) {
	if m.results == nil {
		m.results = map[int32][]int32{}
		for k := range m.Calls {
			if r := &m.Calls[k].Result; !r.At.IsZero() {
				m.results[r.Turn] = append(m.results[r.Turn], int32(k))
			}
		}
	}
	calls := m.results[turn]
	for i, k := range calls {
		c := &m.Calls[k]
		fork := m.signs.fork
		if i == len(calls)-1 {
			fork = m.signs.last
		}
		lead := append(m.lead(-1, "", ""), bare(strings.Repeat(m.signs.bar, depth)), colored(m.style.gutter, fork), bare("result"))
		for _, name := range []string{m.within(c.Tool, longestTool), m.within(c.ID, longestID)} {
			if name != "" {
				lead = append(lead, bare(" "), colored(m.style.code, name))
			}
		}
		m.row(append(lead, bare("  "+short(c.Result.Bytes)))...)
	}
}

// saidBy returns in one line what a turn says.
func (m *mapper) saidBy(t *session.Turn) string {
	text := ""
	if !m.opts.NoExcerpt {
		text = session.InLine(session.Said(m.Bytes(t.Text), t.Text.Cut()))
	}
	var about []string
	if text == "" && t.Thinks {
		about = append(about, "reasoning")
	}
	if t.Media > 0 {
		about = append(about, count(int(t.Media), "attachment"))
	}
	if t.Superseded {
		about = append(about, "no longer sent")
	}
	if t.Aborted {
		about = append(about, "aborted")
	}
	if len(about) > 0 {
		text = strings.TrimLeft(text+" ("+strings.Join(about, ", ")+")", " ")
	}
	return text
}

// call writes a call with what became of it, and the threads that it began.
func (m *mapper) call(t *session.Thread, k int32, depth int, last bool) {
	c := &m.Calls[k]
	turn := &m.Turns[c.Turn]
	place := ""
	if m.byLine && c.Record != turn.Record {
		place = strconv.Itoa(m.line(c.At.Start))
	}
	fork := m.signs.fork
	if last {
		fork = m.signs.last
	}
	parts := append(m.lead(-1, place, ""), bare(strings.Repeat(m.signs.bar, depth)), colored(m.style.gutter, fork), colored(m.style.code, m.within(c.Tool, longestTool)))
	where, fault := m.outcome(t, c)
	var marks []part
	if fault.text != "" {
		marks = append(marks, fault)
	}
	marks = append(marks, m.rules(m.calls[k])...)
	rest := bare("  ") // of the fork, in a second row
	if !last {
		rest = colored(m.style.gutter, m.signs.bar)
	}
	more := append(m.lead(-1, "", ""), bare(strings.Repeat(m.signs.bar, depth)), rest, bare("  "))
	said := ""
	if !m.opts.NoExcerpt {
		said = session.Arguments(m.Bytes(c.Args), c.Args.Cut())
	}
	// Of a long id, only the beginning is shown if there is no room for the arguments beside it. What
	// is wrong has a row of its own if there is no room for it either.
	for _, try := range []struct {
		id     int
		beside bool
	}{{longestID, true}, {shortestID, true}, {longestID, false}, {shortestID, false}} {
		var behind []part
		if c.ID != "" {
			behind = append(behind, bare("  "+m.within(c.ID, try.id)))
		}
		if where.text != "" {
			behind = append(behind, bare("  "), where)
		}
		if try.beside {
			switch {
			case where.text == "":
				behind = append(behind, bare("  "))
			case fault.text != "":
				behind = append(behind, bare(" "))
			}
			behind = append(behind, marks...)
		}
		room := m.opts.width() - measure(parts...) - measure(behind...) - 1
		switch {
		case try.id == longestID && room < min(roomOfArguments, textWidth(said)),
			try.beside && len(marks) > 0 && room < -1:
			continue
		}
		if said != "" && room > leastRoom {
			parts = append(parts, bare(" "), colored(m.style.gutter, m.within(said, room)))
		}
		m.row(append(parts, behind...)...)
		if !try.beside {
			m.below(more, marks)
		}
		break
	}
	for _, thread := range m.parents[k] {
		if m.shown(&m.Threads[thread]) {
			m.thread(thread, depth+1)
		}
	}
}

const (
	// longestID is how many columns an id takes at most, and shortestID how many it keeps.
	longestID  = 40
	shortestID = 16
	// roomOfArguments is how many columns are kept for arguments.
	roomOfArguments = 24
)

// outcome says where the result of a call is, and what is wrong with that.
func (m *mapper) outcome(t *session.Thread, c *session.Call) (where, fault part) {
	wrong := m.style.severity(rules.Error)
	switch c.State {
	case session.Missing:
		return part{}, colored(wrong, m.signs.wrong+" no result")
	case session.Interrupted:
		return part{}, colored(wrong, m.signs.wrong+" interrupted, no result")
	case session.Pending:
		return part{}, colored(m.style.severity(rules.Warning), m.signs.open+" no result yet")
	case session.Unclear:
		return part{}, colored(m.style.severity(rules.Warning), "? no id tells which result is its own")
	case session.Repeated:
		return colored(m.style.gutter, "repeats a call"), part{}
	}
	r := &c.Result
	if r.At.IsZero() {
		return colored(m.style.gutter, "needs no result"), part{}
	}
	var about []string
	if !r.Own {
		if place := m.place(t, r.At, int(m.Turns[r.Turn].Message)); m.byLine {
			about = append(about, "line "+place)
		} else {
			about = append(about, place)
		}
	}
	switch {
	case r.Placeholder:
		about = append(about, "placeholder")
	case r.MS >= 0:
		about = append(about, spent(r.MS), short(r.Bytes))
	default:
		about = append(about, short(r.Bytes))
	}
	if r.Failed {
		about = append(about, "error")
	}
	where = bare(m.signs.to + " " + strings.Join(about, ", "))
	if c.Misplaced {
		fault = colored(wrong, m.signs.wrong+" not where it belongs")
	}
	return where, fault
}

// looseResult writes a result that answers no call.
func (m *mapper) looseResult(k int32, depth int, last bool) {
	r := &m.Loose[k]
	turn := &m.Turns[r.Turn]
	place := ""
	if m.byLine && r.Record != turn.Record {
		place = strconv.Itoa(m.line(r.At.Start))
	}
	fork := m.signs.fork
	if last {
		fork = m.signs.last
	}
	parts := append(m.lead(-1, place, ""), bare(strings.Repeat(m.signs.bar, depth)), colored(m.style.gutter, fork), colored(m.style.code, m.within(r.Tool, longestTool)))
	if r.Tool != "" {
		parts = append(parts, bare("  "))
	}
	parts = append(parts, bare(m.within(r.ID, longestID)+"  "), colored(m.style.severity(rules.Error), m.fate(r)), bare(", "+short(r.Bytes)))
	more := append(m.lead(-1, "", ""), bare(strings.Repeat(m.signs.bar, depth)+"    "))
	m.rowMarked(parts, more, m.rules(m.loose[k]))
}

// fate says what is wrong with a result without a call.
func (m *mapper) fate(r *session.Loose) string {
	switch r.Fate {
	case pairing.Duplicate:
		return m.signs.wrong + " another result of a call that has one"
	case pairing.Undecided:
		return "? result without a usable id"
	}
	return m.signs.wrong + " result without a call"
}

// marks returns the marks of findings, behind a text.
func (m *mapper) marks(found []*session.Problem) (out []part) {
	if len(found) == 0 {
		return nil
	}
	worst := found[0].Severity
	for _, p := range found {
		worst = max(worst, p.Severity)
	}
	out = append(out, bare(" "), colored(m.style.severity(worst), m.signs.sign(worst)))
	return append(out, m.rules(found)...)
}

// rules returns the names of the rules of findings, each once.
func (m *mapper) rules(found []*session.Problem) (out []part) {
	if m.keeps { // the repair names them
		return nil
	}
	var told []*rules.Rule
	for _, p := range found {
		if !slices.Contains(told, p.Rule) {
			told = append(told, p.Rule)
			out = append(out, bare(" "), colored(m.style.severity(p.Severity), "["+p.Rule.Name+"]"))
		}
	}
	return out
}

// beside writes the findings about no turn up to a record.
func (m *mapper) beside(record int32) {
	if m.opts.Only != nil || m.keeps {
		return
	}
	for len(m.rest) > 0 && m.rest[0].record <= record {
		n := 1
		for n < len(m.rest) && m.rest[n].record <= record && m.rest[n].Rule == m.rest[0].Rule && m.rest[n].Severity == m.rest[0].Severity {
			n++
		}
		alike := m.rest[:n]
		m.rest = m.rest[n:]
		if !m.folds(int32(n)) {
			m.findings(alike)
			continue
		}
		m.findings(alike[:fewAlike])
		m.rowMarked(append(m.lead(-1, "", ""), colored(m.style.gutter, fmt.Sprintf("%s %d more", m.signs.fold, n-fewAlike))), append(m.lead(-1, "", ""), bare("  ")), m.rules([]*session.Problem{alike[0].Problem}))
	}
}

// findings writes findings about no turn.
func (m *mapper) findings(list []besideTurns) {
	for _, p := range list {
		place := ""
		if m.byLine {
			place = strconv.Itoa(p.line)
		}
		text := p.message
		if m.opts.NoExcerpt {
			text = ""
		}
		parts := append(m.lead(-1, place, ""), colored(m.style.severity(p.Severity), m.signs.sign(p.Severity)))
		behind := m.rules([]*session.Problem{p.Problem})
		if room := m.opts.width() - measure(parts...) - measure(behind...) - 1; text != "" && room > leastRoom {
			parts = append(parts, bare(" "+m.within(session.InLine(text), room)))
		}
		m.rowMarked(parts, append(m.lead(-1, "", ""), bare("  ")), behind)
	}
}

// spent writes a time that passed.
func spent(ms int64) string {
	const minute, hour, day = 60, 3600, 86400
	switch s := ms / 1000; {
	case s < minute:
		return fmt.Sprintf("%.1fs", float64(ms)/1000)
	case s < hour:
		return fmt.Sprintf("%dm%02ds", s/minute, s%minute)
	case s < day:
		return fmt.Sprintf("%dh%02dm", s/hour, s%hour/minute)
	default:
		return fmt.Sprintf("%dd%02dh", s/day, s%day/hour)
	}
}

// clock writes the time of day, as the clock of the machine shows it.
func clock(ms int64) string { return time.UnixMilli(ms).Format("15:04:05") }

// short writes a size in few characters.
func short(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
