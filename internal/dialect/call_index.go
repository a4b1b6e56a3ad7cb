package dialect

import "github.com/toolguard/toolguard/internal/transcript"

// A callIndex finds calls of a conversation by id or name without a search through
// all of them. It is filled on demand, so it costs nothing in a dialect that never
// uses it.
type callIndex struct {
	// last maps a raw id to its latest call among the first lasts calls.
	last  map[string]int32
	lasts int
	// byProvider maps a raw id to the first call that the provider ran, among the
	// first seen calls.
	byProvider map[string]int32
	seen       int
	// byID and byName hold the calls of one message: the first call of each id, and
	// the calls without an id by name, in order.
	byID    map[string]int32
	byName  map[string][]int32
	message int32
}

// latest returns the latest call with that id.
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

// answered returns the call that a result in the last message answers. If the
// result has an id, that is the first call with it that the provider ran or that is
// in the same message. Otherwise it is the first open call in the same message that
// has that name and no id.
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

// update adds the new calls, and drops the calls of earlier messages that the
// provider did not run.
func (x *callIndex) update(c *transcript.Conversation) {
	if here := int32(len(c.Messages) - 1); x.byProvider == nil || x.message != here {
		x.message = here
		if x.byProvider == nil {
			x.byProvider = map[string]int32{}
		}
		// A cleared map would keep its size.
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

// ran notes a call that the provider ran.
func (x *callIndex) ran(c *transcript.Conversation, call int32) {
	id := c.Calls[call].ID.Raw
	if first, known := x.byProvider[id]; !known || call < first {
		x.byProvider[id] = call
	}
}
