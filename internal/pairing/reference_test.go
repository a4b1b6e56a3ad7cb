package pairing

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/transcript"
)

// reference pairs a conversation step by step as the rules are written, and rescans
// everything whenever it needs to know something. It shares only the types of the
// result with Pair.
//
// Calls and results are identified by their blocks, which are in order. A use is the
// calls of a turn with one id, without a call of another turn between them. It is
// identified by the block of its first call.
type reference struct {
	c    *transcript.Conversation
	same func(a, b int) bool
	out  Pairing
	msgs []int32 // the messages of the current segment without replays

	// For the current step: the keys of the calls and results that take part, by block,
	// and whether they are still open.
	keys []string
	open []bool
}

const noBlock = -1

// refPair is the reference for Pair.
func refPair(c *transcript.Conversation, same func(a, b int) bool) Pairing {
	r := &reference{c: c, same: same, keys: make([]string, len(c.Blocks)), open: make([]bool, len(c.Blocks))}
	last := int32(-1)
	for i := range c.Messages {
		last = max(last, c.Messages[i].Segment)
	}
	for i := range c.Calls {
		x := Exchange{State: Missing, Result: -1, CopyOf: -1}
		if a := c.Calls[i].Answer; a == transcript.AnswerNone || a == transcript.AnswerProviderRecord || r.replayed(c.Calls[i].Message) {
			x.State = Exempt
		}
		r.out.Calls = append(r.out.Calls, x)
	}
	for i := range c.Results {
		l := Leftover{Fate: Orphan, Call: -1}
		if r.replayed(c.Results[i].Message) {
			l.Fate = Ignored
		}
		r.out.Results = append(r.out.Results, l)
	}
	// Nothing pairs across a compaction.
	for s := int32(0); s <= last; s++ {
		r.msgs = r.msgs[:0]
		for i := range c.Messages {
			if c.Messages[i].Segment == s && !r.replayed(int32(i)) {
				r.msgs = append(r.msgs, int32(i))
			}
		}
		r.begin(refKey)
		r.inRows(Exact)
		r.inOrder(Exact)
		r.copies()
		r.leftovers(Exact)
		// Ids that are left may be equal apart from white space.
		r.begin(func(t transcript.Token) string { return strings.TrimSpace(refKey(t)) })
		r.inRows(Trimmed)
		r.inOrder(Trimmed)
		r.leftovers(Trimmed)
		r.withoutIDs()
		r.server()
		r.states()
	}
	return r.out
}

// refKey returns the decoded id, or "" if it counts as absent.
func refKey(t transcript.Token) string {
	if t.Raw == "" || t.Raw == "null" {
		return ""
	}
	if t.Raw[0] != '"' {
		return "a number: " + t.Raw
	}
	var s string
	if json.Unmarshal([]byte(t.Raw), &s) != nil {
		panic("a token that is no JSON: " + t.Raw)
	}
	if s == "null" {
		return ""
	}
	return s
}

func (r *reference) replayed(m int32) bool { return r.c.Messages[m].Has(transcript.MessageReplay) }
func (r *reference) turn(b int) int32      { return r.c.Messages[r.c.Blocks[b].Message].Turn }
func (r *reference) here(b int) bool       { return slices.Contains(r.msgs, r.c.Blocks[b].Message) }
func (r *reference) ref(b int) int32       { return r.c.Blocks[b].Ref }
func (r *reference) isCall(b int) bool     { return r.c.Blocks[b].Kind == transcript.BlockCall }
func (r *reference) isResult(b int) bool   { return r.c.Blocks[b].Kind == transcript.BlockResult }

// loose reports whether a call or result is still undecided.
func (r *reference) loose(b int) bool {
	return r.here(b) && (r.isCall(b) && r.out.Calls[r.ref(b)].State == Missing ||
		r.isResult(b) && r.out.Results[r.ref(b)].Fate == Orphan)
}

// begin begins a step for the calls and results that are still undecided. It leaves out
// those that the provider runs.
func (r *reference) begin(key func(transcript.Token) string) {
	for b := range r.c.Blocks {
		r.keys[b], r.open[b] = "", r.loose(b)
		if r.open[b] && r.isCall(b) {
			r.keys[b] = key(r.c.Calls[r.ref(b)].ID)
		} else if r.open[b] {
			r.keys[b] = key(r.c.Results[r.ref(b)].ID)
		}
	}
}

