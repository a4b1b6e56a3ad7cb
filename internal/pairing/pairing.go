// Package pairing decides which result answers which call. Pair is a pure function of the
// neutral model of a conversation. It knows no JSON, rules or providers.
//
// Results are matched to occurrences of calls rather than to a set of ids, because an id
// may be used again in every turn. A result belongs to a call with its id at a certain
// place.
package pairing

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A Confidence says what a pairing is based on.
type Confidence uint8

// The confidences, from strongest to none.
const (
	Exact      Confidence = iota // the same id, in the window
	Aliased                      // another id that the call or the result has
	Positional                   // name or position, because an id is absent
	Trimmed                      // ids that differ only in surrounding white space
	Nearest                      // the nearest of several open calls with the id
	Ambiguous                    // undecided
)

// String returns the name of the confidence in reports.
func (c Confidence) String() string {
	return [...]string{"exact", "alias", "positional", "trimmed", "nearest", "ambiguous"}[c]
}

// A State is the outcome of pairing for a call.
type State uint8

// The states of a call.
const (
	Answered    State = iota
	Missing           // there is no result
	Pending           // no result yet: only results of its own turn follow, or its tool is still running
	Interrupted       // no result, and the writer marked the turn as aborted
	Copy              // an identical copy of another call in its turn
	Unclear           // no usable id and no unique pairing
	Exempt            // needs no result of its own, or is a replay
)

// A Place is the location of a result relative to its call.
type Place uint8

// The places.
const (
	InWindow Place = iota
	Later          // after the window
	Before         // before the call
)

// An Exchange is a call with its result.
type Exchange struct {
	State      State
	Place      Place
	Confidence Confidence
	// Result is the index of the result, or -1.
	Result int32
	// CopyOf is the index of the call that a Copy repeats, or -1.
	CopyOf int32
	// Candidates is the number of open calls that may have been meant.
	Candidates int32
	// Crosses is set if a result after the window could be moved back to its call only
	// across an assistant turn that was made without it. Assistant messages directly
	// after the call do not count, because they are parts of the same model turn.
	Crosses bool
	// Surplus is set for some Unclear calls of a turn with more calls than results: as
	// many as lack a result. Which calls lack one is unknown.
	Surplus bool
}

// A Fate is the outcome of pairing for a result.
type Fate uint8

// The fates of a result.
const (
	Answers   Fate = iota
	Duplicate      // its call already has a result
	Orphan         // there is no call with its id
	Undecided      // no usable id and no unique pairing
	Ignored        // a replay
	Update         // its call already has a result, and its tool continues
)

// A Leftover is the outcome for one result, including Answers.
type Leftover struct {
	// Call is the index of the call of the result, or -1.
	Call int32
	Fate Fate
	// Surplus is set for some Undecided results of a turn with more results than calls:
	// as many as lack a call.
	Surplus bool
}

// A Pairing holds one Exchange for each call and one Leftover for each result, with the
// same indexes.
type Pairing struct {
	Calls   []Exchange
	Results []Leftover
	// Unique says that no two calls of the client have the same id, other than approvals and calls that are
	// Exempt. It is false if that is not known.
	Unique bool
}

// Pair pairs the calls and results of a conversation. sameCall reports whether two calls
// with the same id, given by index, are copies of each other; nil means never.
func Pair(c *transcript.Conversation, sameCall func(a, b int) bool) Pairing {
	p := &pairer{conv: c, same: sameCall}
	if p.same == nil {
		p.same = func(int, int) bool { return false }
	}
	p.start()
	p.cut()
	p.merge()
	p.place()
	p.combined()
	exact := p.ids(Key)
	exact.exact = true
	p.byID(exact, Exact)
	p.byAlias()
	p.byID(p.ids(func(t transcript.Token) string { return strings.TrimSpace(Key(t)) }), Trimmed)
	p.withoutIDs()
	p.repeated()
	p.server()
	p.finish()
	p.crossings()
	p.late()
	return p.out
}

// Key returns a key that equal ids share. It returns "" for an id that counts as absent:
// a missing field, null, an empty string, or the text "null". Ids are compared by their
// decoded text, and a number never equals a string.
func Key(t transcript.Token) string {
	if !t.IsString() {
		if t.Raw == "" || t.Raw == "null" {
			return ""
		}
		return "\x00" + t.Raw
	}
	s := t.Raw[1 : len(t.Raw)-1]
	if strings.IndexByte(s, '\\') >= 0 {
		s = t.Text()
		// Lone surrogates all decode to the replacement character, so such ids are
		// compared in raw form. The same applies to a text that looks like such a key.
		if strings.ContainsRune(s, unicode.ReplacementChar) || strings.HasPrefix(s, "\x00") {
			return "\x00" + t.Raw
		}
	}
	if s == "null" {
		return ""
	}
	return s
}

const none = int32(-1)

