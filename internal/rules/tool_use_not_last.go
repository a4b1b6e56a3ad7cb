package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var toolUseNotLast = &Rule{
	Name: "tool-use-not-last", Category: Roles, Severity: "warning; error next to signed reasoning or server tools",
	Summary: "Other blocks follow a tool call in its message",
	Points:  []profile.Point{profile.CallsNotLast, profile.CallsNotLastHard},
	What: `Checks for blocks that follow a call in an assistant message. If the provider merges consecutive
messages, text in the next assistant message counts too.`,
	Why: `In an assistant message made of blocks, calls come last. Histories with merged turns have text
between calls. If such a message contains thinking, or calls of tools that the provider runs
itself, it is rejected.`,
	Repair: `toolguard puts the calls last and keeps their order (safe). If the text is in another message, it
moves the results to their calls (safe).

In a message with signed reasoning, toolguard moves no block. ` + "`fix --unsafe`" + ` drops the reasoning
and then moves the calls.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"text","text":"B"}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"text","text":"B"},{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		if c.Window != transcript.WindowUser {
			return
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Role != transcript.RoleAssistant {
				continue
			}
			call, after := int32(-1), int32(-1)
			hard := false
			for b := m.BlockLo; b < m.BlockHi; b++ {
				switch c.Blocks[b].Kind {
				case transcript.BlockCall:
					if call < 0 {
						call = b
					}
				case transcript.BlockServerCall, transcript.BlockServerResult, transcript.BlockReasoning:
					hard = true
					if call >= 0 && after < 0 && c.Blocks[b].Kind != transcript.BlockServerResult {
						after = b
					}
				case transcript.BlockResult:
				default:
					if call >= 0 && after < 0 {
						after = b
					}
				}
			}
			if after < 0 {
				c.goesOnBehind(int32(i))
				continue
			}
			f := Finding{
				Severity: severityOf(c.cell(profile.CallsNotLast)), Span: c.Blocks[after].Span, Refusal: c.cell(profile.CallsNotLast).Text,
				Message: "this block follows a call in its message",
				Related: []Related{{"the call is here", c.Calls[c.Blocks[call].Ref].ID.Span}},
			}
			if c.Use == transcript.UseTrace {
				f.Severity = Info // the provider itself wrote it so
			} else if hard {
				f.Severity = severityOf(c.cell(profile.CallsNotLastHard))
				f.Refusal = c.cell(profile.CallsNotLastHard).Text
			}
			switch reasoning := c.reasoning(int32(i)); {
			case !c.signed(m.Turn):
				f.Fix = c.op(m.Turn, operation.Safe, "put the calls last", &operation.CallsLast{Message: int32(i)})
			case len(reasoning) > 0: // the calls can be moved only without reasoning
				f.Fix = c.op(m.Turn, operation.Unsafe, "drop the reasoning of the message", &operation.DropBlocks{Blocks: reasoning})
			}
			c.report(int32(i), f)
		}
	},
}

// goesOnBehind reports a message of calls if the assistant continues in its next message
// before it sees their results, and the provider merges the two messages.
func (c *Context) goesOnBehind(message int32) {
	var results []int32
	for _, i := range c.spokenBehind(message) {
		results = append(results, c.Pairing.Calls[i].Result)
	}
	if len(results) == 0 {
		return
	}
	next := message + 1
	severity := severityOf(c.cell(profile.CallsNotLast))
	if c.Use == transcript.UseTrace {
		severity = min(severity, Info)
	}
	op := c.op(c.turn(message), operation.Safe, "move the results to their calls", &operation.MoveResults{Results: results})
	c.report(next, Finding{
		Severity: severity, Span: c.Messages[next].RoleSpan(), Refusal: c.cell(profile.CallsNotLast).Text, Fix: op,
		Message: "this assistant message follows a call before its result, and the provider takes both messages as one",
		Related: []Related{{"a call is here", c.Calls[c.Pairing.Results[results[0]].Call].ID.Span}},
	})
}

// spokenBehind returns the calls of a message whose results come only after the next message,
// if the assistant speaks in that message and the provider merges the two.
func (c *Context) spokenBehind(message int32) (calls []int32) {
	first, next := &c.Messages[message], message+1
	if !c.Merged || first.Role != transcript.RoleAssistant || int(next) >= len(c.Messages) {
		return nil
	}
	m := &c.Messages[next]
	if m.Role != transcript.RoleAssistant || m.Void() || m.Has(transcript.MessageReplay) || m.BlockLo < m.BlockHi && c.Blocks[m.BlockLo].Kind != transcript.BlockText {
		return nil
	}
	for b := first.BlockLo; b < first.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockCall {
			continue
		}
		x := &c.Pairing.Calls[c.Blocks[b].Ref]
		if x.State == pairing.Answered && x.Place == pairing.InWindow && c.Results[x.Result].Message > next && !c.Results[x.Result].WrongRole {
			calls = append(calls, c.Blocks[b].Ref)
		}
	}
	return calls
}

// reasoning returns the blocks of reasoning in a message.
func (c *Context) reasoning(message int32) (blocks []int32) {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind == transcript.BlockReasoning {
			blocks = append(blocks, b)
		}
	}
	return blocks
}
