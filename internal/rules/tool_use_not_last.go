package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var toolUseNotLast = &Rule{
	Name: "tool-use-not-last", Category: Roles, Severity: "warning; error beside signed reasoning or server tools",
	Summary: "Other blocks follow a call in its message",
	Points:  []profile.Point{profile.CallsNotLast, profile.CallsNotLastHard},
	Doc: `In an assistant message made of blocks, calls come last. Histories with merged turns have text
between calls. With thinking, or with tools that the provider runs itself, such a message is
rejected.

**Repair.** The calls are put last, in their order (safe). In a message with signed reasoning no
block is moved: ` + "`fix --unsafe`" + ` drops the reasoning, and then moves the calls.`,
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
				continue
			}
			f := Finding{
				Severity: severityOf(c.cell(profile.CallsNotLast)), Span: c.Blocks[after].Span, Refusal: c.cell(profile.CallsNotLast).Text,
				Message: "a block follows a call in its message",
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
			case len(reasoning) > 0: // without it the calls can be moved
				f.Fix = c.op(m.Turn, operation.Unsafe, "drop the reasoning of the message", &operation.DropBlocks{Blocks: reasoning})
			}
			c.report(int32(i), f)
		}
	},
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
