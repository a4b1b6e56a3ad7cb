package pairing

import (
	"encoding/json"
	"strings"

	"github.com/toolguard/toolguard/internal/transcript"
)

// reference pairs a conversation step by step as the rules say it, with a scan
// of everything wherever one is asked for. It shares nothing with Pair but the
// types of its result.
type reference struct {
	c    *transcript.Conversation
	same func(a, b int) bool
	out  Pairing
	// msgs are the messages of the segment in hand, replays left out.
	msgs []int32
	// key is what two ids must share in the step in hand.
	key func(transcript.Token) string
}

// refPair is the reference for Pair.
func refPair(c *transcript.Conversation, same func(a, b int) bool) Pairing {
	r := &reference{c: c, same: same}
	for range c.Calls {
		r.out.Calls = append(r.out.Calls, Exchange{State: Missing, Result: -1, CopyOf: -1})
	}
	for range c.Results {
		r.out.Results = append(r.out.Results, Leftover{Fate: Orphan, Call: -1})
	}
	for i := range c.Calls {
		if c.Calls[i].Hosted || r.replayed(c.Calls[i].Message) {
			r.out.Calls[i].State = Exempt
		}
	}
	for i := range c.Results {
		if r.replayed(c.Results[i].Message) {
			r.out.Results[i].Fate = Ignored
		}
	}
	last := int32(-1)
	for i := range c.Messages {
		last = max(last, c.Messages[i].Segment)
	}
	for s := int32(0); s <= last; s++ {
		r.msgs = r.msgs[:0]
		for i := range c.Messages {
			if c.Messages[i].Segment == s && !r.replayed(int32(i)) {
				r.msgs = append(r.msgs, int32(i))
			}
		}
		r.segment()
	}
	return r.out
}

func (r *reference) replayed(m int32) bool {
	return r.c.Messages[m].Flags&transcript.MessageReplay != 0
}

func (r *reference) segment() {
	r.key = refKey
	r.byID(Exact)
	r.key = func(t transcript.Token) string { return strings.TrimSpace(refKey(t)) }
	r.byID(Trimmed)
	r.withoutIDs()
	r.states()
}

// refKey is the id as it is spelt; a number is told from a string.
func refKey(t transcript.Token) string {
	if t.Raw == "" || t.Raw == "null" {
		return ""
	}
	var s string
	if t.Raw[0] != '"' {
		return "\x00" + t.Raw
	}
	if json.Unmarshal([]byte(t.Raw), &s) != nil {
		panic("a token that is no JSON: " + t.Raw)
	}
	if s == "null" {
		return ""
	}
	return s
}

// byID are the steps that pair by id, with the key in hand.
func (r *reference) byID(c Confidence) {
	// Step 3: in its window results answer the calls of their id in order.
	for _, turn := range r.turns() {
		for call := range r.c.Calls {
			if r.turn(r.c.Calls[call].Message) != turn || !r.open(call) {
				continue
			}
			for res := range r.c.Results {
				if r.loose(res) && r.matches(call, res) && r.inWindow(turn, r.key(r.c.Calls[call].ID), res) {
					r.answer(call, res, c, 1)
					break
				}
			}
		}
	}
	// Step 4: a leftover result answers an open call of that id in the nearest
	// earlier turn; where that turn has none open, it is a duplicate.
	for res := range r.c.Results {
		call := r.nearest(res)
		if !r.loose(res) || call < 0 {
			continue
		}
		turn := r.turn(r.c.Calls[call].Message)
		first, candidates := -1, 0
		for other := range r.c.Calls {
			if !r.open(other) || !r.matches(other, res) || !r.callBefore(other, res) {
				continue
			}
			candidates++
			if first < 0 && r.turn(r.c.Calls[other].Message) == turn {
				first = other
			}
		}
		switch {
		case first >= 0:
			found := c
			if candidates > 1 {
				found = Nearest
			}
			r.answer(first, res, found, candidates)
		case r.inWindow(turn, r.key(r.c.Results[res].ID), res):
			r.out.Results[res] = Leftover{Fate: Duplicate, Call: int32(call)}
		}
	}
	// Step 5: still leftover, an open call further on, if no other occurrence
	// of the id lies between.
	for res := range r.c.Results {
		if !r.loose(res) {
			continue
		}
		if next := r.next(res); next >= 0 && r.open(next) {
			r.answer(next, res, c, 1)
			continue
		}
		call := r.nearest(res)
		for other := range r.c.Calls {
			if call < 0 && r.here(other) && r.matches(other, res) {
				call = other
			}
		}
		if call >= 0 {
			r.out.Results[res] = Leftover{Fate: Duplicate, Call: int32(call)}
		}
	}
}

