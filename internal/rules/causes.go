package rules

import (
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// The causes of a conversation are the messages that show why calls seem to have no result. Each
// gets one finding, and what follows from it gets none.
type causes struct {
	// astray holds, by message, the call that a message answers in a role that cannot.
	astray map[int32]int32
	// odd holds, by message of another shape, the calls that it answers.
	odd map[int32][]int32
	// by holds the cause of each call that has one.
	by map[int32]int32
}

// causes returns the causes of the conversation.
func (c *Context) causes() *causes {
	if c.why == nil {
		c.why = &causes{}
		for i := range c.Messages {
			if c.Messages[i].Has(transcript.MessageStray) || c.Messages[i].Has(transcript.MessageOtherShape) {
				c.why = c.findCauses()
				break
			}
		}
	}
	return c.why
}

// findCauses finds the causes among the messages of which not everything was read.
func (c *Context) findCauses() *causes {
	out := &causes{astray: map[int32]int32{}, odd: map[int32][]int32{}, by: map[int32]int32{}}
	type name struct {
		segment int32
		id      string
	}
	open := map[name][]int32{} // calls without a result before the message
	next := 0
	var last []int32 // those of the last turn with calls
	for i := range c.Messages {
		m := &c.Messages[i]
		for ; next < len(c.Calls) && c.Calls[next].Message < int32(i); next++ {
			call := &c.Calls[next]
			if len(last) > 0 && c.turn(c.Calls[last[0]].Message) != c.turn(call.Message) {
				last = nil
			}
			if s := c.Pairing.Calls[next].State; s != pairing.Missing && s != pairing.Pending || call.Answer.ByProvider() || call.Kind == transcript.KindApproval {
				continue
			}
			last = append(last, int32(next))
			k := name{c.Messages[call.Message].Segment, pairing.Key(call.ID)}
			open[k] = append(open[k], int32(next))
		}
		if m.Has(transcript.MessageReplay) || c.hidden(int32(i)) {
			continue
		}
		// take returns the nearest open call with an id.
		take := func(id string) (call int32, is bool) {
			k := name{m.Segment, id}
			calls := open[k]
			if id == "" || len(calls) == 0 {
				return 0, false
			}
			call = calls[len(calls)-1]
			open[k] = calls[:len(calls)-1]
			out.by[call] = int32(i)
			return call, true
		}
		switch {
		case m.Has(transcript.MessageOtherShape):
			calls := []int32{}
			c.eachText(c.Value(m.Span()), func(text string) {
				if call, is := take(text); is {
					calls = append(calls, call)
				}
			})
			if len(calls) == 0 && i > 0 { // it names no ids, and follows the calls
				for _, call := range last {
					if _, taken := out.by[call]; !taken && c.turn(c.Calls[call].Message) == c.turn(c.lastCaller(int32(i))) {
						calls = append(calls, call)
						out.by[call] = int32(i)
					}
				}
			}
			out.odd[int32(i)] = calls
		case m.Has(transcript.MessageStray) && m.Role != transcript.RoleTool && c.arrays() && !c.calls(m) && !c.holds(int32(i), transcript.BlockResult):
			if call, is := take(pairing.Key(c.Look(transcript.MemberResultID, m.Span()))); is {
				out.astray[int32(i)] = call
			}
		}
	}
	return out
}

// lastCaller returns the message before message m and the results before it.
func (c *Context) lastCaller(m int32) int32 {
	for m--; m > 0 && c.Messages[m].Role == transcript.RoleTool; m-- {
	}
	return max(m, 0)
}

// eachText calls a function with each text in a value.
func (c *Context) eachText(v source.Value, do func(text string)) {
	if v.Kind() == source.String {
		do(v.Str())
	}
	for _, val := range v.Members() {
		c.eachText(val, do)
	}
	for _, e := range v.Elements() {
		c.eachText(e, do)
	}
}

// caused reports whether another finding explains why a call has no result, or whether it needs
// none, because the client does not send the call.
func (c *Context) caused(call int) bool {
	if c.Calls[call].Unsent {
		return true
	}
	_, is := c.causes().by[int32(call)]
	return is
}

// callLost reports whether a result is an orphan, and the finding about that an error. Its role and
// its content do not matter, because it cannot be sent as a result at all.
func (c *Context) callLost(result int) bool { return c.orphaned(result) && !c.callElsewhere(result) }

// wronglyPut reports whether a message consists of results that its role cannot carry, so that
// it is going to have another role or to be gone.
func (c *Context) wronglyPut(message int32) bool {
	if _, astray := c.causes().astray[message]; astray {
		return true
	}
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockResult || !c.Results[c.Blocks[b].Ref].WrongRole {
			return false
		}
	}
	return m.BlockLo < m.BlockHi
}
