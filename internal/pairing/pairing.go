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
	Positional                   // name or position: an id is absent
	Trimmed                      // ids that are equal without the white space around them
	Nearest                      // one of several open calls of the id, the nearest
	Ambiguous                    // not decided
)

// String returns the name that reports print.
func (c Confidence) String() string {
	return [...]string{"exact", "positional", "trimmed", "nearest", "ambiguous"}[c]
}

// A State says what became of a call.
type State uint8

// The states of a call.
const (
	Answered    State = iota
	Missing           // no result is to be found
	Pending           // no result yet: nothing but results of its own turn follows
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
)

// A Leftover is what a result turned out to be, Answers included.
type Leftover struct {
	Fate Fate
	// Call is the call it answers, or repeats the answer of; -1 for none.
	Call int32
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
	p.byID(func(t transcript.Token) string { return Key(t) }, Exact)
	p.byID(func(t transcript.Token) string { return strings.TrimFunc(Key(t), unicode.IsSpace) }, Trimmed)
	p.withoutIDs()
	p.server()
	p.finish()
	return p.out
}

// Key returns what two ids must share to be the same id, "" for an id that
// counts as absent: no member, null, an empty string, or the text "null". Ids
// are compared as the text they spell; a number is no string.
func Key(t transcript.Token) string {
	switch t.Raw {
	case "", "null", `""`, `"null"`:
		return ""
	}
	if t.IsString() {
		if strings.IndexByte(t.Raw, '\\') < 0 {
			return t.Raw[1 : len(t.Raw)-1]
		}
		// Halves of surrogate pairs decode to the same replacement character:
		// such ids are told apart by how they are written.
		if s := t.Text(); !strings.ContainsRune(s, unicode.ReplacementChar) {
			return s
		}
		return t.Raw
	}
	return "\x00" + t.Raw
}

const none = int32(-1)

type pairer struct {
	conv *transcript.Conversation
	same func(a, b int) bool
	out  Pairing

	turnLo, turnHi []int32 // first and last message of each turn
	winEnd         []int32 // by turn, cached: one past the last message of its window
}

func (p *pairer) start() {
	c := p.conv
	p.out.Calls = make([]Exchange, len(c.Calls))
	p.out.Results = make([]Leftover, len(c.Results))
	for i := range p.out.Calls {
		p.out.Calls[i] = Exchange{State: Missing, Result: none, CopyOf: none}
		if call := &c.Calls[i]; call.Hosted || c.Messages[call.Message].Has(transcript.MessageReplay) {
			p.out.Calls[i].State = Exempt
		}
	}
	for i := range p.out.Results {
		p.out.Results[i] = Leftover{Fate: Orphan, Call: none}
		if c.Messages[c.Results[i].Message].Has(transcript.MessageReplay) {
			p.out.Results[i].Fate = Ignored
		}
	}
	p.turnLo = make([]int32, c.Turns)
	p.turnHi = make([]int32, c.Turns)
	p.winEnd = make([]int32, c.Turns)
	for i := range p.turnLo {
		p.turnLo[i] = none
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Has(transcript.MessageReplay) {
			continue
		}
		if p.turnLo[m.Turn] == none {
			p.turnLo[m.Turn] = int32(i)
		}
		p.turnHi[m.Turn] = int32(i)
	}
}

// An occurrence is a call or a result of one id, in the order of the blocks.
type occurrence struct {
	block  int32
	index  int32 // into Calls or Results
	result bool
}

type groupKey struct {
	segment int32
	id      string
}

// byID pairs, id by id, what is still open. The second time round it sees only
// leftovers, under a laxer key.
func (p *pairer) byID(key func(transcript.Token) string, conf Confidence) {
	c := p.conv
	groups := make(map[groupKey][]occurrence, len(c.Calls))
	var order []groupKey
	add := func(t transcript.Token, msg int32, o occurrence) {
		k := groupKey{c.Messages[msg].Segment, key(t)}
		if k.id == "" {
			return
		}
		if _, seen := groups[k]; !seen {
			order = append(order, k)
		}
		groups[k] = append(groups[k], o)
	}
	// Calls and results each stand in block order: merge them.
	i, j := 0, 0
	for i < len(c.Calls) || j < len(c.Results) {
		if j == len(c.Results) || i < len(c.Calls) && c.Calls[i].Block < c.Results[j].Block {
			if call := &c.Calls[i]; p.out.Calls[i].State == Missing && !call.Server {
				add(call.ID, call.Message, occurrence{call.Block, int32(i), false})
			}
			i++
			continue
		}
		if res := &c.Results[j]; p.out.Results[j].Fate == Orphan && !res.Server {
			add(res.ID, res.Message, occurrence{res.Block, int32(j), true})
		}
		j++
	}
	for _, k := range order {
		if g := groups[k]; conf == Exact || twoSided(g) {
			p.group(g, conf)
		}
	}
}

