package rules

import (
	"sort"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

// cutOff returns the call of a result if it is right before the result, but the last compaction
// keeps only the result; -1 otherwise.
func (c *Context) cutOff(result int) int32 {
	res := &c.Results[result]
	key := pairing.Key(res.ID)
	if len(c.Compactions) == 0 || key == "" || c.hidden(res.Message) || c.Pairing.Results[result].Fate != pairing.Orphan {
		return -1
	}
	for i := res.Message - 1; i >= 0; i-- {
		m := &c.Messages[i]
		if m.Has(transcript.MessageReplay) || m.Role == transcript.RoleTool {
			continue // a result of the same turn
		}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			blk := &c.Blocks[b]
			if blk.Kind != transcript.BlockCall || pairing.Key(c.Calls[blk.Ref].ID) != key {
				continue
			}
			if m.Segment < c.Messages[res.Message].Segment && c.Pairing.Calls[blk.Ref].Result < 0 {
				return blk.Ref
			}
		}
		break
	}
	return -1
}

// withoutCut reports a result whose call a compaction does not keep. Unless the client leaves out
// the call anyway, the compaction can keep it too.
func (c *Context) withoutCut(result int, call int32) {
	res := &c.Results[result]
	f := Finding{
		Severity: Error, Message: resultName(res) + " is sent without its call: the last compaction keeps the result, but not the call",
		Refusal: c.cell(profile.Orphan).Text, Related: []Related{{"its call is here", c.Calls[call].ID.Span}},
	}
	if c.strategy() != "" || c.Messages[c.Calls[call].Message].Has(transcript.MessageOmitted) {
		f.Fix = c.uncalled(result)
	} else {
		f.Fix = c.op(c.turn(c.Calls[call].Message), operation.Safe, "keep the call with its result in the compaction",
			&operation.KeepCall{At: c.Compactions[len(c.Compactions)-1].Kept, Call: call})
	}
	c.aboutResult(result, f)
}

// insidePairs reports the earlier compactions that are between a call and its result and that a
// later compaction keeps.
func (c *Context) insidePairs() {
	for n := range max(0, len(c.Compactions)-1) {
		x := &c.Compactions[n]
		next := sort.Search(len(c.Messages), func(i int) bool { return c.Messages[i].Span().Start > x.Whole.Start })
		if next == 0 || next == len(c.Messages) || !c.Lines {
			continue
		}
		end := next // of the results behind it
		for end < len(c.Messages) && c.Messages[end].Role == transcript.RoleTool {
			end++
		}
		from := next - 1 // the message with the calls
		for from > 0 && c.Messages[from].Role == transcript.RoleTool {
			from--
		}
		result := c.resultOf(next)
		if result < 0 || c.hidden(int32(from)) || c.hidden(int32(next)) {
			continue
		}
		if l := &c.Pairing.Results[result]; l.Fate != pairing.Answers || c.Calls[l.Call].Message != int32(from) {
			continue
		}
		f := Finding{
			Severity: Warning, Message: "a compaction is between " + callName(&c.Calls[c.Pairing.Results[result].Call]) + " and its result, and a later one keeps it: some versions of the client send its summary there",
			Related: []Related{{"the compaction is here", x.Whole}},
		}
		if c.strategyOr("move") == "move" {
			f.Fix = c.op(c.turn(int32(from)), operation.Safe, "move the compaction behind the results", &operation.MoveRecord{At: x.Whole, Behind: int32(end - 1)})
		}
		c.aboutResult(int(result), f)
	}
}

// resultOf returns the first result of a message, -1 if it has none.
func (c *Context) resultOf(message int) int32 {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind == transcript.BlockResult {
			return c.Blocks[b].Ref
		}
	}
	return -1
}