func (r *reference) calls(key string) (list []int) {
	for b := range r.c.Blocks {
		if key != "" && r.keys[b] == key && r.isCall(b) {
			list = append(list, b)
		}
	}
	return list
}

// use returns the use of a call.
func (r *reference) use(call int) int {
	first := call
	for _, b := range slices.Backward(r.calls(r.keys[call])) {
		if b < call {
			if r.turn(b) != r.turn(call) {
				break
			}
			first = b
		}
	}
	return first
}

// useBefore returns the nearest use of a result's id before the result.
func (r *reference) useBefore(res int) int {
	for _, b := range slices.Backward(r.calls(r.keys[res])) {
		if b < res {
			return r.use(b)
		}
	}
	return noBlock
}

// useNext returns the use of a result's id that begins after the result, without another
// occurrence of the id between them.
func (r *reference) useNext(res int) int {
	for b := res + 1; b < len(r.keys); b++ {
		if r.keys[b] == r.keys[res] {
			if r.isCall(b) && r.use(b) == b {
				return b
			}
			break
		}
	}
	return noBlock
}

// firstOpen returns the first open call of a use.
func (r *reference) firstOpen(use int) int {
	for _, b := range r.calls(r.keys[use]) {
		if r.use(b) == use && r.open[b] {
			return b
		}
	}
	return noBlock
}

// near returns the turn of a result by its place alone. Only messages that carry results,
// and none of the model, are between the turn and the result.
func (r *reference) near(res int) int32 {
	at := r.c.Blocks[res].Message
	if !r.carries(at) {
		return -1
	}
	for _, m := range slices.Backward(r.msgs) {
		if m >= at {
			continue
		}
		if r.speaks(m) {
			return r.c.Messages[m].Turn
		}
		if !r.carries(m) {
			break
		}
	}
	return -1
}

// speaks reports whether the model made a message.
func (r *reference) speaks(m int32) bool {
	for _, call := range r.c.Calls {
		if call.Message == m {
			return true
		}
	}
	return r.c.Messages[m].Role == transcript.RoleAssistant
}

// carries reports whether a message keeps the window before it open.
func (r *reference) carries(m int32) bool {
	msg := r.c.Messages[m]
	tool, user := msg.Role == transcript.RoleTool, msg.Role == transcript.RoleUser
	switch r.c.Window {
	case transcript.WindowTool:
		foreign := msg.Has(transcript.MessageForeign) && msg.BlockLo < msg.BlockHi && r.isResult(int(msg.BlockLo))
		return tool || user && foreign
	case transcript.WindowUser:
		return tool || user
	}
	return msg.Role != transcript.RoleAssistant && !msg.Has(transcript.MessageTyped)
}

// inWindow is step 2.
func (r *reference) inWindow(use, res int) bool {
	if use == noBlock || r.useBefore(res) != use {
		return false // before the call, or after the next call with the id
	}
	if r.c.Window == transcript.WindowNext || r.c.Window == transcript.WindowLog {
		return true
	}
	return r.one(r.near(res), r.turn(use))
}

// one reports whether two turns are sent together, which is so if they have messages in
// the same run of messages of the model.
func (r *reference) one(a, b int32) bool {
	if a < 0 || a == b || !r.c.Merged || r.c.Window != transcript.WindowUser {
		return a == b
	}
	of := []int32{a}
	for n := 0; n < len(of); n++ {
		for i, m := range r.msgs {
			if !r.speaks(m) || r.c.Messages[m].Turn != of[n] {
				continue
			}
			for _, k := range []int{i - 1, i + 1} {
				if k < 0 || k == len(r.msgs) || !r.speaks(r.msgs[k]) {
					continue
				}
				if turn := r.c.Messages[r.msgs[k]].Turn; !slices.Contains(of, turn) {
					of = append(of, turn)
				}
			}
		}
	}
	return slices.Contains(of, b)
}

