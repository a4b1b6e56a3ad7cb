package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var blockInWrongRole = &Rule{
	Name: "block-in-wrong-role", Category: Roles, Severity: "error",
	Summary:    "A call is outside an assistant message, or a result is inside one",
	Points:     []profile.Point{profile.WrongRole},
	Strategies: []string{"move", "text"},
	Doc: `Calls belong in messages of the assistant, results in messages of the user (or of role ` + "`tool`" + `).
Providers reject blocks in a message of the wrong role.

**Repair.** A message that consists of calls gets the role of the assistant. A result moves to
the message that answers its call (both safe). In session logs nothing is moved.

` + "`--strategy block-in-wrong-role=text`" + ` turns the call and its result into text (unsafe).`,
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
			switch strategy := c.strategyOr("move"); {
			case strategy == "text":
				op = c.callAsText(int32(i))
			case c.arrays() && c.onlyCalls(call.Message):
				op = c.op(c.turn(call.Message), operation.Safe, "set the role to assistant", &operation.MoveBlock{Block: call.Block})
			}
			c.aboutCall(i, Finding{
				Severity: Error, Refusal: c.cell(profile.WrongRole).Text, Fix: op,
				Message: callName(call) + " is in a message of role " + c.Messages[call.Message].Role.String(),
			})
		}
		for i := range c.Results {
			res := &c.Results[i]
			if !res.WrongRole || c.Pairing.Results[i].Fate == pairing.Ignored {
				continue
			}
			var op *operation.Operation
			switch strategy := c.strategyOr("move"); {
			case strategy == "text" && c.Pairing.Results[i].Fate == pairing.Answers:
				op = c.callAsText(c.Pairing.Results[i].Call)
			case strategy == "text":
				op = c.asText(c.turn(res.Message), nil, []int32{int32(i)})
			case c.arrays() && (c.Pairing.Results[i].Fate == pairing.Answers || c.Pairing.Results[i].Fate == pairing.Duplicate):
				op = c.op(c.turn(res.Message), operation.Safe, "move the result to the message that answers the call", &operation.MoveBlock{Block: res.Block})
			}
			c.aboutResult(i, Finding{
				Severity: Error, Refusal: c.cell(profile.WrongRole).Text, Fix: op,
				Message: resultName(res) + " is in a message of role " + c.Messages[res.Message].Role.String(),
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
