package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
)

var blockInWrongRole = &Rule{
	Name: "block-in-wrong-role", Category: Roles, Severity: "error",
	Summary: "A call stands outside an assistant message, or a result inside one",
	Doc: `Calls are the assistant's, results the user's (or role ` + "`tool`" + `). A block under the
wrong role is refused.

**Repair.** The block is moved to the message beside it that has the right role,
where that is unique (safe).`,
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
			op := c.op(operation.MoveBlock, c.turn(call.Message), operation.Safe, "move it to the assistant's message")
			op.Blocks = []int32{call.Block}
			c.aboutCall(i, Finding{
				Severity: Error, ProviderError: c.Profile.WrongRole.Text, Fix: op,
				Message: callName(call) + " stands in a message of role " + c.Messages[call.Message].Role.String(),
			})
		}
		for i := range c.Results {
			res := &c.Results[i]
			if !res.WrongRole || c.Pairing.Results[i].Fate == pairing.Ignored {
				continue
			}
			op := c.op(operation.MoveBlock, c.turn(res.Message), operation.Safe, "move it to the message that answers")
			op.Blocks = []int32{res.Block}
			c.aboutResult(i, Finding{
				Severity: Error, ProviderError: c.Profile.WrongRole.Text, Fix: op,
				Message: resultName(res) + " stands in a message of role " + c.Messages[res.Message].Role.String(),
			})
		}
	},
}