// inRows is the exception to step 4: consecutive turns use one id, and as many results
// follow the last of them as they have calls.
func (r *reference) inRows(c Confidence) {
	if r.c.Window == transcript.WindowLog {
		return
	}
	for first := range r.c.Blocks {
		if !r.isCall(first) || !r.open[first] || r.keys[first] == "" {
			continue
		}
		row := []int{first}
		var results []int
		for b, ended := first+1, false; b < len(r.c.Blocks) && !ended; b++ {
			switch {
			case r.keys[b] != r.keys[first]:
			case !r.isCall(b):
				results = append(results, b)
			case results == nil && r.alone(row[len(row)-1], b):
				row = append(row, b)
			default:
				ended = true
			}
		}
		last := r.use(row[len(row)-1])
		for _, b := range r.calls(r.keys[first]) {
			if b > row[len(row)-1] && r.use(b) == last {
				results = nil // the last turn has another call after results
			}
		}
		results = slices.DeleteFunc(results, func(b int) bool { return !r.inWindow(last, b) })
		if len(results) != len(row) || !r.unbroken(results) || r.use(first) == last || r.use(first) != first || r.continues(first) {
			continue
		}
		for i, call := range row {
			place := Later
			if r.use(call) == last {
				place = InWindow
			}
			r.answer(call, results[i], place, c, 1)
		}
	}
}

// unbroken reports whether only results are between results.
func (r *reference) unbroken(results []int) bool {
	first, last := results[0], results[len(results)-1]
	for b := first; b < last; b++ {
		if r.here(b) && !r.isResult(b) {
			return false
		}
	}
	return !slices.ContainsFunc(r.msgs, func(m int32) bool {
		msg := &r.c.Messages[m]
		return m > r.c.Blocks[first].Message && m < r.c.Blocks[last].Message && msg.BlockLo == msg.BlockHi
	})
}

// alone reports whether only the model speaks between two blocks.
func (r *reference) alone(from, to int) bool {
	for _, m := range r.msgs {
		if m > r.c.Blocks[from].Message && m < r.c.Blocks[to].Message && !r.speaks(m) {
			return false
		}
	}
	return true
}

// continues reports whether a call continues a row of calls with its id.
func (r *reference) continues(call int) bool {
	for b := call - 1; b >= 0; b-- {
		if r.keys[b] == r.keys[call] {
			return r.isCall(b) && r.alone(b, call)
		}
	}
	return false
}

// inOrder is step 3: the results in a window answer the calls with their id in order.
func (r *reference) inOrder(c Confidence) {
	for call := range r.c.Blocks {
		if !r.isCall(call) || !r.open[call] || r.keys[call] == "" {
			continue
		}
		for res := range r.c.Blocks {
			if r.isResult(res) && r.open[res] && r.keys[res] == r.keys[call] && r.inWindow(r.use(call), res) {
				r.answer(call, res, InWindow, c, 1)
				break
			}
		}
	}
}

// copies is step 10, for calls that pairing by order left without a result.
func (r *reference) copies() {
	for call := range r.c.Blocks {
		if !r.isCall(call) || !r.open[call] || r.same == nil {
			continue
		}
		for _, first := range r.calls(r.keys[call]) {
			if first < call && r.use(first) == r.use(call) && r.out.Calls[r.ref(first)].State != Copy &&
				r.same(int(r.ref(first)), int(r.ref(call))) && !r.own(call) {
				r.open[call] = false
				r.out.Calls[r.ref(call)].State, r.out.Calls[r.ref(call)].CopyOf = Copy, r.ref(first)
				break
			}
		}
	}
}

// own reports whether a leftover result remains for a call after each earlier open call
// of its use got one.
func (r *reference) own(call int) bool {
	n := -1
	for res := range r.c.Blocks {
		if r.isResult(res) && r.open[res] && r.keys[res] == r.keys[call] && r.useBefore(res) == r.use(call) {
			n++
		}
	}
	for _, b := range r.calls(r.keys[call]) {
		if b < call && r.use(b) == r.use(call) && r.open[b] {
			n--
		}
	}
	return n >= 0
}