// twoSided reports whether a group holds both calls and results: of leftovers,
// only such a group can still pair.
func twoSided(g []occurrence) bool {
	calls, results := false, false
	for _, o := range g {
		if o.result {
			results = true
		} else {
			calls = true
		}
	}
	return calls && results
}

// group pairs the occurrences of one id.
func (p *pairer) group(g []occurrence, conf Confidence) {
	c := p.conv
	// The calls of the id, by turn: g[lo:hi] from a turn's first call to the
	// next turn's.
	type use struct{ turn, at, next int }
	var uses []use
	for n, o := range g {
		if o.result {
			continue
		}
		turn := int(c.Messages[c.Calls[o.index].Message].Turn)
		if len(uses) > 0 && uses[len(uses)-1].turn == turn {
			continue
		}
		if len(uses) > 0 {
			uses[len(uses)-1].next = n
		}
		uses = append(uses, use{turn, n, len(g)})
	}
	if len(uses) == 0 {
		return // orphans
	}
	callsOf := func(u use) []int32 {
		var calls []int32
		for _, o := range g[u.at:u.next] {
			if !o.result {
				calls = append(calls, o.index)
			}
		}
		return calls
	}
	// In its window, results answer the calls in order.
	for _, u := range uses {
		calls := callsOf(u)
		n := 0
		for _, o := range g[u.at:u.next] {
			if n == len(calls) {
				break
			}
			if o.result && p.inWindow(u.turn, o.index) {
				p.answer(calls[n], o.index, InWindow, conf, 1)
				n++
			}
		}
		for k, call := range calls {
			if p.out.Calls[call].State != Missing {
				continue
			}
			for _, first := range calls[:k] {
				if p.out.Calls[first].State != Copy && p.same(int(first), int(call)) {
					p.out.Calls[call].State = Copy
					p.out.Calls[call].CopyOf = first
					break
				}
			}
		}
	}
	// Leftovers look back to the nearest use of the id, then forward.
	open := 0 // open calls in the uses passed so far
	u := -1
	for n, o := range g {
		if u+1 < len(uses) && uses[u+1].at == n {
			u++
			for _, call := range callsOf(uses[u]) {
				if p.out.Calls[call].State == Missing {
					open++
				}
			}
		}
		if !o.result || p.out.Results[o.index].Fate != Orphan {
			continue
		}
		if u >= 0 {
			if call := p.openCall(callsOf(uses[u])); call != none {
				cf := conf
				if open > 1 {
					cf = Nearest
				}
				p.answer(call, o.index, Later, cf, int32(open))
				open--
				continue
			}
		}
		forward := n+1 < len(g) && !g[n+1].result && (u < 0 || !p.inWindow(uses[u].turn, o.index))
		if forward {
			if call := p.openCall(callsOf(uses[u+1])); call != none {
				p.answer(call, o.index, Before, conf, 1)
				continue
			}
		}
		of := uses[max(u, 0)]
		calls := callsOf(of)
		p.out.Results[o.index] = Leftover{Fate: Duplicate, Call: calls[len(calls)-1]}
		for _, call := range calls {
			if p.out.Calls[call].State == Answered {
				p.out.Results[o.index].Call = call
				break
			}
		}
	}
}

func (p *pairer) openCall(calls []int32) int32 {
	for _, call := range calls {
		if p.out.Calls[call].State == Missing {
			return call
		}
	}
	return none
}

func (p *pairer) answer(call, result int32, place Place, conf Confidence, candidates int32) {
	p.out.Calls[call] = Exchange{State: Answered, Place: place, Confidence: conf, Result: result, CopyOf: none, Candidates: candidates}
	p.out.Results[result] = Leftover{Fate: Answers, Call: call}
}

// inWindow reports whether a result lies in a turn's window. Only results
// between the turn's use of an id and the next are asked about.
func (p *pairer) inWindow(turn int, result int32) bool {
	c := p.conv
	switch c.Window {
	case transcript.WindowNext, transcript.WindowLog:
		return true
	}
	msg := c.Results[result].Message
	return p.turnLo[turn] < msg && msg < p.windowEnd(turn)
}