type pairer struct {
	conv *transcript.Conversation
	same func(a, b int) bool
	out  Pairing

	// A turn that is split by a compaction counts as two turns, because nothing pairs
	// across a compaction. parts numbers all parts but the first.
	parts map[part]int32
	// merged maps each turn to one that represents all turns sent together with it; nil
	// if each is sent alone.
	merged []int32
	// window maps each result to the turn in whose window it is, or none. For turns that
	// are sent together, it is the turn that represents them.
	window []int32
	// rows maps each message to its row, which is a run of messages of the model, and runs
	// maps each block to its run of results, with nothing else of its segment between them.
	// Both are nil until they are needed.
	rows, runs []int32
	steps      int // of passes
}

// A part is a turn within one segment.
type part struct{ segment, turn int32 }

func (p *pairer) start() {
	c := p.conv
	p.out.Calls = make([]Exchange, len(c.Calls))
	p.out.Results = make([]Leftover, len(c.Results))
	for i := range p.out.Calls {
		p.out.Calls[i] = Exchange{State: Missing, Result: none, CopyOf: none}
		switch call := &c.Calls[i]; {
		case call.Answer == transcript.AnswerProviderRecord, call.Answer == transcript.AnswerNone, c.Messages[call.Message].Has(transcript.MessageReplay):
			p.out.Calls[i].State = Exempt
		}
	}
	for i := range p.out.Results {
		p.out.Results[i] = Leftover{Fate: Orphan, Call: none}
		if c.Messages[c.Results[i].Message].Has(transcript.MessageReplay) {
			p.out.Results[i].Fate = Ignored
		}
	}
}

// cut numbers the parts of the turns that are split by compactions.
func (p *pairer) cut() {
	c := p.conv
	if !slices.ContainsFunc(c.Messages, func(m transcript.Message) bool { return m.Segment != 0 }) {
		return
	}
	p.parts = map[part]int32{}
	segmentOf := make([]int32, c.Turns) // for each turn, the segment it begins in, counted from 1
	for i := range c.Messages {
		m := &c.Messages[i]
		switch {
		case m.Has(transcript.MessageReplay), segmentOf[m.Turn] == m.Segment+1:
		case segmentOf[m.Turn] == 0:
			segmentOf[m.Turn] = m.Segment + 1
		default:
			k := part{m.Segment, m.Turn}
			if _, seen := p.parts[k]; !seen {
				p.parts[k] = int32(c.Turns + len(p.parts))
			}
		}
	}
}

// turn returns the turn of a message.
func (p *pairer) turn(message int32) int32 {
	m := &p.conv.Messages[message]
	if n, cut := p.parts[part{m.Segment, m.Turn}]; cut && !m.Has(transcript.MessageReplay) {
		return n
	}
	return m.Turn
}

// merge finds the turns that are sent together, which are consecutive messages of the
// model. It affects only where results are expected. A call without a result is missing
// it as soon as the model continues.
func (p *pairer) merge() {
	c := p.conv
	if !c.Merged || c.Window != transcript.WindowUser {
		return
	}
	p.merged = make([]int32, c.Turns+len(p.parts))
	for i := range p.merged {
		p.merged[i] = int32(i)
	}
	before := map[int32]int32{} // by segment: the current turn of the model
	for i := range c.Messages {
		switch m := &c.Messages[i]; {
		case m.Has(transcript.MessageReplay):
		case !p.speaks(m):
			delete(before, m.Segment)
		default:
			now := p.sent(p.turn(int32(i)))
			if turn, row := before[m.Segment]; row {
				p.merged[now] = p.sent(turn)
			}
			before[m.Segment] = now
		}
	}
}

// sent returns the turn that represents all turns sent together with the given one.
func (p *pairer) sent(turn int32) int32 {
	if p.merged == nil {
		return turn
	}
	for p.merged[turn] != turn {
		p.merged[turn] = p.merged[p.merged[turn]] // shortens the next lookup
		turn = p.merged[turn]
	}
	return turn
}

// place finds the turn in whose window each result is.
func (p *pairer) place() {
	c := p.conv
	p.window = make([]int32, len(c.Results))
	var open []int32 // by segment: the turn whose window is open, or none
	res := 0
	for i := range c.Messages {
		m := &c.Messages[i]
		window := none
		switch {
		case m.Has(transcript.MessageReplay):
		case c.Window == transcript.WindowOwn:
			window = p.turn(int32(i))
		default:
			for int(m.Segment) >= len(open) {
				open = append(open, none)
			}
			if open[m.Segment] != none && !p.carries(m) && !p.misspoken(m) {
				open[m.Segment] = none
			}
			window = open[m.Segment]
			if p.speaks(m) && !p.misspoken(m) {
				open[m.Segment] = p.sent(p.turn(int32(i)))
			}
		}
		for ; res < len(c.Results) && int(c.Results[res].Message) == i; res++ {
			p.window[res] = window
		}
	}
}

// combined pairs the results that are part of the records of their calls.
func (p *pairer) combined() {
	for i := range p.out.Results {
		if p.out.Results[i].Fate != Orphan {
			continue
		}
		if call := p.conv.OwnCall(int32(i)); call != none && p.out.Calls[call].State == Missing {
			p.answer(call, int32(i), InWindow, Exact, 1)
		}
	}
}