// leftovers is steps 4 and 5.
func (r *reference) leftovers(c Confidence) {
	for res := range r.c.Blocks {
		if !r.isResult(res) || !r.open[res] || r.keys[res] == "" {
			continue
		}
		// Use the nearest earlier turn with the id. It hides earlier ones.
		use := r.useBefore(res)
		if use == noBlock || r.firstOpen(use) == noBlock {
			continue
		}
		call, place, conf, candidates := r.firstOpen(use), Later, c, int32(0)
		for _, b := range r.calls(r.keys[res]) {
			if r.open[b] && r.use(b) <= use {
				candidates++
			}
		}
		if candidates > 1 {
			conf = Nearest
		}
		if res < call {
			place = Before
		}
		r.answer(call, res, place, conf, candidates)
	}
	candidates := map[string]int32{}
	for b := range r.c.Blocks {
		if !r.isCall(b) || r.keys[b] == "" {
			continue
		}
		if x := r.out.Calls[r.ref(b)]; r.open[b] || x.State == Answered && x.Candidates > 1 {
			candidates[r.keys[b]]++
		}
	}
	for res := range r.c.Blocks {
		if !r.isResult(res) || !r.open[res] || r.keys[res] == "" || len(r.calls(r.keys[res])) == 0 {
			continue
		}
		use := r.useBefore(res)
		if next := r.useNext(res); next != noBlock && !r.inWindow(use, res) && r.firstOpen(next) != noBlock {
			conf := c
			if candidates[r.keys[res]] > 1 {
				conf = Nearest
			}
			r.answer(r.firstOpen(next), res, Before, conf, candidates[r.keys[res]])
			continue
		}
		fate := Duplicate
		if use == noBlock {
			use = r.calls(r.keys[res])[0]
		} else if r.c.Calls[r.ref(use)].Answer == transcript.AnswerLater {
			fate = Update
		}
		r.open[res] = false
		r.out.Results[r.ref(res)] = Leftover{Fate: fate, Call: r.ref(use)}
	}
}

func (r *reference) answer(call, res int, place Place, c Confidence, candidates int32) {
	r.open[call], r.open[res] = false, false
	r.out.Calls[r.ref(call)] = Exchange{
		State: Answered, Place: place, Result: r.ref(res), Confidence: c, Candidates: candidates, CopyOf: -1,
		Crosses: place == Later && r.crosses(call, res),
	}
	r.out.Results[r.ref(res)] = Leftover{Fate: Answers, Call: r.ref(call)}
}

// crosses reports whether an assistant message that is not directly after the call is
// between a call and a result.
func (r *reference) crosses(call, res int) bool {
	split := true
	for m := r.c.Blocks[call].Message + 1; m < r.c.Blocks[res].Message; m++ {
		model := r.c.Messages[m].Role == transcript.RoleAssistant
		switch {
		case r.replayed(m):
		case model && !split:
			return true
		default:
			split = split && model
		}
	}
	return false
}

// withoutIDs is step 7: name and then position, within the window.
func (r *reference) withoutIDs() {
	var done []int32
	for first := range r.c.Blocks {
		if !r.loose(first) || !r.isCall(first) || slices.ContainsFunc(done, func(turn int32) bool { return r.one(turn, r.turn(first)) }) {
			continue
		}
		done = append(done, r.turn(first))
		var calls, results []int
		callLacks, resultLacks := false, false
		for b := range r.c.Blocks {
			switch {
			case !r.loose(b):
			case r.isCall(b) && r.one(r.turn(b), r.turn(first)):
				callLacks = callLacks || refKey(r.c.Calls[r.ref(b)].ID) == ""
				calls = append(calls, b)
			case r.isResult(b) && r.one(r.near(b), r.turn(first)):
				resultLacks = resultLacks || refKey(r.c.Results[r.ref(b)].ID) == ""
				results = append(results, b)
			}
		}
		// At least one of the two must have no id.
		calls = slices.DeleteFunc(calls, func(b int) bool { return refKey(r.c.Calls[r.ref(b)].ID) != "" && !resultLacks })
		results = slices.DeleteFunc(results, func(b int) bool { return refKey(r.c.Results[r.ref(b)].ID) != "" && !callLacks })
		r.byName(calls, results)
	}
}

