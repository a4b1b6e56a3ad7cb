// Package pairing decides which result answers which call. Pair is a pure
// function of a conversation's neutral model: it knows no JSON, no rule and no
// provider.
//
// Pairing is by occurrence and not by a set of ids: an id may be used again in
// every turn, so a result belongs to a call of its id in a place.
package pairing

import (
	"slices"
	"strings"
	"unicode"

	"github.com/toolguard/toolguard/internal/transcript"
)

// A Confidence says what a pairing rests on.
type Confidence uint8

// The confidences, from the strongest to none.
const (
	Exact      Confidence = iota // the id, in the window
	Aliased                      // another id that one of them writes of itself
	Positional                   // name or position: an id is absent
	Trimmed                      // ids that are equal without the white space around them
	Nearest                      // one of several open calls of the id, the nearest
	Ambiguous                    // not decided
)

// String returns the name that reports print.
func (c Confidence) String() string {
	return [...]string{"exact", "alias", "positional", "trimmed", "nearest", "ambiguous"}[c]
}

// A State says what became of a call.
type State uint8

// The states of a call.
const (
	Answered    State = iota
	Missing           // no result is to be found
	Pending           // no result yet: nothing but results of its own turn follows, or its tool goes on
	Interrupted       // no result, and the writer marked the turn as aborted
	Copy              // an identical copy of another call of its turn
	Unclear           // without a usable id, and not to be paired uniquely
	Exempt            // needs no result of its own, or is a replay
)

// A Place says where an answer stands, seen from its call.
type Place uint8

// The places.
const (
	InWindow Place = iota
	Later          // behind the window
	Before         // before the call
)

// An Exchange is a call with what answered it.
type Exchange struct {
	State      State
	Place      Place
	Confidence Confidence
	// Result is the index of the answer, -1 without one.
	Result int32
	// CopyOf is the call that a Copy repeats, -1 otherwise.
	CopyOf int32
	// Candidates counts the open calls that could have been meant.
	Candidates int32
	// Crosses is set for an answer behind the window when moving it back to
	// its call would carry it across an assistant turn that was made without
	// it. Assistant messages that follow the call at once do not count: they
	// are the same model turn, split up.
	Crosses bool
	// Surplus is set for as many Unclear calls of a turn as there are fewer
	// results than calls. That many have no result, though it is not to be
	// told which.
	Surplus bool
}

// A Fate says what became of a result.
type Fate uint8

// The fates of a result.
const (
	Answers   Fate = iota
	Duplicate      // its call has been answered already
	Orphan         // its call is nowhere
	Undecided      // without a usable id, and not to be paired uniquely
	Ignored        // a replay
	Update         // its call has been answered already, and its tool goes on
)

// A Leftover is what a result turned out to be, Answers included.
type Leftover struct {
	Fate Fate
	// Call is the call it answers, or was answered before; -1 for none.
	Call int32
	// Surplus is set for as many Undecided results of a turn as there are more
	// results than calls.
	Surplus bool
}

// A Pairing holds one Exchange for each call and one Leftover for each result,
// by index.
type Pairing struct {
	Calls   []Exchange
	Results []Leftover
}

// Pair pairs the calls and results of a conversation. sameCall reports whether
// two calls of one id, given by index, are copies of each other; nil means
// never.
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
	p.byID(p.ids(Key), Exact)
	p.byAlias()
	p.byID(p.ids(func(t transcript.Token) string { return strings.TrimSpace(Key(t)) }), Trimmed)
	p.withoutIDs()
	p.server()
	p.finish()
	p.crossings()
	return p.out
}

// Key returns what two ids must share to be the same id, "" for an id that
// counts as absent: no member, null, an empty string, or the text "null". Ids
// are compared as the text they spell; a number is no string.
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
		// Halves of surrogate pairs decode to the same replacement character:
		// such ids are told apart by how they are written. So is a text that
		// could be taken for a key of this kind.
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

	// A turn that a compaction cuts in two is two turns here, since nothing pairs
	// across a compaction: parts has numbers for all but the first.
	parts map[part]int32
	// merged has, by turn, the turn that stands for all that are sent as one; nil
	// where each is sent alone.
	merged []int32
	// window has, by result, the turn whose results its message may carry, by
	// where it stands, and of those that are sent as one that which stands for
	// them; none.
	window []int32
	// rows tells, by message, in which row of messages of the model it is: nobody
	// else speaks between two of one row. It is nil until somebody asks.
	rows []int32
}

// A part is what a turn has in one segment.
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