// nearest returns the last call of a result's id that stands before it.
func (r *reference) nearest(res int) int {
	found := -1
	for call := range r.c.Calls {
		if r.here(call) && r.matches(call, res) && r.callBefore(call, res) {
			found = call
		}
	}
	return found
}

// next returns the first call of a result's id behind it, -1 where another
// result of the id lies between.
func (r *reference) next(res int) int {
	for b := int(r.c.Results[res].Block) + 1; b < len(r.c.Blocks); b++ {
		block := r.c.Blocks[b]
		ref := int(block.Ref)
		switch {
		case !r.inSegment(block.Message):
		case block.Kind == transcript.BlockCall || block.Kind == transcript.BlockServerCall:
			if r.here(ref) && r.matches(ref, res) {
				return ref
			}
		case block.Kind == transcript.BlockResult || block.Kind == transcript.BlockServerResult:
			if r.key(r.c.Results[ref].ID) == r.key(r.c.Results[res].ID) {
				return -1
			}
		}
	}
	return -1
}

// withoutIDs is step 7: name, then position, within the window.
func (r *reference) withoutIDs() {
	for _, turn := range r.turns() {
		names := []string{}
		var calls, results []int
		for call := range r.c.Calls {
			if r.open(call) && r.turn(r.c.Calls[call].Message) == turn && refKey(r.c.Calls[call].ID) == "" {
				calls = append(calls, call)
				names = append(names, refKey(r.c.Calls[call].Name))
			}
		}
		for res := range r.c.Results {
			if r.loose(res) && refKey(r.c.Results[res].ID) == "" && r.inWindow(turn, "", res) {
				results = append(results, res)
			}
		}
		for _, name := range names {
			var of, with []int
			for _, call := range calls {
				if r.open(call) && name != "" && refKey(r.c.Calls[call].Name) == name {
					of = append(of, call)
				}
			}
			for _, res := range results {
				if r.loose(res) && refKey(r.c.Results[res].Name) == name {
					with = append(with, res)
				}
			}
			r.zip(of, with)
		}
		var of, with []int
		for _, call := range calls {
			if r.open(call) {
				of = append(of, call)
			}
		}
		for _, res := range results {
			if r.loose(res) {
				with = append(with, res)
			}
		}
		if !r.zip(of, with) {
			for i, res := range with {
				r.out.Results[res].Fate = Undecided
				if i < len(of) {
					r.out.Calls[of[i]].State = Unclear
				}
			}
		}
	}
}

// zip pairs calls and results by position if there are as many of them.
func (r *reference) zip(calls, results []int) bool {
	if len(calls) != len(results) {
		return false
	}
	for i := range calls {
		r.answer(calls[i], results[i], Positional, 1)
	}
	return true
}

// states are steps 8 and 10: what became of the calls without an answer.
func (r *reference) states() {
	for call := range r.c.Calls {
		x := &r.out.Calls[call]
		if !r.here(call) || x.State != Missing {
			continue
		}
		turn := r.turn(r.c.Calls[call].Message)
		for other := range call {
			if x.CopyOf < 0 && r.here(other) && r.turn(r.c.Calls[other].Message) == turn && refKey(r.c.Calls[call].ID) != "" &&
				refKey(r.c.Calls[call].ID) == refKey(r.c.Calls[other].ID) && r.same != nil && r.same(other, call) {
				x.State, x.CopyOf = Copy, int32(other)
			}
		}
		switch {
		case x.State == Copy:
		case r.aborted(turn):
			x.State = Interrupted
		case r.pending(turn):
			x.State = Pending
		}
	}
}

