package trim

import (
	"fmt"
	"slices"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A History is a conversation as trim sees it: which messages belong together, which stay, and
// how large each is.
type History struct {
	conv    *transcript.Conversation
	pairing pairing.Pairing
	profile *profile.Profile
	pinned  []bool
	// kinds hold for each message which boundary is before it.
	kinds []kind
	// Sizes are the sizes of the messages after their results are shortened.
	Sizes []Size
	// Rest is the size of everything else.
	Rest Size
	// Tail returns how many bytes go besides the messages if all from first to the last go, such as
	// what separates them from the one before; nil if none do.
	Tail func(first int) int64
}

// at returns how the provider names a message: messages.2.
func (h *History) at(message int) string {
	return fmt.Sprintf("%s.%d", h.profile.Wire.List(), message)
}

// A Size is the size of a part of the text.
type Size struct {
	Bytes  int64
	Tokens float64
}

// plus returns the sum of two sizes.
func (s Size) plus(o Size) Size { return Size{s.Bytes + o.Bytes, s.Tokens + o.Tokens} }

// A kind is the kind of the boundary before a message, plus 1, or one of the others.
type kind uint8

const (
	parts    kind = iota // a cut here would part what belongs together
	userKind             // User and so on
	loopKind
	pairKind
	safe // a cut here parts nothing, but nothing begins here
)

// NewHistory returns the history of a conversation. Its first pin messages are never dropped.
func NewHistory(conv *transcript.Conversation, paired pairing.Pairing, prof *profile.Profile, pin int) *History {
	h := &History{conv: conv, pairing: paired, profile: prof, Sizes: make([]Size, len(conv.Messages))}
	h.pinned = make([]bool, len(conv.Messages))
	ties := h.ties()
	h.pin(pin, ties)
	h.classify(ties)
	return h
}

// Len returns the number of messages.
func (h *History) Len() int { return len(h.conv.Messages) }

// A tie is two messages that must be kept or dropped together.
type tie struct{ a, b int32 }

// ties returns what ties messages together: exchanges, turns, calls with what else names them, and
// reasoning with the item that it led to.
func (h *History) ties() []tie {
	c := h.conv
	var out []tie
	add := func(a, b int32) {
		if a != b {
			out = append(out, tie{min(a, b), max(a, b)})
		}
	}
	for i := range h.pairing.Results {
		if call := h.pairing.Results[i].Call; call >= 0 {
			add(c.Calls[call].Message, c.Results[i].Message)
		}
	}
	for i := range h.pairing.Calls {
		if x := &h.pairing.Calls[i]; x.Result >= 0 {
			add(c.Calls[i].Message, c.Results[x.Result].Message)
		}
	}
	if len(c.Mentions) > 0 {
		message := map[string]int32{}
		for i := range c.Calls {
			message[pairing.Key(c.Calls[i].ID)] = c.Calls[i].Message
		}
		for i := range c.Mentions {
			if call, known := message[pairing.Key(c.Mentions[i].Call)]; known {
				add(call, c.Mentions[i].Message)
			}
		}
	}
	// It is unknown which of these belong together, so they stay together.
	unclear, call := int32(-1), 0
	for i := range h.pairing.Results {
		for ; call < len(c.Calls) && c.Calls[call].Message <= c.Results[i].Message; call++ {
			if h.pairing.Calls[call].State == pairing.Unclear {
				if unclear = c.Calls[call].Message; i > 0 && h.pairing.Results[i-1].Fate == pairing.Undecided {
					add(unclear, c.Results[i-1].Message)
				}
			}
		}
		if h.pairing.Results[i].Fate == pairing.Undecided && unclear >= 0 {
			add(unclear, c.Results[i].Message)
		}
	}
	first := make([]int32, c.Turns) // by turn: its last message so far, plus 1
	for i := range c.Messages {
		turn := c.Messages[i].Turn
		if first[turn] > 0 {
			add(first[turn]-1, int32(i))
		}
		first[turn] = int32(i) + 1
	}
	for i := 1; i < len(c.Messages); i++ {
		speaks := h.speaks(i)
		reasoning := speaks && h.only(i-1, transcript.BlockReasoning)
		same := c.Merged && speaks && h.speaks(i-1) // they are sent as one message
		nested := c.Messages[i].Span().Start < c.Messages[i-1].Span().End
		record := c.Enveloped && c.Messages[i].Record == c.Messages[i-1].Record
		if reasoning || same || nested || record {
			add(int32(i-1), int32(i))
		}
	}
	return out
}

// pin marks the messages that stay: the system prompt, the summary of the last compaction, the
// first n messages, and whatever is tied to them.
func (h *History) pin(n int, ties []tie) {
	c := h.conv
	for i := 0; i < len(c.Messages) && c.Messages[i].Role == transcript.RoleSystem; i++ {
		h.pinned[i] = true
	}
	for i := len(c.Messages) - 1; i >= 0; i-- {
		last := c.Messages[len(c.Messages)-1].Segment
		if last > 0 && c.Messages[i].Segment == last && (i == 0 || c.Messages[i-1].Segment != last) {
			h.pinned[i] = true
			break
		}
	}
	for i := range min(n, len(h.pinned)) {
		h.pinned[i] = true
	}
	for more := true; more; {
		more = false
		for _, t := range ties {
			if h.pinned[t.a] != h.pinned[t.b] {
				h.pinned[t.a], h.pinned[t.b], more = true, true, true
			}
		}
	}
}

// classify finds the boundaries.
func (h *History) classify(ties []tie) {
	c := h.conv
	crossing := make([]int32, len(c.Messages)+1) // how many ties begin or end here
	for _, t := range ties {
		if !h.pinned[t.a] {
			crossing[t.a+1]++
			crossing[t.b+1]--
		}
	}
	opaque := make(map[int32]bool, len(c.Unread)) // the messages after opaque elements
	for i := range c.Unread {
		opaque[c.Unread[i].Before] = true
	}
	h.kinds = make([]kind, len(c.Messages))
	open, start, closed := int32(0), 0, false
	shut := func(end int) { // within a loop that must stay whole, only its start is a boundary
		for i := start + 1; closed && i < end; i++ {
			if h.kinds[i] == loopKind || h.kinds[i] == pairKind {
				h.kinds[i] = safe
			}
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		open += crossing[i]
		closed = closed || opaque[int32(i)] // it belongs to the message before this one
		if h.human(i) {
			shut(i)
			start, closed = i, false
		}
		closed = closed || m.Has(transcript.MessageStray) || h.has(i, func(b *transcript.Block) bool { return b.Has(transcript.BlockSigned) })
		if open == 0 {
			h.kinds[i] = h.kindOf(i)
		}
	}
	shut(len(c.Messages))
}

// kindOf returns the kind of the boundary before a message that is tied to none before it.
func (h *History) kindOf(i int) kind {
	switch {
	case h.human(i):
		return userKind
	case i == 0 || !h.speaks(i):
		return safe
	case h.speaks(i-1) && !h.calls(i-1):
		return loopKind
	case h.holdsResults(i-1) && !h.calls(i):
		return loopKind
	case h.holdsResults(i - 1):
		return pairKind
	}
	return safe
}

// human reports whether a human typed a message.
func (h *History) human(i int) bool {
	m := &h.conv.Messages[i]
	return m.Role == transcript.RoleUser && !m.Void() && !m.Has(transcript.MessageReplay) &&
		!h.has(i, func(b *transcript.Block) bool {
			return b.Kind == transcript.BlockResult || b.Kind == transcript.BlockCall || b.Kind == transcript.BlockServerResult
		})
}

// speaks reports whether the model made a message.
func (h *History) speaks(i int) bool {
	return h.conv.Messages[i].Role == transcript.RoleAssistant || h.calls(i)
}

// calls reports whether a message has calls that are answered by other messages.
func (h *History) calls(i int) bool {
	return h.has(i, func(b *transcript.Block) bool {
		return b.Kind == transcript.BlockCall && h.conv.Calls[b.Ref].Answer != transcript.AnswerOwnRecord
	})
}

// holdsResults reports whether a message has results.
func (h *History) holdsResults(i int) bool {
	return h.conv.Messages[i].Role == transcript.RoleTool || h.has(i, func(b *transcript.Block) bool {
		return b.Kind == transcript.BlockResult || b.Kind == transcript.BlockCall && h.conv.Calls[b.Ref].Answer == transcript.AnswerOwnRecord
	})
}

// waits reports whether a message has a call without a result.
func (h *History) waits(i int) bool {
	return h.has(i, func(b *transcript.Block) bool {
		if b.Kind != transcript.BlockCall {
			return false
		}
		s := h.pairing.Calls[b.Ref].State
		return s == pairing.Missing || s == pairing.Pending || s == pairing.Interrupted || s == pairing.Unclear
	})
}

// open reports whether a call of the last answer before message n has no result.
func (h *History) open(n int) bool {
	turn := int32(-1)
	for i := n - 1; i >= 0; i-- {
		m := &h.conv.Messages[i]
		switch {
		case h.speaks(i) && (turn < 0 || m.Turn == turn):
			if turn = m.Turn; h.waits(i) {
				return true
			}
		case !h.holdsResults(i) || h.speaks(i):
			return false
		}
	}
	return false
}

// only reports whether all blocks of a message are of a kind.
func (h *History) only(i int, k transcript.BlockKind) bool {
	m := &h.conv.Messages[i]
	return m.BlockLo < m.BlockHi && !h.has(i, func(b *transcript.Block) bool { return b.Kind != k })
}

func (h *History) has(i int, is func(*transcript.Block) bool) bool {
	m := &h.conv.Messages[i]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if is(&h.conv.Blocks[b]) {
			return true
		}
	}
	return false
}

// suits reports whether message k may follow message before, the last one before it that is kept
// and no system message; -1 for none.
func (h *History) suits(before, k int) bool {
	refuses := func(at profile.Point) bool { return h.profile.Cell(at).Effective() >= profile.Warning }
	m := &h.conv.Messages[k]
	if before < 0 {
		return !h.speaks(k) || !refuses(profile.FirstRole) || h.profile.TextFirst && !h.calls(k) && h.asked(k)
	}
	prev := &h.conv.Messages[before]
	switch {
	case before == k-1:
		return true // as in the original
	case m.Role == transcript.RoleUser && h.holdsResults(before) && prev.Role == transcript.RoleTool:
		return !refuses(profile.UserAfterTool)
	case m.Role == prev.Role && h.profile.Wire != profile.Items:
		return !refuses(profile.ConsecutiveRoles) || m.Role == transcript.RoleUser && h.profile.UsersInRow
	}
	return true
}

// asked reports whether a message of the user follows message k.
func (h *History) asked(k int) bool {
	return slices.ContainsFunc(h.conv.Messages[k+1:], func(m transcript.Message) bool { return m.Role == transcript.RoleUser })
}

// ends reports whether a history may end with a message.
func (h *History) ends(i int) bool {
	return !h.speaks(i) || h.profile.Cell(profile.LastRole).Effective() < profile.Warning
}

// Pinned returns the number of pinned messages among those that are cut off.
func (h *History) Pinned(cut Cut) int {
	n := 0
	for i := cut.Head; i < cut.Index; i++ {
		if h.pinned[i] {
			n++
		}
	}
	return n
}

// Drops reports whether a cut drops a message.
func (h *History) Drops(cut Cut, i int) bool { return i >= cut.Head && i < cut.Index && !h.pinned[i] }

// dropsAny reports whether a cut drops anything.
func (h *History) dropsAny(cut Cut) bool {
	return cut.Head < cut.Index && slices.Contains(h.pinned[cut.Head:cut.Index], false)
}