// repeated finds the results that repeat the one in the record of their call. Of several calls
// with the id, it is the nearest before the result.
func (p *pairer) repeated() {
	c := p.conv
	if !slices.ContainsFunc(p.out.Results, func(l Leftover) bool { return l.Fate == Orphan }) {
		return
	}
	type name struct {
		segment int32
		key     string
	}
	var own map[name]int32 // the calls so far whose records have their results
	for i := range c.Results {
		res := &c.Results[i]
		at := name{c.Messages[res.Message].Segment, Key(res.ID)}
		if call := c.OwnCall(int32(i)); call != none {
			if own == nil {
				own = map[name]int32{}
			}
			own[at] = call
			continue
		}
		call, is := own[at]
		if l := &p.out.Results[i]; is && at.key != "" && l.Fate == Orphan && p.out.Calls[call].State == Answered {
			l.Fate, l.Call = Duplicate, call
		}
	}
}

// speaks reports whether the model made a message.
func (p *pairer) speaks(m *transcript.Message) bool {
	if m.Role == transcript.RoleAssistant {
		return true
	}
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if k := p.conv.Blocks[b].Kind; k == transcript.BlockCall || k == transcript.BlockServerCall {
			return true
		}
	}
	return false
}

// misspoken reports whether a message consists of results, but has a role that cannot carry them.
// The model did not make it.
func (p *pairer) misspoken(m *transcript.Message) bool {
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if blk := &p.conv.Blocks[b]; blk.Kind != transcript.BlockResult || !p.conv.Results[blk.Ref].WrongRole {
			return false
		}
	}
	return m.BlockLo < m.BlockHi
}

// carries reports whether a message is of a kind that carries results, so that it does
// not close a window.
func (p *pairer) carries(m *transcript.Message) bool {
	switch p.conv.Window {
	case transcript.WindowNext, transcript.WindowLog:
		return m.Role != transcript.RoleAssistant && !m.Has(transcript.MessageTyped)
	case transcript.WindowUser:
		return m.Role == transcript.RoleTool || m.Role == transcript.RoleUser
	}
	// In a chat dialect, a user message carries results only if it is in another dialect.
	return m.Role == transcript.RoleTool || m.Role == transcript.RoleUser && m.Has(transcript.MessageForeign) &&
		m.BlockLo < m.BlockHi && p.conv.Blocks[m.BlockLo].Kind == transcript.BlockResult
}

// An occurrence is a call or a result with a certain id.
type occurrence struct {
	index  int32 // into Calls or Results
	result bool
}

// keys returns the keys by which calls and results are compared, "" for none. They are exact if they are
// those of Key.
type keys struct {
	call, result func(i int32) string
	exact        bool
}

// ids returns keys made from the ids.
func (p *pairer) ids(key func(transcript.Token) string) keys {
	return keys{
		call:   func(i int32) string { return key(p.conv.Calls[i].ID) },
		result: func(i int32) string { return key(p.conv.Results[i].ID) },
	}
}

// byAlias pairs what is left by the other ids of calls and results. A result is a
// duplicate if its call already has a result under another id.
func (p *pairer) byAlias() {
	if len(p.conv.Aliases) == 0 {
		return
	}
	calls, results := map[int32]string{}, map[int32]string{}
	note := func(of map[int32]string, i int32, alias, id transcript.Token) {
		if key := Key(alias); i >= 0 && of[i] == "" && key != Key(id) {
			of[i] = key
		}
	}
	for _, a := range p.conv.Aliases {
		if a.Call >= 0 {
			note(calls, a.Call, a.ID, p.conv.Calls[a.Call].ID)
		} else {
			note(results, a.Result, a.ID, p.conv.Results[a.Result].ID)
		}
	}
	id := p.ids(Key)
	alias := keys{call: func(i int32) string { return calls[i] }, result: func(i int32) string { return results[i] }}
	for _, k := range []keys{{call: alias.call, result: id.result}, {call: id.call, result: alias.result}, alias} {
		p.byID(k, Aliased)
	}
	// The nearest call before a result gets it.
	type name struct {
		segment int32
		key     string
	}
	last := map[name]int32{}
	next := 0
	for i := range p.conv.Results {
		res := &p.conv.Results[i]
		for ; next < len(p.conv.Calls) && p.conv.Calls[next].Block < res.Block; next++ {
			for _, key := range []string{id.call(int32(next)), calls[int32(next)]} {
				last[name{p.conv.Messages[p.conv.Calls[next].Message].Segment, key}] = int32(next)
			}
		}
		for _, key := range []string{id.result(int32(i)), results[int32(i)]} {
			call, known := last[name{p.conv.Messages[res.Message].Segment, key}]
			if l := &p.out.Results[i]; key != "" && known && l.Fate == Orphan && p.out.Calls[call].State == Answered && !res.Answer.ByProvider() {
				l.Fate, l.Call = Duplicate, call
			}
		}
	}
}

