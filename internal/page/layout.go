package page

import (
	"cmp"
	"slices"
	"sort"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// rowsInBlock is how many rows are in one block.
const rowsInBlock = 2000

// An entryKind says what a row is about.
type entryKind uint8

const (
	ofElement entryKind = iota // ref is an index of Session.Elements
	ofTurn                     // of Session.Turns, for a turn without elements
	ofThread                   // of Session.Threads
	ofFault                    // of layout.faults
)

// An entry is a row of the map.
type entry struct {
	kind  entryKind
	depth uint8
	first bool // of its turn
	ref   int32
}

// A fault is a record that cannot be read.
type fault struct {
	record int32
	at     source.Span
}

// A layout is the rows of a session, in the order in which they are shown.
type layout struct {
	s       *session.Session
	entries []entry
	faults  []fault
	// The rows of each thread that has a row of its own: from it to the row after its last one.
	threads [][2]int32
	// The rows by what they are about, -1 for none.
	call, result, loose, turn, thread, fault []int32
	// problems has the row of each kept finding, and at the findings by row.
	problems []int32
	at       map[int32][]int32
	spans    [][2]int64 // of the rows of each block that was written: where they begin and end
	// The first row of each record, and the rows by where they begin, once they are needed.
	byRecord map[int32]int32
	byStart  []int32
}

func (l *layout) blocks() int { return (len(l.entries) + rowsInBlock - 1) / rowsInBlock }

// none returns a list of n rows that are not known.
func none(n int) []int32 { return slices.Repeat([]int32{-1}, n) }

// layOut orders the rows of a session.
func layOut(s *session.Session) *layout {
	l := &layout{
		s: s, call: none(len(s.Calls)), result: none(len(s.Calls)), loose: none(len(s.Loose)),
		turn: none(len(s.Turns)), thread: none(len(s.Threads)), at: map[int32][]int32{},
	}
	if s.Report.File != nil {
		for _, f := range s.Report.File.Faults {
			if f.Unreadable() && (len(l.faults) == 0 || l.faults[len(l.faults)-1].record != f.Record) {
				l.faults = append(l.faults, fault{f.Record, f.Whole})
			}
		}
	}
	l.fault = none(len(l.faults))
	a := arranger{layout: l, below: map[int32][]int32{}, faults: map[int32][]int32{}}
	a.follow()
	for i, t := range s.Threads {
		if t.Parent >= 0 {
			turn := s.Calls[t.Parent].Turn
			a.below[turn] = append(a.below[turn], int32(i))
		}
	}
	a.unreadable(-1, 0)
	for i := range s.Threads {
		if s.Threads[i].Parent < 0 {
			a.thread(int32(i), 0)
		}
	}
	for i := range s.Threads {
		a.thread(int32(i), 0) // those that are below themselves
	}
	l.place()
	return l
}

// An arranger puts the rows of a layout in order.
type arranger struct {
	*layout
	below  map[int32][]int32 // the threads that begin in a turn
	faults map[int32][]int32 // the faults that are behind a turn, and before the next one in the source
}

// follow finds the turn that each fault is behind.
func (a *arranger) follow() {
	if len(a.layout.faults) == 0 {
		return
	}
	turns := make([]int32, len(a.s.Turns))
	for i := range turns {
		turns[i] = int32(i)
	}
	slices.SortStableFunc(turns, func(x, y int32) int { return cmp.Compare(a.s.Turns[x].At.Start, a.s.Turns[y].At.Start) })
	for i, f := range a.layout.faults {
		behind := int32(-1)
		if n := sort.Search(len(turns), func(k int) bool { return a.s.Turns[turns[k]].At.Start > f.at.Start }); n > 0 {
			behind = turns[n-1]
		}
		a.faults[behind] = append(a.faults[behind], int32(i))
	}
}

// add adds a row and returns its number.
func (a *arranger) add(e entry) int32 {
	a.entries = append(a.entries, e)
	return int32(len(a.entries) - 1)
}

// unreadable adds the faults behind a turn.
func (a *arranger) unreadable(turn int32, depth uint8) {
	for _, i := range a.faults[turn] {
		a.fault[i] = a.add(entry{kind: ofFault, depth: depth, ref: i})
	}
}

// thread adds the rows of a thread, unless they are there.
func (a *arranger) thread(i int32, depth uint8) {
	t := &a.s.Threads[i]
	if a.layout.thread[i] >= 0 {
		return
	}
	a.layout.thread[i] = int32(len(a.entries))
	if len(a.s.Threads) > 1 || t.Folded || t.TurnLo == t.TurnHi {
		row := a.add(entry{kind: ofThread, depth: depth, ref: i})
		defer func() {
			if end := int32(len(a.entries)); end > row+1 && len(a.threads) < mostThreads {
				a.threads = append(a.threads, [2]int32{row, end})
			}
		}()
	}
	for turn := t.TurnLo; turn < t.TurnHi; turn++ {
		a.turnOf(turn, depth)
		for _, child := range a.below[turn] {
			if depth < 200 {
				a.thread(child, depth+1)
			}
		}
		a.unreadable(turn, depth)
	}
}

// mostThreads is how many threads a page can fold.
const mostThreads = 20_000

// turnOf adds the rows of a turn.
func (a *arranger) turnOf(turn int32, depth uint8) {
	t := &a.s.Turns[turn]
	a.turn[turn] = int32(len(a.entries))
	for i := t.ElementLo; i < t.ElementHi; i++ {
		e := &a.s.Elements[i]
		row := a.add(entry{depth: depth, first: i == t.ElementLo, ref: i})
		switch {
		case e.Ref < 0:
		case e.Kind == session.ElementCall:
			a.call[e.Ref] = row
		case e.Kind == session.ElementResult:
			a.result[e.Ref] = row
		case e.Kind == session.ElementLoose:
			a.loose[e.Ref] = row
		}
	}
	if t.ElementLo == t.ElementHi {
		a.add(entry{kind: ofTurn, depth: depth, first: true, ref: turn})
	}
}

// span returns where a row is in the source.
func (l *layout) span(row int32) source.Span {
	switch e := l.entries[row]; e.kind {
	case ofElement:
		return l.s.Elements[e.ref].At
	case ofTurn:
		return l.s.Turns[e.ref].At
	case ofFault:
		return l.faults[e.ref].at
	}
	return source.Span{}
}

// place finds the row of each finding.
func (l *layout) place() {
	if len(l.entries) == 0 {
		return
	}
	i := 0
	for f := range l.s.Report.Findings.All() {
		row := l.rowOf(f, &l.s.Problems[i])
		l.problems = append(l.problems, row)
		l.at[row] = append(l.at[row], int32(i))
		i++
	}
}

// rowOf returns the row that a finding is about: always one, if only the nearest.
func (l *layout) rowOf(f *engine.Finding, p *session.Problem) int32 {
	switch {
	case p.Call >= 0 && p.OnResult && l.result[p.Call] >= 0:
		return l.result[p.Call]
	case p.Call >= 0 && l.call[p.Call] >= 0:
		return l.call[p.Call]
	case p.Loose >= 0 && l.loose[p.Loose] >= 0:
		return l.loose[p.Loose]
	}
	i, known := slices.BinarySearchFunc(l.faults, f.Record, func(x fault, record int32) int { return cmp.Compare(x.record, record) })
	if known && l.faults[i].at.Contains(f.Span) && l.fault[i] >= 0 {
		return l.fault[i]
	}
	if p.Turn >= 0 {
		t := &l.s.Turns[p.Turn]
		for i := t.ElementLo; i < t.ElementHi; i++ {
			if l.s.Elements[i].At.Contains(f.Span) {
				return l.turn[p.Turn] + i - t.ElementLo
			}
		}
		return l.turn[p.Turn]
	}
	if row, known := l.records()[f.Record]; known {
		return row
	}
	if p.Thread >= 0 && l.thread[p.Thread] >= 0 {
		return min(l.thread[p.Thread], int32(len(l.entries)-1))
	}
	return l.nearest(f.Span.Start)
}

// records returns the first row of each record.
func (l *layout) records() map[int32]int32 {
	if l.byRecord == nil {
		l.byRecord = map[int32]int32{}
		for row, e := range slices.Backward(l.entries) {
			switch e.kind {
			case ofElement:
				l.byRecord[l.s.Elements[e.ref].Record] = int32(row)
			case ofTurn:
				l.byRecord[l.s.Turns[e.ref].Record] = int32(row)
			}
		}
	}
	return l.byRecord
}

// nearest returns the last row that begins at or before an offset, or the first one.
func (l *layout) nearest(offset int64) int32 {
	if l.byStart == nil {
		l.byStart = make([]int32, len(l.entries))
		for i := range l.byStart {
			l.byStart[i] = int32(i)
		}
		slices.SortStableFunc(l.byStart, func(a, b int32) int { return cmp.Compare(l.span(a).Start, l.span(b).Start) })
	}
	n := sort.Search(len(l.byStart), func(i int) bool { return l.span(l.byStart[i]).Start > offset })
	return l.byStart[max(0, n-1)]
}

// severity returns the highest severity of the findings of a row.
func (l *layout) severity(row int32) rules.Severity {
	var most rules.Severity
	for _, i := range l.at[row] {
		most = max(most, l.s.Problems[i].Severity)
	}
	return most
}

// farAway is how many rows are between a call and its result that the page must know at once.
const farAway = 64

// mostFar is how many such pairs it knows.
const mostFar = 4000

// far returns the calls and results that are far from each other, the widest first.
func (l *layout) far() [][2]int32 {
	pairs := [][2]int32{}
	for i := range l.call {
		if from, to := l.call[i], l.result[i]; from >= 0 && to >= 0 && max(from, to)-min(from, to) > farAway {
			pairs = append(pairs, [2]int32{from, to})
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]int32) int {
		return cmp.Compare(max(b[0], b[1])-min(b[0], b[1]), max(a[0], a[1])-min(a[0], a[1]))
	})
	return pairs[:min(len(pairs), mostFar)]
}
