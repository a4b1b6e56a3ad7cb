package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
)

var resultOrderMismatch = &Rule{
	Name: "result-order-mismatch", Category: Pairing, Family: MessageOrder, Severity: "info; warning for providers that pair by position",
	Summary:    "Tool results are not in call order",
	Points:     []profile.Point{profile.Order},
	Strategies: []string{"leave", "reorder"},
	What:       `Checks for results that are not in the order of their calls.`,
	Why: `This is legal if each result names its call. Chat templates and providers that pair by position
give each call the result of another call, without any error message.`,
	Repair: `By default, toolguard leaves the order alone. ` + "`--select result-order-mismatch`" + ` chooses ` + "`reorder`" + `.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`reorder`" + ` (safe): put the results in call order.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"b","content":"2"},
 {"role":"tool","tool_call_id":"a","content":"1"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"a","content":"1"},
 {"role":"tool","tool_call_id":"b","content":"2"}]`,
	Check: func(c *Context) {
		if !c.arrays() {
			return
		}
		last := int32(-1) // block of the result of the previous call
		turn := int32(-1)
		told := int32(-1)
		for i := range c.Pairing.Calls {
			x := &c.Pairing.Calls[i]
			if x.State != pairing.Answered || x.Place != pairing.InWindow || c.Calls[i].Answer.ByProvider() {
				continue
			}
			if t := c.turn(c.Calls[i].Message); t != turn {
				turn, last = t, -1
			}
			res := &c.Results[x.Result]
			if res.Block < last && told != turn {
				told = turn
				op := c.op(turn, operation.Safe, "put the results in call order", &operation.ReorderResults{InOrder: true})
				op.ByStrategy = !c.wanted("reorder")
				c.aboutResult(int(x.Result), Finding{
					Severity: severityOf(c.cell(profile.Order)), Message: resultName(res) + " comes before the result of an earlier call", Fix: op,
				})
			}
			last = max(last, res.Block)
		}
	},
}