// cut numbers the parts of the turns that compactions cut.
func (p *pairer) cut() {
	c := p.conv
	if !slices.ContainsFunc(c.Messages, func(m transcript.Message) bool { return m.Segment != 0 }) {
		return
	}
	p.parts = map[part]int32{}
	segmentOf := make([]int32, c.Turns) // by turn: the segment it begins in, from 1
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

// merge finds the turns that are sent as one: those of messages of the model
// between which nobody else speaks. It tells where results may stand, and nothing
// else: a call without one is missing it as soon as the model goes on.
func (p *pairer) merge() {
	c := p.conv
	if !c.Merged || c.Window != transcript.WindowUser {
		return
	}
	p.merged = make([]int32, c.Turns+len(p.parts))
	for i := range p.merged {
		p.merged[i] = int32(i)
	}
	before := map[int32]int32{} // by segment: the turn of the model that speaks
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

// sent returns the turn that stands for all that are sent as one with a turn.
func (p *pairer) sent(turn int32) int32 {
	if p.merged == nil {
		return turn
	}
	for p.merged[turn] != turn {
		p.merged[turn] = p.merged[p.merged[turn]] // the next look is shorter
		turn = p.merged[turn]
	}
	return turn
}

// place finds out in the window of which turn each result stands.
func (p *pairer) place() {
	c := p.conv
	p.window = make([]int32, len(c.Results))
	open := map[int32]int32{} // by segment: the turn whose window is open
	res := 0
	for i := range c.Messages {
		m := &c.Messages[i]
		window := none
		switch {
		case m.Has(transcript.MessageReplay):
		case c.Window == transcript.WindowOwn:
			window = p.turn(int32(i))
		default:
			if now, isOpen := open[m.Segment]; isOpen && p.carries(m) {
				window = now
			} else {
				delete(open, m.Segment)
			}
			if p.speaks(m) {
				open[m.Segment] = p.sent(p.turn(int32(i)))
			}
		}
		for ; res < len(c.Results) && int(c.Results[res].Message) == i; res++ {
			p.window[res] = window
		}
	}
}

// combined ties the results that are states of their calls' records.
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

// speaks reports whether a message is the model's own.
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

// carries reports whether a message is of the kind that carries results, so
// that it does not end a window.
func (p *pairer) carries(m *transcript.Message) bool {
	switch p.conv.Window {
	case transcript.WindowNext, transcript.WindowLog:
		return m.Role != transcript.RoleAssistant && !m.Has(transcript.MessageTyped)
	case transcript.WindowUser:
		return m.Role == transcript.RoleTool || m.Role == transcript.RoleUser
	}
	// In a chat dialect a user message carries results only when it is written
	// in another dialect.
	return m.Role == transcript.RoleTool || m.Role == transcript.RoleUser && m.Has(transcript.MessageForeign) &&
		m.BlockLo < m.BlockHi && p.conv.Blocks[m.BlockLo].Kind == transcript.BlockResult
}

// An occurrence is a call or a result of one id.
type occurrence struct {
	index  int32 // into Calls or Results
	result bool
}

// Keys are what calls and results are compared by, "" for none.
type keys struct{ call, result func(i int32) string }

// ids returns the keys that are made of the ids.
func (p *pairer) ids(key func(transcript.Token) string) keys {
	return keys{
		func(i int32) string { return key(p.conv.Calls[i].ID) },
		func(i int32) string { return key(p.conv.Results[i].ID) },
	}
}

// byAlias pairs what is left over by the other ids that calls and results write
// of themselves. A result whose call has got one under another id is a duplicate.
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
	alias := keys{func(i int32) string { return calls[i] }, func(i int32) string { return results[i] }}
	for _, k := range []keys{{alias.call, id.result}, {id.call, alias.result}, alias} {
		p.byID(k, Aliased)
	}
	// The nearest call before a result has it.
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

// byID pairs, key by key, what is still open. The second time round it sees only
// leftovers, under other keys.
func (p *pairer) byID(by keys, conf Confidence) {
	calls, results := p.left()
	if calls == 0 || results == 0 && (calls == 1 || conf != Exact) {
		return // there is nothing to answer, or to be told from a copy
	}
	g := group{pairer: p, conf: conf}
	all, ends := p.occurrences(by, calls, results)
	lo := int32(0)
	for _, hi := range ends {
		g.pair(all[lo:hi])
		lo = hi
	}
}

// left counts the calls and results that are open.
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

// occurrences returns the open calls and results group by group, a group being
// those of one id in one segment in the order of the blocks, and where each
// group ends.
func (p *pairer) occurrences(by keys, calls, results int) (all []occurrence, ends []int32) {
	c := p.conv
	type groupKey struct {
		segment  int32
		approval bool // approvals have ids of their own
		id       string
	}
	numbers := make(map[groupKey]int32, max(calls, results))
	flat := make([]occurrence, 0, calls+results)
	group := make([]int32, 0, calls+results) // by position in flat
	add := func(id string, kind transcript.CallKind, msg int32, o occurrence) {
		if id == "" {
			return
		}
		k := groupKey{c.Messages[msg].Segment, kind == transcript.KindApproval, id}
		n, seen := numbers[k]
		if !seen {
			n = int32(len(ends))
			numbers[k] = n
			ends = append(ends, 0)
		}
		ends[n]++
		flat, group = append(flat, o), append(group, n)
	}
	// Calls and results each stand in block order: merge them.
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

// A use is one turn's calls of an id.
type use struct {
	turn           int32
	lo, hi         int32 // its occurrences, up to the next use
	call, callsEnd int32 // its calls, in the group's; those before call are closed
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

// inRow counts the uses from i on that follow each other in messages of the model
// in a row, with no result between them. In a log, whose agent makes one message of
// them, each use is alone: there nothing is moved between them.
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

// row returns the row of messages of the model that a message is in.
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

// rowInOrder lets the results behind uses in a row answer the calls of all of
// them, the first the first, if there are as many of both: the model has used
// its id again before it saw a result.
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
			return false // it stands between two calls
		case g.inWindow(last, o.index):
			if results = append(results, o.index); len(results) > len(calls) {
				return false
			}
		}
	}
	if len(results) != len(calls) {
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

// inOrder lets the results in a use's window answer its calls, the first the
// first.
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

// inWindow reports whether a result lies in a use's window. Only results
// between the use and the next are asked about.
func (g *group) inWindow(u *use, result int32) bool {
	switch g.conv.Window {
	case transcript.WindowNext, transcript.WindowLog:
		return true
	}
	return g.window[result] == g.sent(u.turn)
}

// mostDistinct bounds the calls of one id in one turn that a further one is
// compared with: a real turn repeats a call or two.
const mostDistinct = 32

// copies marks the calls of a use without an answer that repeat another. One that
// can have a result of its own, though out of place, is no copy.
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

// open returns the first open call of a use, none where all are closed.
func (g *group) open(u *use) int32 {
	for ; u.call < u.callsEnd; u.call++ {
		if call := g.calls[u.call]; g.out.Calls[call].State == Missing {
			return call
		}
	}
	return none
}

// backward lets leftovers answer an open call of the nearest use before them.
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

// forward lets what is still left over answer an open call further on, if it
// stands directly before it and in no window. All others are duplicates.
func (g *group) forward() {
	g.forwardIn(nil, g.all[:g.uses[0].lo], &g.uses[0])
	for i := range g.uses {
		u := &g.uses[i]
		var next *use
		if i+1 < len(g.uses) {
			next = &g.uses[i+1]
		}
		g.forwardIn(u, g.all[u.lo:u.hi], next)
	}
}

// forwardIn does so between two uses, of which one can be absent.
func (g *group) forwardIn(u *use, between []occurrence, next *use) {
	for n, o := range between {
		if !o.result || g.out.Results[o.index].Fate != Orphan {
			continue
		}
		if n == len(between)-1 && next != nil && (u == nil || !g.inWindow(u, o.index)) {
			if call := g.open(next); call != none {
				g.answer(call, o.index, Before, g.conf, 1)
				continue
			}
		}
		of := u
		if of == nil {
			of = next
		}
		// A use begins with a call, and is answered from that on.
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

// withoutIDs pairs by name, then by position, within the window, what lacks an
// id on one side at least. Counts must be equal: nothing is guessed.
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
	// A call and a result that both have an id were compared already.
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

// unclear marks calls and results that do not come out even.
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

// keep returns those of a list that fit.
func keep(list []int32, fits func(int32) bool) (out []int32) {
	for _, i := range list {
		if fits(i) {
			out = append(out, i)
		}
	}
	return out
}

// server pairs provider-executed calls with results of their own turn.
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

// finish tells pending and interrupted calls from missing ones.
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

// goesOn reports whether it is recorded of a call, apart from it, that its result
// is to come.
func (p *pairer) goesOn(call *transcript.Call) bool {
	return call.Answer != transcript.AnswerOwnRecord && (call.State == transcript.CallWaiting || call.State == transcript.CallRunning)
}

// spokenLast returns the turn after which nobody said anything, though messages
// without results may follow it; none where somebody did.
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

// lastTurns returns the turns after which nothing but results of their own
// follows, one for each segment at most.
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

// resultsOf returns the turn whose results a message holds and nothing else.
func (p *pairer) resultsOf(msg int32) int32 {
	c := p.conv
	m := &c.Messages[msg]
	turn := none
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockResult {
			return none
		}
		now := p.window[c.Blocks[b].Ref] // of a result without an id
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

// crossings finds the late answers between whose call and place a turn was
// made without them.
func (p *pairer) crossings() {
	c := p.conv
	// Calls stand in the order of their messages, so that one walk back does
	// for all: at is where it has come.
	at := int32(len(c.Messages))
	model := at  // the first message of the model from there on
	wedged := at // the same, behind one that is not the model's
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
