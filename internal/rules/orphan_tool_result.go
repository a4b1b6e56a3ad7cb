package rules

import (
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var orphanToolResult = &Rule{
	Name: "orphan-tool-result", Category: Pairing, Family: "misplaced-tool-result", Severity: "error",
	Summary:    "A tool result answers no call in the conversation",
	Points:     []profile.Point{profile.Orphan},
	Strategies: []string{"text", "drop", "relink", "leave"},
	What: `This is an info if the provider may have the call (` + "`previous_response_id`" + `), or if pi, OpenClaw or
Copilot CLI does not send it. With ` + "`--send`" + ` and in doctor, the latter is an error.`,
	Why: `The call was removed, or its id was changed, often when a history was compressed or cut. Every strict
provider rejects such a result.`,
	Repair: `- ` + "`text`" + ` (default, unsafe): turn the result into text. Images are kept. A placeholder is dropped,
  and so is what the format cannot hold.
- ` + "`drop`" + ` (unsafe): drop the result.
- ` + "`relink`" + ` (unsafe): assign the leftover results of a turn to its leftover calls by tool name, or in
  order if there are as many. Others become text.
- ` + "`leave`" + `: change nothing.

If a compaction of pi keeps a result without its call, ` + "`fix`" + ` keeps the call too (safe).`,
	Bad: `[{"role":"user","content":"q"},
 {"role":"tool","tool_call_id":"gone","content":"x"},
 {"role":"assistant","content":"a"}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"x"},
 {"role":"assistant","content":"a"}]`,
	Check: func(c *Context) {
		var relinks map[int32]int32
		if c.strategy() == "relink" {
			relinks = c.relinks()
		}
		before := 0 // the number of calls before the result
		for i := range c.Pairing.Results {
			res := &c.Results[i]
			l := &c.Pairing.Results[i]
			for before < len(c.Calls) && c.Calls[before].Block < res.Block {
				before++
			}
			if call := c.cutOff(i); call >= 0 {
				c.withoutCut(i, call)
				continue
			}
			if c.callOmitted(i) {
				c.withoutCall(i)
				continue
			}
			if !c.orphaned(i) {
				continue
			}
			f := Finding{
				Severity: Error, Message: resultName(res) + " answers no call of this conversation",
				Refusal: c.cell(profile.Orphan).Text,
			}
			switch {
			case c.callElsewhere(i):
				f.Severity = Info
			case l.Surplus:
				f.Message = resultName(res) + " answers no call: there are more results than calls without ids"
				f.Fix, f.by = c.unplaced(i), ambiguousPairing
			case c.strategy() == "" && c.Strategy[ambiguousPairing.Name] == "mint":
				// It may be a leftover of pairing the others by position.
				f.Fix, f.by = c.resultAsText(i), ambiguousPairing
			default:
				f.Fix = c.orphanFix(i, relinks)
			}
			if before > 0 && c.Seen(c.rule, f.Severity) {
				f.Related = []Related{{"the last call before it is here", c.Calls[before-1].ID.Span}}
			}
			c.aboutResult(i, f)
		}
	},
}

// orphaned reports whether result i answers no call, and none that a client leaves out.
func (c *Context) orphaned(i int) bool {
	l := &c.Pairing.Results[i]
	if l.Fate != pairing.Orphan && !(l.Surplus && c.arrays()) || c.Results[i].Answer.ByProvider() {
		return false
	}
	return c.cutOff(i) < 0 && !c.callOmitted(i)
}

// callElsewhere reports whether the call of result i may be where toolguard cannot see it.
func (c *Context) callElsewhere(i int) bool {
	res := &c.Results[i]
	return c.storedByProvider() && (pairing.Key(res.ID) != "" || res.Answer == transcript.AnswerByPosition) || c.Slice
}

// orphanFix returns the operation of the chosen strategy for a result.
func (c *Context) orphanFix(i int, relinks map[int32]int32) *operation.Operation {
	turn := c.turn(c.Results[i].Message)
	drop := c.op(turn, operation.Unsafe, "drop the "+resultName(&c.Results[i]), &operation.DropResults{Results: []int32{int32(i)}, CopyOf: -1})
	switch c.strategy() {
	case "":
		if c.placeholder(int32(i)) {
			return drop // nobody recorded it
		}
		op := c.resultAsText(i)
		op.Else = drop // some formats, and some messages, cannot hold it as text
		return op
	case "drop":
		return drop
	case "text":
		return c.resultAsText(i)
	case "relink":
		call, ok := relinks[int32(i)]
		if !ok {
			return c.resultAsText(i) // it is unknown which call it answers
		}
		return c.op(turn, operation.Unsafe, "assign the result to call "+quote(c.Calls[call].ID), &operation.RelinkResult{Result: int32(i), Call: call})
	}
	return nil
}

// resultAsText returns the operation that turns one result into text. In a log, its record first moves behind the
// results of its turn: text between them would be a message that separates them from their calls.
func (c *Context) resultAsText(i int) *operation.Operation {
	if last := c.lastOfTurn(i); last > c.Results[i].Message {
		return c.op(c.turn(c.Results[i].Message), operation.Unsafe, "move the "+resultName(&c.Results[i])+" behind the results of its turn, to turn it into text",
			&operation.MoveRecord{At: c.Messages[c.Results[i].Message].Span(), Behind: last})
	}
	return c.op(c.turn(c.Results[i].Message), operation.Unsafe, "turn the "+resultName(&c.Results[i])+" into text", &operation.Texts{Results: []int32{int32(i)}})
}

// lastOfTurn returns the last message with an answer of those with results that follow result i, if each is a record of
// its own; -1 if there is none.
func (c *Context) lastOfTurn(i int) int32 {
	if !c.Lines || c.Window != transcript.WindowTool {
		return -1
	}
	if c.tails == nil {
		c.tails = make([]int32, len(c.Messages))
		last := int32(-1)
		for m := len(c.Messages) - 1; m >= 0; m-- {
			if c.Messages[m].Role != transcript.RoleTool {
				last = -1
			} else if r := c.resultOf(m); last < 0 && r >= 0 && c.Pairing.Results[r].Fate != pairing.Orphan {
				last = int32(m)
			}
			c.tails[m] = last
		}
	}
	return c.tails[c.Results[i].Message]
}

// relinks pairs the leftover results right after a turn with its leftover calls: first those
// with the same tool, then the rest. They are paired in order, if there are as many results
// as calls.
func (c *Context) relinks() map[int32]int32 {
	out := map[int32]int32{}
	var calls, results []int32 // of the current turn
	turn := int32(-1)
	settle := func() {
		c.relinkTurn(out, calls, results)
		calls, results = nil, nil
	}
	// Any other speaker ends the window of the turn. Text beside results does not.
	other := func(m *transcript.Message) {
		if m.Role == transcript.RoleAssistant && m.Turn != turn || m.Role == transcript.RoleUser && c.Window == transcript.WindowTool {
			settle()
			turn = -1
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Has(transcript.MessageText) {
			other(m)
		}
		for b := m.BlockLo; b < m.BlockHi; b++ {
			switch blk := &c.Blocks[b]; blk.Kind {
			case transcript.BlockCall:
				if m.Turn != turn {
					settle()
					turn = m.Turn
				}
				if s := c.Pairing.Calls[blk.Ref].State; (s == pairing.Missing || s == pairing.Pending) && c.Calls[blk.Ref].Kind != transcript.KindApproval {
					calls = append(calls, blk.Ref)
				}
			case transcript.BlockResult:
				if c.Pairing.Results[blk.Ref].Fate == pairing.Orphan && turn >= 0 && c.Results[blk.Ref].Kind != transcript.KindApproval {
					results = append(results, blk.Ref)
				}
			default:
				other(m)
			}
		}
	}
	settle()
	return out
}

// relinkTurn pairs the leftover calls and results of one turn.
func (c *Context) relinkTurn(out map[int32]int32, calls, results []int32) {
	pair := func(calls, results []int32) {
		if len(calls) == len(results) {
			for k := range calls {
				out[results[k]] = calls[k]
			}
		}
	}
	type side struct{ calls, results []int32 }
	sides := map[string]*side{}
	of := func(name transcript.Token) *side {
		key := pairing.Key(name)
		if sides[key] == nil {
			sides[key] = &side{}
		}
		return sides[key]
	}
	for _, i := range calls {
		s := of(c.Calls[i].Name)
		s.calls = append(s.calls, i)
	}
	for _, i := range results {
		s := of(c.Results[i].Name)
		s.results = append(s.results, i)
	}
	taken := map[int32]bool{}
	for name, s := range sides {
		if name == "" || len(s.calls) != len(s.results) {
			continue
		}
		pair(s.calls, s.results)
		for _, i := range s.calls {
			taken[i] = true
		}
	}
	pair(slices.DeleteFunc(calls, func(i int32) bool { return taken[i] }),
		slices.DeleteFunc(results, func(i int32) bool { _, is := out[i]; return is }))
}
