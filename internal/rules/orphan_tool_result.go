package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
)

var orphanToolResult = &Rule{
	Name: "orphan-tool-result", Category: Pairing, Severity: "error",
	Summary: "A result answers a call that is nowhere in the conversation",
	Doc: `The call was cut away, or the id was changed on one side only: the typical trace
of history compression and of a history cut to its last messages. Every strict
provider refuses it.

Where the conversation names state on the provider's side
(` + "`previous_response_id`" + `) the call may lie there, and the finding is an info.

**Repair.** ` + "`fix --unsafe`" + ` drops the result. A call is never made up for it.`,
	Bad: `[{"role":"user","content":"q"},
 {"role":"tool","tool_call_id":"gone","content":"x"},
 {"role":"assistant","content":"a"}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"x"},
 {"role":"assistant","content":"a"}]`,
	Check: func(c *Context) {
		for i := range c.Pairing.Results {
			res := &c.Results[i]
			if c.Pairing.Results[i].Fate != pairing.Orphan || res.Server {
				continue
			}
			f := Finding{
				Severity: Error, Message: resultName(res) + " answers no call of this conversation",
				ProviderError: c.Profile.Orphan.Text,
			}
			if c.ElsewhereState || c.Slice {
				f.Severity = Info
			} else {
				f.Fix = c.op(operation.DropResult, c.turn(res.Message), operation.Unsafe, "drop the result")
				f.Fix.Results = []int32{int32(i)}
			}
			c.aboutResult(i, f)
		}
	},
}