// byID pairs the open calls and results that have the same key. The second call sees only
// what is left, under other keys.
func (p *pairer) byID(by keys, conf Confidence) {
	calls, results := p.left()
	if calls == 0 || results == 0 && (calls == 1 || conf != Exact) {
		return // there is nothing to answer, and no copies to find
	}
	g := group{pairer: p, conf: conf}
	all, ends := p.occurrences(by, calls, results)
	lo := int32(0)
	for _, hi := range ends {
		g.pair(all[lo:hi])
		lo = hi
	}
}

// left returns the number of open calls and results.
func (p *pairer) left() (calls, results int) {
	for i := range p.out.Calls {
		if p.out.Calls[i].State == Missing && !p.conv.Calls[i].Answer.ByProvider() {
			calls++
		}
	}
	for i := range p.out.Results {
		if p.out.Results[i].Fate == Orphan && !p.conv.Results[i].Answer.ByProvider() {
			results++
		}
	}
	return calls, results
}

// occurrences returns the open calls and results in groups, and the end of each group. A
// group has those with the same id in one segment, in the order of the blocks.
func (p *pairer) occurrences(by keys, calls, results int) (all []occurrence, ends []int32) {
	c := p.conv
	// A group is known by the number of its id, twice that and one more for an approval, because
	// approvals have separate ids.
	type groupKey struct{ segment, id int32 }
	// The ids of a short conversation are compared one by one, which takes no memory.
	const few = 8
	var texts [2 * few]string
	var callMemory [2 * few]bool
	var groupMemory [4 * few]int32
	known, called, groups := texts[:0], callMemory[:0], groupMemory[:0]
	numberOf := func(id string) int32 {
		n := slices.Index(known, id)
		if n < 0 {
			n = len(known)
			known = known[:n+1]
			known[n] = id
		}
		return int32(n)
	}
	if most := max(calls, results); most > few {
		called, groups = make([]bool, 0, most), make([]int32, 0, 2*most)
		numberOf = newNumbers(most).of
	}
	// called says by number if a call has an id. groups are the numbers of the groups of segment 0, counted
	// from 1, and further those of other segments.
	unique := true
	var further map[groupKey]int32
	flat := make([]occurrence, 0, calls+results)
	group := make([]int32, 0, calls+results) // by index in flat
	add := func(id string, kind transcript.CallKind, msg int32, o occurrence) {
		if id == "" {
			return
		}
		number := numberOf(id)
		if int(number) == len(called) {
			called = append(called, false)
		}
		k := groupKey{c.Messages[msg].Segment, 2 * number}
		if kind == transcript.KindApproval {
			k.id++
		} else if !o.result {
			unique = unique && !called[number]
			called[number] = true
		}
		for int(k.id) >= len(groups) {
			groups = append(groups, 0)
		}
		n := &groups[k.id]
		if k.segment != 0 {
			if further == nil {
				further = map[groupKey]int32{}
			}
			in := further[k]
			n = &in
		}
		if *n == 0 {
			ends = append(ends, 0)
			if *n = int32(len(ends)); k.segment != 0 {
				further[k] = *n
			}
		}
		ends[*n-1]++
		flat, group = append(flat, o), append(group, *n-1)
	}
	// Calls and results are each in block order, so merge them.
	i, j := 0, 0
	for i < len(c.Calls) || j < len(c.Results) {
		if j == len(c.Results) || i < len(c.Calls) && c.Calls[i].Block < c.Results[j].Block {
			if call := &c.Calls[i]; p.out.Calls[i].State == Missing && !call.Answer.ByProvider() {
				add(by.call(int32(i)), call.Kind, call.Message, occurrence{int32(i), false})
			}
			i++
			continue
		}
		if res := &c.Results[j]; p.out.Results[j].Fate == Orphan && !res.Answer.ByProvider() {
			add(by.result(int32(j)), res.Kind, res.Message, occurrence{int32(j), true})
		}
		j++
	}
	if by.exact {
		all := 0 // the calls that can have the same id, of which combined may have paired some
		for i := range c.Calls {
			if p.out.Calls[i].State != Exempt && !c.Calls[i].Answer.ByProvider() {
				all++
			}
		}
		p.out.Unique = unique && all == calls
	}
	at := int32(0)
	for n, size := range ends {
		ends[n] = at
		at += size
	}
	all = make([]occurrence, len(flat))
	for n, o := range flat {
		all[ends[group[n]]] = o
		ends[group[n]]++
	}
	return all, ends
}

// A use is the calls with an id in one turn.
type use struct {
	turn           int32
	lo, hi         int32 // its occurrences, up to the next use
	call, callsEnd int32 // its calls, in the calls of the group; those before call are closed
}

// A group pairs the occurrences of one id.
type group struct {
	*pairer
	conf  Confidence
	all   []occurrence
	uses  []use
	calls []int32
}

