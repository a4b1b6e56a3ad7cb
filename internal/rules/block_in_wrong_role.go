package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var blockInWrongRole = &Rule{
	Name: "block-in-wrong-role", Category: Roles, Severity: "error",
	Summary: "A call stands outside an assistant message, or a result inside one",
	Points:  []profile.Point{profile.WrongRole},
	Doc: `Calls are the assistant's, results the user's (or role ` + "`tool`" + `). A block under the
wrong role is refused.

**Repair.** A message of nothing but calls gets the role of the assistant, a result
moves to the message that answers its call (safe). In logs nothing is moved.`,
	Bad: `[{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		for i := range c.Calls {
			call := &c.Calls[i]
			if !call.WrongRole || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			var op *operation.Operation
			if c.arrays() && c.onlyCalls(call.Message) {
				op = c.op(c.turn(call.Message), operation.Safe, "give the message the role of the assistant", &operation.MoveBlock{Block: call.Block})
			}
			c.aboutCall(i, Finding{
				Severity: Error, Refusal: c.cell(profile.WrongRole).Text, Fix: op,
				Message: callName(call) + " stands in a message of role " + c.Messages[call.Message].Role.String(),
			})
		}
		for i := range c.Results {
			res := &c.Results[i]
			if !res.WrongRole || c.Pairing.Results[i].Fate == pairing.Ignored {
				continue
			}
			var op *operation.Operation
			if c.arrays() && c.Pairing.Results[i].Fate == pairing.Answers {
				op = c.op(c.turn(res.Message), operation.Safe, "move it to the message that answers", &operation.MoveBlock{Block: res.Block})
			}
			c.aboutResult(i, Finding{
				Severity: Error, Refusal: c.cell(profile.WrongRole).Text, Fix: op,
				Message: resultName(res) + " stands in a message of role " + c.Messages[res.Message].Role.String(),
			})
		}
	},
}

// onlyCalls reports whether a message holds calls and nothing else.
func (c *Context) onlyCalls(message int32) bool {
	m := &c.Messages[message]
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockCall {
			return false
		}
	}
	return true
}
