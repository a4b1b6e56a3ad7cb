package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var orphanToolResult = &Rule{
	Name: "orphan-tool-result", Category: Pairing, Severity: "error",
	Summary:    "A result answers a call that is nowhere in the conversation",
	Points:     []profile.Point{profile.Orphan},
	Strategies: []string{"drop", "text", "relink", "leave"},
	Doc: `The call was cut away, or the id was changed on one side only: the typical trace
of history compression and of a history cut to its last messages. Every strict
provider refuses it.

Where results have no ids, as many are orphans as there are more results than calls:
which they are is not told, and they are left.

Where the conversation names state on the provider's side
(` + "`previous_response_id`" + `) the call may lie there, and the finding is an info.

**Repair.** ` + "`fix --unsafe`" + ` drops the result. A call is never made up for it.

` + "`--strategy orphan-tool-result=text`" + ` keeps its content as text; ` + "`relink`" + ` lets the
leftover results of a turn's window answer its leftover calls in order, where there
are as many of the one as of the other (both unsafe). In a session log what the
record says of the result beside the message goes when it becomes text
(` + "`toolUseResult`" + `, ` + "`sourceToolAssistantUUID`" + `): there is no result any more.`,
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
		for i := range c.Pairing.Results {
			res := &c.Results[i]
			l := &c.Pairing.Results[i]
			if l.Fate != pairing.Orphan && !(l.Surplus && c.arrays()) || res.Server {
				continue
			}
			f := Finding{
				Severity: Error, Message: resultName(res) + " answers no call of this conversation",
				Refusal: c.cell(profile.Orphan).Text,
			}
			switch {
			case c.ElsewhereState || c.Slice:
				f.Severity = Info
			case l.Surplus:
				f.Message = resultName(res) + " answers no call: there are more results than calls without ids"
			default:
				f.Fix = c.orphanFix(i, relinks)
			}
			c.aboutResult(i, f)
		}
	},
}

// orphanFix returns the operation that the chosen strategy has for a result.
func (c *Context) orphanFix(i int, relinks map[int32]int32) *operation.Operation {
	turn := c.turn(c.Results[i].Message)
	switch c.strategy() {
	case "", "drop":
		return c.op(turn, operation.Unsafe, "drop the result", &operation.DropResults{Results: []int32{int32(i)}, CopyOf: -1})
	case "text":
		return c.op(turn, operation.Unsafe, "keep it as text", &operation.Texts{Results: []int32{int32(i)}})
	case "relink":
		if call, ok := relinks[int32(i)]; ok {
			return c.op(turn, operation.Unsafe, "let it answer call "+quote(c.Calls[call].ID), &operation.RelinkResult{Result: int32(i), Call: call})
		}
	}
	return nil
}

// relinks pairs the leftover results that stand right behind a turn with its
// leftover calls, by order, where there are as many of both.
func (c *Context) relinks() map[int32]int32 {
	out := map[int32]int32{}
	var calls, results []int32 // of the turn that is looked at
	turn := int32(-1)
	settle := func() {
		if len(calls) == len(results) {
			for k := range calls {
				out[results[k]] = calls[k]
			}
		}
		calls, results = nil, nil
	}
	// Any other speaker ends the window of the turn; text beside results does
	// not.
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