func (g *group) pair(all []occurrence) {
	g.all = all
	g.split()
	if len(g.uses) == 0 {
		return // orphans
	}
	for i := 0; i < len(g.uses); {
		row := g.uses[i : i+g.inRow(i)]
		if i += len(row); g.rowInOrder(row) {
			continue
		}
		for k := range row {
			g.inOrder(&row[k])
		}
	}
	g.backward()
	g.forward()
}

// split finds the uses of the id.
func (g *group) split() {
	g.uses, g.calls = g.uses[:0], g.calls[:0]
	for n, o := range g.all {
		last := len(g.uses) - 1
		if !o.result {
			turn := g.turn(g.conv.Calls[o.index].Message)
			if last < 0 || g.uses[last].turn != turn {
				g.uses = append(g.uses, use{turn: turn, lo: int32(n), call: int32(len(g.calls))})
				last++
			}
			g.calls = append(g.calls, o.index)
			g.uses[last].callsEnd = int32(len(g.calls))
		}
		if last >= 0 {
			g.uses[last].hi = int32(n) + 1
		}
	}
}

// inRow returns the number of uses from i on that are in consecutive messages of the
// model without a result between them. In a log each use is alone: the agent merges such
// messages, so nothing is moved between them.
func (g *group) inRow(i int) int {
	n := 1
	for ; i+n < len(g.uses) && g.conv.Window != transcript.WindowLog; n++ {
		before, after := &g.uses[i+n-1], &g.uses[i+n]
		last, first := g.calls[before.callsEnd-1], g.calls[after.call]
		if before.hi-before.lo != before.callsEnd-before.call || g.row(g.conv.Calls[last].Message) != g.row(g.conv.Calls[first].Message) {
			break
		}
	}
	return n
}

// row returns the row of a message.
func (p *pairer) row(message int32) int32 {
	if p.rows == nil {
		c := p.conv
		p.rows = make([]int32, len(c.Messages))
		now := map[int32]int32{} // by segment
		next := int32(0)
		for i := range c.Messages {
			switch m := &c.Messages[i]; {
			case m.Has(transcript.MessageReplay):
			case !p.speaks(m):
				delete(now, m.Segment)
			default:
				if now[m.Segment] == 0 {
					next++
					now[m.Segment] = next
				}
				p.rows[i] = now[m.Segment]
			}
		}
	}
	return p.rows[message]
}

// run returns the run of results that a result is in.
func (p *pairer) run(result int32) int32 {
	if p.runs == nil {
		c := p.conv
		p.runs = make([]int32, len(c.Blocks))
		now := map[int32]int32{} // by segment
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Has(transcript.MessageReplay) {
				continue
			}
			if m.BlockLo == m.BlockHi { // it has only text
				now[m.Segment]++
			}
			for b := m.BlockLo; b < m.BlockHi; b++ {
				if c.Blocks[b].Kind != transcript.BlockResult {
					now[m.Segment]++
				}
				p.runs[b] = now[m.Segment]
			}
		}
	}
	return p.runs[p.conv.Results[result].Block]
}

// rowInOrder pairs the run of results after several uses in a row with the calls of all
// these uses, in order, if there are equally many. The model then used its id again before
// it saw a result. If anything is between the results, the first one may belong to the
// nearest call, and another one may be late.
func (g *group) rowInOrder(uses []use) bool {
	if len(uses) < 2 {
		return false
	}
	last := &uses[len(uses)-1]
	calls := g.calls[uses[0].call:last.callsEnd]
	var results []int32
	behind := int32(0) // calls of the last use
	for _, o := range g.all[last.lo:last.hi] {
		switch {
		case !o.result:
			behind++
		case behind < last.callsEnd-last.call:
			return false // it is between two calls
		case g.inWindow(last, o.index):
			if results = append(results, o.index); len(results) > len(calls) {
				return false
			}
		}
	}
	if len(results) != len(calls) || g.run(results[0]) != g.run(results[len(results)-1]) {
		return false
	}
	for n, call := range calls {
		place := InWindow
		if n < int(last.call-uses[0].call) {
			place = Later
		}
		g.answer(call, results[n], place, g.conf, 1)
	}
	return true
}

// inOrder pairs the results in the window of a use with its calls, in order.
func (g *group) inOrder(u *use) {
	first := u.call
	for _, o := range g.all[u.lo:u.hi] {
		if u.call == u.callsEnd {
			return
		}
		if o.result && g.inWindow(u, o.index) {
			g.answer(g.calls[u.call], o.index, InWindow, g.conf, 1)
			u.call++
		}
	}
	if g.conf == Exact {
		g.copies(u, g.calls[first:u.callsEnd])
	}
}

// inWindow reports whether a result is in the window of a use. The result must be between
// the use and the next one.
func (g *group) inWindow(u *use, result int32) bool {
	switch g.conv.Window {
	case transcript.WindowNext, transcript.WindowLog:
		return true
	}
	return g.window[result] == g.sent(u.turn)
}

// mostDistinct limits the calls with one id in one turn to which another one is compared.
// A real turn repeats only one or two calls.
const mostDistinct = 32