// windowEnd returns one past the last message of a turn's window in an array
// of messages.
func (p *pairer) windowEnd(turn int) int32 {
	if p.winEnd[turn] != 0 {
		return p.winEnd[turn]
	}
	c := p.conv
	end := p.turnHi[turn] + 1
	for ; int(end) < len(c.Messages); end++ {
		m := &c.Messages[end]
		if m.Has(transcript.MessageReplay) {
			continue
		}
		if m.Segment != c.Messages[p.turnLo[turn]].Segment || !p.carries(m) {
			break
		}
	}
	p.winEnd[turn] = end
	return end
}

// carries reports whether a message is of the kind that carries results, so
// that it does not end a window.
func (p *pairer) carries(m *transcript.Message) bool {
	switch {
	case m.Role == transcript.RoleTool:
		return true
	case m.Role != transcript.RoleUser:
		return false
	case p.conv.Window == transcript.WindowUser:
		return true
	}
	// In a chat dialect a user message carries results only when it is written
	// in another dialect.
	return m.Has(transcript.MessageForeign) && m.BlockLo < m.BlockHi && p.conv.Blocks[m.BlockLo].Kind == transcript.BlockResult
}

// withoutIDs pairs by name, then by position, within the window, what lacks an
// id on one side at least. Counts must be equal: nothing is guessed.
func (p *pairer) withoutIDs() {
	c := p.conv
	lo := 0
	for lo < len(c.Calls) {
		turn := c.Messages[c.Calls[lo].Message].Turn
		hi := lo
		for hi < len(c.Calls) && c.Messages[c.Calls[hi].Message].Turn == turn {
			hi++
		}
		p.turnWithoutIDs(int(turn), lo, hi)
		lo = hi
	}
}

func (p *pairer) turnWithoutIDs(turn, lo, hi int) {
	c := p.conv
	var calls, results []int32
	idless := false // a call of the turn lacks its id
	for i := lo; i < hi; i++ {
		if call := &c.Calls[i]; p.out.Calls[i].State == Missing && !call.Server {
			calls = append(calls, int32(i))
			idless = idless || Key(call.ID) == ""
		}
	}
	if len(calls) == 0 {
		return
	}
	for _, r := range p.resultsNear(turn) {
		res := &c.Results[r]
		if p.out.Results[r].Fate == Orphan && !res.Server && (idless || Key(res.ID) == "") {
			results = append(results, r)
		}
	}
	if len(results) == 0 {
		return
	}
	// A call and a result that both have an id were compared already.
	mayPair := func(call, res int32) bool {
		return Key(c.Calls[call].ID) == "" || Key(c.Results[res].ID) == ""
	}
	names := map[string]*[2][]int32{}
	var order []string
	side := func(name string, k int, i int32) {
		if name == "" {
			return
		}
		n := names[name]
		if n == nil {
			n = &[2][]int32{}
			names[name] = n
			order = append(order, name)
		}
		n[k] = append(n[k], i)
	}
	for _, call := range calls {
		side(c.Calls[call].Name.Text(), 0, call)
	}
	for _, res := range results {
		side(c.Results[res].Name.Text(), 1, res)
	}
	// Of a group that does not come out even, only what lacks an id or could
	// have been answered by such a result is unclear.
	unclear := func(calls, results []int32) {
		for _, call := range calls {
			if slices.ContainsFunc(results, func(res int32) bool { return mayPair(call, res) }) {
				p.out.Calls[call].State = Unclear
				p.out.Calls[call].Confidence = Ambiguous
			}
		}
		for _, res := range results {
			if slices.ContainsFunc(calls, func(call int32) bool { return mayPair(call, res) }) {
				p.out.Results[res] = Leftover{Fate: Undecided, Call: none}
			}
		}
	}
	for _, name := range order {
		n := names[name]
		switch {
		case len(n[0]) == 0 || len(n[1]) == 0:
		case len(n[0]) == len(n[1]):
			p.inOrder(n[0], n[1], mayPair)
		default:
			unclear(n[0], n[1])
		}
	}
	rest := func(in []int32, open func(int32) bool) (out []int32) {
		for _, i := range in {
			if open(i) {
				out = append(out, i)
			}
		}
		return out
	}
	calls = rest(calls, func(i int32) bool { return p.out.Calls[i].State == Missing })
	results = rest(results, func(i int32) bool { return p.out.Results[i].Fate == Orphan })
	switch {
	case len(calls) == 0 || len(results) == 0:
	case len(calls) == len(results):
		p.inOrder(calls, results, mayPair)
	default:
		unclear(calls, results)
	}
}

func (p *pairer) inOrder(calls, results []int32, mayPair func(call, res int32) bool) {
	for i := range calls {
		if mayPair(calls[i], results[i]) {
			p.answer(calls[i], results[i], InWindow, Positional, 1)
		}
	}
}