func (r *reference) aborted(turn int32) bool {
	for _, m := range r.msgs {
		if r.turn(m) == turn && r.c.Messages[m].Has(transcript.MessageAborted) {
			return true
		}
	}
	return false
}

// pending reports whether nothing but results of its own follows the turn.
func (r *reference) pending(turn int32) bool {
	begun := false
	for _, m := range r.msgs {
		if r.turn(m) == turn {
			begun = true
			continue
		}
		if begun && r.closes(turn, m) {
			return false
		}
	}
	return true
}

// closes reports whether a message behind a turn ends it.
func (r *reference) closes(turn, m int32) bool {
	msg := r.c.Messages[m]
	switch r.c.Window {
	case transcript.WindowUser:
		return true
	case transcript.WindowLog:
		return msg.Role == transcript.RoleAssistant || msg.Has(transcript.MessageTyped)
	}
	for b := msg.BlockLo; b < msg.BlockHi; b++ {
		block := r.c.Blocks[b]
		if block.Kind != transcript.BlockResult && block.Kind != transcript.BlockServerResult {
			return true
		}
		call := r.out.Results[block.Ref].Call
		if call < 0 || r.turn(r.c.Calls[call].Message) != turn {
			return true
		}
	}
	return msg.BlockLo == msg.BlockHi
}

// inWindow is step 2: whether a result stands in the window of a turn, for
// calls of a key.
func (r *reference) inWindow(turn int32, key string, res int) bool {
	at := r.c.Results[res].Message
	if !r.inSegment(at) {
		return false
	}
	switch r.c.Window {
	case transcript.WindowTool, transcript.WindowUser:
		want := transcript.RoleTool
		if r.c.Window == transcript.WindowUser {
			want = transcript.RoleUser
		}
		in := false
		for _, m := range r.msgs {
			switch {
			case r.turn(m) == turn:
				in = true
			case r.c.Messages[m].Role != want:
				in = false
			case m == at:
				return in
			}
		}
		return false
	}
	// The last turn with a call of the key before the result.
	last := int32(-1)
	for call := range r.c.Calls {
		if r.here(call) && r.key(r.c.Calls[call].ID) == key && r.callBefore(call, res) {
			last = r.turn(r.c.Calls[call].Message)
		}
	}
	return last == turn
}

func (r *reference) answer(call, res int, c Confidence, candidates int) {
	turn := r.turn(r.c.Calls[call].Message)
	x := &r.out.Calls[call]
	x.State, x.Result, x.Confidence, x.Candidates = Answered, int32(res), c, int32(candidates)
	switch {
	case r.inWindow(turn, r.key(r.c.Calls[call].ID), res):
		x.Place = InWindow
	case r.callBefore(call, res):
		x.Place = Later
	default:
		x.Place = Before
	}
	r.out.Results[res] = Leftover{Fate: Answers, Call: int32(call)}
}

// turns returns the segment's turns in order of their first message.
func (r *reference) turns() []int32 {
	var list []int32
	for _, m := range r.msgs {
		known := false
		for _, t := range list {
			known = known || t == r.turn(m)
		}
		if !known {
			list = append(list, r.turn(m))
		}
	}
	return list
}

func (r *reference) turn(m int32) int32 { return r.c.Messages[m].Turn }

func (r *reference) inSegment(m int32) bool {
	for _, n := range r.msgs {
		if n == m {
			return true
		}
	}
	return false
}

// here reports whether a call takes part in the segment's pairing.
func (r *reference) here(call int) bool {
	return r.inSegment(r.c.Calls[call].Message) && !r.c.Calls[call].Hosted
}

func (r *reference) open(call int) bool {
	return r.here(call) && r.out.Calls[call].State == Missing
}

// loose reports whether nothing has been said of a result yet.
func (r *reference) loose(res int) bool {
	return r.inSegment(r.c.Results[res].Message) && r.out.Results[res].Fate == Orphan
}

func (r *reference) matches(call, res int) bool {
	k := r.key(r.c.Calls[call].ID)
	return k != "" && k == r.key(r.c.Results[res].ID)
}

func (r *reference) callBefore(call, res int) bool {
	return r.c.Calls[call].Block < r.c.Results[res].Block
}
