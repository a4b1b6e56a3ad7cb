package dialect

import "github.com/toolguard/toolguard/internal/transcript"

// A callIndex finds calls of a conversation by what a later block names, without
// a search through all of them. It is filled when it is asked, so that it costs
// nothing in a dialect that never asks.
type callIndex struct {
	// last is the latest call by its id as written, of the first lasts calls.
	last  map[string]int32
	lasts int
	// byProvider is the first call of each id that the provider ran, of the first
	// seen calls.
	byProvider map[string]int32
	seen       int
	// byID and byName are the calls of one message: the first of each id, and in
	// order those without an id by name.
	byID    map[string]int32
	byName  map[string][]int32
	message int32
}

// latest returns the latest call of that id.
func (x *callIndex) latest(c *transcript.Conversation, id string) (call int32, known bool) {
	if x.last == nil {
		x.last = map[string]int32{}
	}
	for ; x.lasts < len(c.Calls); x.lasts++ {
		x.last[c.Calls[x.lasts].ID.Raw] = int32(x.lasts)
	}
	call, known = x.last[id]
	return call, known
}

// answered returns the call that a result in the last message answers: the first
// call of its id that the provider ran or that is in the same message; or, if
// the result has no id, the first open call of that name in the same message
// that has none either.
func (x *callIndex) answered(c *transcript.Conversation, res transcript.Result) (call int32, found bool) {
	x.update(c)
	if absentRaw(res.ID.Raw) {
		open := x.byName[res.Name.Raw]
		for len(open) > 0 && c.Calls[open[0]].Answer.ByProvider() {
			open = open[1:]
		}
		x.byName[res.Name.Raw] = open
		if len(open) == 0 {
			return 0, false
		}
		return open[0], true
	}
	call, found = x.byProvider[res.ID.Raw]
	if here, ok := x.byID[res.ID.Raw]; ok && (!found || here < call) {
		return here, true
	}
	return call, found
}

// update adds the calls that are new, and forgets those of earlier messages that
// the provider did not run.
func (x *callIndex) update(c *transcript.Conversation) {
	if here := int32(len(c.Messages) - 1); x.byProvider == nil || x.message != here {
		x.message = here
		if x.byProvider == nil {
			x.byProvider = map[string]int32{}
		}
		// A large map stays large when it is cleared.
		x.byID, x.byName = map[string]int32{}, map[string][]int32{}
	}
	for ; x.seen < len(c.Calls); x.seen++ {
		i := int32(x.seen)
		call := &c.Calls[i]
		if call.Answer.ByProvider() {
			x.ran(c, i)
		}
		switch {
		case call.Message != x.message:
		case absentRaw(call.ID.Raw):
			x.byName[call.Name.Raw] = append(x.byName[call.Name.Raw], i)
		default:
			if _, again := x.byID[call.ID.Raw]; !again {
				x.byID[call.ID.Raw] = i
			}
		}
	}
}

// ran notes that the provider ran a call.
func (x *callIndex) ran(c *transcript.Conversation, call int32) {
	id := c.Calls[call].ID.Raw
	if first, known := x.byProvider[id]; !known || call < first {
		x.byProvider[id] = call
	}
}