func (r *reference) byName(calls, results []int) {
	named := func(list []int, name string) (out []int) {
		for _, b := range list {
			is := ""
			if r.isCall(b) {
				is = refKey(r.c.Calls[r.ref(b)].Name)
			} else {
				is = refKey(r.c.Results[r.ref(b)].Name)
			}
			if is == name {
				out = append(out, b)
			}
		}
		return out
	}
	for _, call := range calls {
		name := refKey(r.c.Calls[r.ref(call)].Name)
		if of, with := named(calls, name), named(results, name); name != "" && of[0] == call && len(of) == len(with) {
			r.byPosition(of, with)
		}
	}
	gone := func(b int) bool { return !r.loose(b) }
	calls, results = slices.DeleteFunc(calls, gone), slices.DeleteFunc(results, gone)
	if len(calls) == len(results) {
		r.byPosition(calls, results)
		return
	}
	if len(calls) == 0 || len(results) == 0 {
		return
	}
	for i, b := range calls {
		x := &r.out.Calls[r.ref(b)]
		x.State, x.Confidence, x.Surplus = Unclear, Ambiguous, i >= len(results)
	}
	for i, b := range results {
		l := &r.out.Results[r.ref(b)]
		l.Fate, l.Surplus = Undecided, i >= len(calls)
	}
}

func (r *reference) byPosition(calls, results []int) {
	for i, call := range calls {
		if refKey(r.c.Calls[r.ref(call)].ID) == "" || refKey(r.c.Results[r.ref(results[i])].ID) == "" {
			r.answer(call, results[i], InWindow, Positional, 1)
		}
	}
}

// server pairs the calls that the provider runs with later results in their own turn.
func (r *reference) server() {
	for res := range r.c.Blocks {
		if r.c.Blocks[res].Kind != transcript.BlockServerResult || !r.here(res) {
			continue
		}
		for call := range res {
			if r.c.Blocks[call].Kind == transcript.BlockServerCall && r.here(call) && r.turn(call) == r.turn(res) &&
				r.out.Calls[r.ref(call)].State == Missing &&
				refKey(r.c.Calls[r.ref(call)].ID) == refKey(r.c.Results[r.ref(res)].ID) {
				r.answer(call, res, InWindow, Exact, 1)
				break
			}
		}
	}
}

// states is step 8: the states of the calls without a result.
func (r *reference) states() {
	for i := range r.c.Calls {
		x := &r.out.Calls[i]
		turn := r.c.Messages[r.c.Calls[i].Message].Turn
		switch {
		case x.State != Missing || !slices.Contains(r.msgs, r.c.Calls[i].Message):
		case r.aborted(turn):
			x.State = Interrupted
		case r.pending(turn), r.c.Calls[i].Answer == transcript.AnswerLater:
			x.State = Pending
		}
	}
}

func (r *reference) aborted(turn int32) bool {
	return slices.ContainsFunc(r.msgs, func(m int32) bool {
		return r.c.Messages[m].Turn == turn && r.c.Messages[m].Has(transcript.MessageAborted)
	})
}

// pending reports whether only a turn's own results follow it.
func (r *reference) pending(turn int32) bool {
	for _, m := range slices.Backward(r.msgs) {
		if r.c.Messages[m].Turn == turn && r.speaks(m) {
			break
		}
		if r.closes(turn, m) {
			return false
		}
	}
	return true
}

// closes reports whether a later message closes a turn.
func (r *reference) closes(turn, m int32) bool {
	msg := r.c.Messages[m]
	switch {
	case r.speaks(m), r.c.Window == transcript.WindowUser:
		return true
	case r.c.Window == transcript.WindowLog:
		return msg.Has(transcript.MessageTyped)
	}
	for b := int(msg.BlockLo); b < int(msg.BlockHi); b++ {
		if !r.isResult(b) {
			return true
		}
		of := int32(-1)
		switch l := r.out.Results[r.ref(b)]; l.Fate {
		case Answers, Duplicate, Update:
			of = r.c.Messages[r.c.Calls[l.Call].Message].Turn
		case Undecided:
			of = r.near(b)
		}
		if of != turn {
			return true
		}
	}
	return msg.BlockLo == msg.BlockHi
}