// resultsNear returns the results that stand near enough to a turn to be its
// own without an id saying so: those of its window, which ends at the latest
// where the model speaks again.
func (p *pairer) resultsNear(turn int) []int32 {
	c := p.conv
	lo, hi := p.turnLo[turn], p.turnHi[turn]
	var out []int32
	for m := lo; int(m) < len(c.Messages); m++ {
		msg := &c.Messages[m]
		if msg.Has(transcript.MessageReplay) {
			continue
		}
		if m > hi {
			if msg.Segment != c.Messages[lo].Segment {
				break
			}
			switch c.Window {
			case transcript.WindowNext, transcript.WindowLog:
				if msg.Role == transcript.RoleAssistant || msg.Has(transcript.MessageTyped) {
					return out
				}
			default:
				if m >= p.windowEnd(turn) {
					return out
				}
			}
		}
		for b := msg.BlockLo; b < msg.BlockHi; b++ {
			if c.Blocks[b].Kind == transcript.BlockResult {
				out = append(out, c.Blocks[b].Ref)
			}
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
		turn := c.Messages[b.Message].Turn
		switch b.Kind {
		case transcript.BlockServerCall:
			if call := b.Ref; p.out.Calls[call].State == Missing {
				k := key{turn, Key(c.Calls[call].ID)}
				open[k] = append(open[k], call)
			}
		case transcript.BlockServerResult:
			res := b.Ref
			if p.out.Results[res].Fate == Ignored {
				continue
			}
			k := key{turn, Key(c.Results[res].ID)}
			if q := open[k]; len(q) > 0 {
				p.answer(q[0], res, InWindow, Exact, 1)
				open[k] = q[1:]
			}
		}
	}
}

// finish tells pending and interrupted calls from missing ones.
func (p *pairer) finish() {
	c := p.conv
	pending := p.lastTurns()
	for i := range p.out.Calls {
		x := &p.out.Calls[i]
		if x.State != Missing {
			continue
		}
		m := &c.Messages[c.Calls[i].Message]
		switch {
		case m.Has(transcript.MessageAborted):
			x.State = Interrupted
		case pending[m.Turn]:
			x.State = Pending
		}
	}
}

// lastTurns returns the turns after which nothing but results of their own
// follows, one for each segment at most.
func (p *pairer) lastTurns() map[int32]bool {
	c := p.conv
	last := map[int32]bool{}
	decided := map[int32]bool{}       // segments
	own := map[int32]map[int32]bool{} // segment: turns whose results were passed
	pass := func(seg, turn int32) {
		if own[seg] == nil {
			own[seg] = map[int32]bool{}
		}
		own[seg][turn] = true
	}
	log := c.Window == transcript.WindowLog
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		seg := m.Segment
		if decided[seg] || m.Has(transcript.MessageReplay) {
			continue
		}
		switch {
		case m.Role == transcript.RoleAssistant || p.calls(m):
			decided[seg] = true
			foreign := false
			for t := range own[seg] {
				foreign = foreign || t != m.Turn
			}
			if log || !foreign {
				last[m.Turn] = true
			}
		case log:
			if m.Has(transcript.MessageTyped) {
				decided[seg] = true
			}
		case c.Window == transcript.WindowUser:
			decided[seg] = true
		default:
			results := m.BlockLo < m.BlockHi
			for b := m.BlockLo; b < m.BlockHi; b++ {
				if c.Blocks[b].Kind != transcript.BlockResult {
					results = false
					break
				}
				call := p.out.Results[c.Blocks[b].Ref].Call
				switch p.out.Results[c.Blocks[b].Ref].Fate {
				case Answers, Duplicate:
					pass(seg, c.Messages[c.Calls[call].Message].Turn)
				case Undecided:
				default:
					results = false
				}
			}
			if !results {
				decided[seg] = true
			}
		}
	}
	return last
}

func (p *pairer) calls(m *transcript.Message) bool {
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if p.conv.Blocks[b].Kind == transcript.BlockCall {
			return true
		}
	}
	return false
}

// Crosses reports whether moving a result back to its call would carry it
// across an assistant turn that was made without it. Assistant messages that
// follow the call's turn at once are the same model turn, split up.
func Crosses(c *transcript.Conversation, call, result int32) bool {
	turn := c.Messages[c.Calls[call].Message].Turn
	split := true
	for m := c.Calls[call].Message + 1; m < c.Results[result].Message; m++ {
		msg := &c.Messages[m]
		if msg.Has(transcript.MessageReplay) || msg.Turn == turn {
			continue
		}
		if msg.Role != transcript.RoleAssistant {
			split = false
		} else if !split {
			return true
		}
	}
	return false
}