// copies marks the unanswered calls of a use that repeat another call. A call that may
// have its own result elsewhere is not a copy.
func (g *group) copies(u *use, calls []int32) {
	if len(calls) < 2 {
		return
	}
	left := 0
	for _, o := range g.all[u.lo:u.hi] {
		if o.result && g.out.Results[o.index].Fate == Orphan {
			left++
		}
	}
	var distinct []int32
	for _, call := range calls {
		x := &g.out.Calls[call]
		if x.State == Missing {
			left--
		}
		for _, first := range distinct {
			if x.State == Missing && left < 0 && g.same(int(first), int(call)) {
				x.State, x.CopyOf = Copy, first
				left++
			}
		}
		if x.State != Copy && len(distinct) < mostDistinct {
			distinct = append(distinct, call)
		}
	}
}

// open returns the first open call of a use, or none.
func (g *group) open(u *use) int32 {
	for ; u.call < u.callsEnd; u.call++ {
		if call := g.calls[u.call]; g.out.Calls[call].State == Missing {
			return call
		}
	}
	return none
}

// backward pairs leftover results with an open call of the nearest use before them.
func (g *group) backward() {
	open := int32(0) // open calls in the uses up to this one
	for i := range g.uses {
		u := &g.uses[i]
		for _, call := range g.calls[u.call:u.callsEnd] {
			if g.out.Calls[call].State == Missing {
				open++
			}
		}
		for _, o := range g.all[u.lo:u.hi] {
			if !o.result || g.out.Results[o.index].Fate != Orphan {
				continue
			}
			call := g.open(u)
			if call == none {
				break
			}
			conf, place := g.conf, Later
			if open > 1 {
				conf = Nearest
			}
			if g.conv.Results[o.index].Block < g.conv.Calls[call].Block {
				place = Before
			}
			g.answer(call, o.index, place, conf, open)
			open--
		}
	}
}

// forward pairs results that are still left with an open call after them. Such a result
// must be directly before the call and in no window. All other results are duplicates.
//
// Any open call of the id may have been meant, wherever it is, and any call whose late result
// may belong to another one.
func (g *group) forward() {
	open := int32(0)
	for _, call := range g.calls {
		if x := &g.out.Calls[call]; x.State == Missing || x.State == Answered && x.Confidence == Nearest {
			open++
		}
	}
	g.forwardIn(nil, g.all[:g.uses[0].lo], &g.uses[0], open)
	for i := range g.uses {
		u := &g.uses[i]
		var next *use
		if i+1 < len(g.uses) {
			next = &g.uses[i+1]
		}
		g.forwardIn(u, g.all[u.lo:u.hi], next, open)
	}
}

// forwardIn is forward between two uses, one of which may be nil. open is the number of calls
// that may have been meant.
func (g *group) forwardIn(u *use, between []occurrence, next *use, open int32) {
	for n, o := range between {
		if !o.result || g.out.Results[o.index].Fate != Orphan {
			continue
		}
		if n == len(between)-1 && next != nil && (u == nil || !g.inWindow(u, o.index)) {
			if call := g.open(next); call != none {
				conf := g.conf
				if open > 1 {
					conf = Nearest
				}
				g.answer(call, o.index, Before, conf, open)
				continue
			}
		}
		of := u
		if of == nil {
			of = next
		}
		// The first occurrence of a use is a call.
		fate, call := Duplicate, g.all[of.lo].index
		if u != nil && g.conv.Calls[call].Answer == transcript.AnswerLater {
			fate = Update
		}
		g.out.Results[o.index] = Leftover{Fate: fate, Call: call}
	}
}

func (p *pairer) answer(call, result int32, place Place, conf Confidence, candidates int32) {
	p.out.Calls[call] = Exchange{State: Answered, Place: place, Confidence: conf, Result: result, CopyOf: none, Candidates: candidates}
	p.out.Results[result] = Leftover{Fate: Answers, Call: call}
}

// withoutIDs pairs calls and results in the same window if at least one of them has no
// id. It compares names and then positions. It guesses nothing: the counts must be equal.
func (p *pairer) withoutIDs() {
	c := p.conv
	var calls, results map[int32][]int32 // by turn
	var turns []int32
	for i := range c.Results {
		turn := p.window[i]
		if turn != none && p.out.Results[i].Fate == Orphan && !c.Results[i].Answer.ByProvider() && c.Results[i].Kind != transcript.KindApproval {
			if results == nil {
				calls, results = map[int32][]int32{}, map[int32][]int32{}
			}
			results[turn] = append(results[turn], int32(i))
		}
	}
	if results == nil {
		return
	}
	for i := range c.Calls {
		turn := p.sent(p.turn(c.Calls[i].Message))
		if p.out.Calls[i].State != Missing || c.Calls[i].Answer.ByProvider() || c.Calls[i].Kind == transcript.KindApproval || results[turn] == nil {
			continue
		}
		if calls[turn] == nil {
			turns = append(turns, turn)
		}
		calls[turn] = append(calls[turn], int32(i))
	}
	for _, turn := range turns {
		p.turnWithoutIDs(calls[turn], results[turn])
	}
}

// turnWithoutIDs pairs the open calls and results of one turn.
func (p *pairer) turnWithoutIDs(calls, results []int32) {
	c := p.conv
	callLacks := func(i int32) bool { return Key(c.Calls[i].ID) == "" }
	resultLacks := func(i int32) bool { return Key(c.Results[i].ID) == "" }
	// A call and a result that both have ids have already been compared.
	if !slices.ContainsFunc(results, resultLacks) {
		calls = keep(calls, callLacks)
	} else if !slices.ContainsFunc(calls, callLacks) {
		results = keep(results, resultLacks)
	}
	type side struct{ calls, results []int32 }
	names := map[string]*side{}
	var order []*side
	named := func(t transcript.Token) *side {
		name := Key(t)
		s := names[name]
		if s == nil {
			s = &side{}
			names[name] = s
			if name != "" {
				order = append(order, s)
			}
		}
		return s
	}
	for _, i := range calls {
		s := named(c.Calls[i].Name)
		s.calls = append(s.calls, i)
	}
	for _, i := range results {
		s := named(c.Results[i].Name)
		s.results = append(s.results, i)
	}
	for _, s := range order {
		if len(s.calls) == len(s.results) {
			p.byPosition(s.calls, s.results)
		}
	}
	calls = keep(calls, func(i int32) bool { return p.out.Calls[i].State == Missing })
	results = keep(results, func(i int32) bool { return p.out.Results[i].Fate == Orphan })
	switch {
	case len(calls) == len(results):
		p.byPosition(calls, results)
	case len(calls) > 0 && len(results) > 0:
		p.unclear(calls, results)
	}
}

func (p *pairer) byPosition(calls, results []int32) {
	for i, call := range calls {
		if Key(p.conv.Calls[call].ID) == "" || Key(p.conv.Results[results[i]].ID) == "" {
			p.answer(call, results[i], InWindow, Positional, 1)
		}
	}
}

// unclear marks calls and results whose numbers differ.
func (p *pairer) unclear(calls, results []int32) {
	for n, call := range calls {
		x := &p.out.Calls[call]
		x.State, x.Confidence, x.Surplus = Unclear, Ambiguous, n >= len(results)
	}
	for n, res := range results {
		l := &p.out.Results[res]
		l.Fate, l.Surplus = Undecided, n >= len(calls)
	}
}

// keep returns the elements of a list for which fits holds.
func keep(list []int32, fits func(int32) bool) (out []int32) {
	for _, i := range list {
		if fits(i) {
			out = append(out, i)
		}
	}
	return out
}

// server pairs provider-executed calls with results in their own turn.
func (p *pairer) server() {
	c := p.conv
	type key struct {
		turn int32
		id   string
	}
	open := map[key][]int32{}
	for i := range c.Blocks {
		b := &c.Blocks[i]
		switch b.Kind {
		case transcript.BlockServerCall:
			if p.out.Calls[b.Ref].State == Missing {
				k := key{p.turn(b.Message), Key(c.Calls[b.Ref].ID)}
				open[k] = append(open[k], b.Ref)
			}
		case transcript.BlockServerResult:
			if p.out.Results[b.Ref].Fate == Ignored {
				continue
			}
			k := key{p.turn(b.Message), Key(c.Results[b.Ref].ID)}
			if q := open[k]; len(q) > 0 {
				p.answer(q[0], b.Ref, InWindow, Exact, 1)
				open[k] = q[1:]
			}
		}
	}
}

// finish distinguishes pending and interrupted calls from missing ones.
func (p *pairer) finish() {
	c := p.conv
	if !slices.ContainsFunc(p.out.Calls, func(x Exchange) bool { return x.State == Missing }) {
		return
	}
	aborted := map[int32]bool{} // turns
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Has(transcript.MessageAborted) && !m.Has(transcript.MessageReplay) {
			aborted[p.turn(int32(i))] = true
		}
	}
	pending := p.lastTurns()
	for i := range p.out.Calls {
		x := &p.out.Calls[i]
		if x.State != Missing {
			continue
		}
		switch turn := p.turn(c.Calls[i].Message); {
		case aborted[turn], c.Calls[i].State == transcript.CallInterrupted:
			x.State = Interrupted
		case c.Calls[i].State == transcript.CallPassed:
		case pending[turn], c.Calls[i].Answer == transcript.AnswerLater, p.goesOn(&c.Calls[i]) && p.spokenLast() == turn:
			x.State = Pending
		}
	}
}

// goesOn reports whether something other than the call itself records that its result is
// still to come.
func (p *pairer) goesOn(call *transcript.Call) bool {
	return call.Answer != transcript.AnswerOwnRecord && (call.State == transcript.CallWaiting || call.State == transcript.CallRunning)
}

// spokenLast returns the last turn if nobody spoke after it, or none. Messages without
// results may still follow it.
func (p *pairer) spokenLast() int32 {
	c := p.conv
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		if m.Has(transcript.MessageReplay) {
			continue
		}
		if p.speaks(m) {
			return p.turn(int32(i))
		}
		for _, b := range c.Blocks[m.BlockLo:m.BlockHi] {
			if b.Kind == transcript.BlockText || b.Kind == transcript.BlockMedia {
				return none
			}
		}
	}
	return none
}

// lastTurns returns the turns that are followed only by their own results, at most one
// for each segment.
func (p *pairer) lastTurns() map[int32]bool {
	c := p.conv
	last := map[int32]bool{}
	decided := map[int32]bool{} // segments
	of := map[int32]int32{}     // by segment: the turn whose results were passed
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		if decided[m.Segment] || m.Has(transcript.MessageReplay) {
			continue
		}
		if p.speaks(m) {
			turn, passed := of[m.Segment]
			now := p.turn(int32(i))
			last[now] = !passed || turn == now
			decided[m.Segment] = true
			continue
		}
		switch c.Window {
		case transcript.WindowLog:
			decided[m.Segment] = m.Has(transcript.MessageTyped)
		case transcript.WindowUser:
			decided[m.Segment] = true
		default:
			turn := p.resultsOf(int32(i))
			if before, passed := of[m.Segment]; turn == none || passed && before != turn {
				decided[m.Segment] = true
			}
			of[m.Segment] = turn
		}
	}
	return last
}

// resultsOf returns the turn of the results in a message, if the message has nothing
// else.
func (p *pairer) resultsOf(msg int32) int32 {
	c := p.conv
	m := &c.Messages[msg]
	turn := none
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockResult {
			return none
		}
		now := p.window[c.Blocks[b].Ref] // for a result without an id
		switch l := p.out.Results[c.Blocks[b].Ref]; l.Fate {
		case Answers, Duplicate, Update:
			now = p.turn(c.Calls[l.Call].Message)
		case Undecided:
		default:
			return none
		}
		if b > m.BlockLo && now != turn {
			return none
		}
		turn = now
	}
	return turn
}

// crossings finds the late results that have a turn made without them between themselves
// and their call.
func (p *pairer) crossings() {
	c := p.conv
	// Calls are in the order of their messages, so one walk backward from at is enough.
	at := int32(len(c.Messages))
	model := at  // the first message of the model at or after at
	wedged := at // the same, but after a message that is not the model's
	for i := range slices.Backward(p.out.Calls) {
		x := &p.out.Calls[i]
		if x.State != Answered || x.Place != Later {
			continue
		}
		for ; at > c.Calls[i].Message+1; at-- {
			switch m := &c.Messages[at-1]; {
			case m.Has(transcript.MessageReplay):
			case m.Role == transcript.RoleAssistant:
				model = at - 1
			default:
				wedged = model
			}
		}
		x.Crosses = wedged < c.Results[x.Result].Message
	}
}

// late finds the results of a log that are behind a message of a later turn that ends their own. That
// turn was made without them.
func (p *pairer) late() {
	c := p.conv
	if !c.Closes {
		return
	}
	// A spoken is the first such message at or after at, and the first one after it of another turn.
	type spoken struct{ first, other int32 }
	next := map[int32]spoken{} // by segment
	at := int32(len(c.Messages))
	for i := range slices.Backward(p.out.Calls) {
		call := c.Calls[i].Message
		for ; at > call; at-- { // up to the message of the call
			m := &c.Messages[at-1]
			if !p.closes(at - 1) {
				continue
			}
			was, known := next[m.Segment]
			switch {
			case !known:
				was.other = int32(len(c.Messages))
			case p.turn(was.first) != p.turn(at-1):
				was.other = was.first
			}
			next[m.Segment] = spoken{at - 1, was.other}
		}
		x := &p.out.Calls[i]
		if x.State != Answered || x.Place != InWindow || c.Messages[call].Has(transcript.MessageSuperseded) {
			continue
		}
		if res := c.Results[x.Result].Message; next[c.Messages[call].Segment].other < res && (c.Above == nil || p.passes(res, call)) {
			x.Place, x.Crosses = Later, true
		}
	}
}

// closes reports whether a message that is sent ends the turn before it.
func (p *pairer) closes(message int32) bool {
	m := &p.conv.Messages[message]
	return m.Has(transcript.MessageCloses) && !m.Has(transcript.MessageReplay) && !m.Has(transcript.MessageSuperseded)
}

// mostSteps limits how many steps passes may take for each message of a log. Otherwise a log with very
// many late results would take quadratic time.
const mostSteps = 64

// passes reports whether a result descends from its call by way of another turn.
func (p *pairer) passes(result, call int32) (other bool) {
	for at := p.conv.Above[result]; at != call; p.steps++ {
		if at < 0 || p.steps > mostSteps*len(p.conv.Messages) {
			return false
		}
		other = other || p.closes(at) && p.turn(at) != p.turn(call)
		at = p.conv.Above[at]
	}
	return other
}
