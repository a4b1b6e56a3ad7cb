package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
)

var resultKindMismatch = &Rule{
	Name: "result-kind-mismatch", Category: Pairing, Severity: "error",
	Summary: "The type of a result does not fit its call",
	Points:  []profile.Point{profile.WrongKind},
	Doc: `The ids match, the kinds do not: a custom tool answered like a function, a legacy
function call answered by role ` + "`tool`" + `. The API pairs by id and kind, and reports
the call as unanswered and the result as an orphan.

**Repair.** ` + "`fix --unsafe`" + ` gives the result the type that fits.`,
	Bad: `[{"type":"custom_tool_call","call_id":"k1","name":"patch","input":"x"},
 {"type":"function_call_output","call_id":"k1","output":"ok"},
 {"role":"user","content":"n"}]`,
	Good: `[{"type":"custom_tool_call","call_id":"k1","name":"patch","input":"x"},
 {"type":"custom_tool_call_output","call_id":"k1","output":"ok"},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		for i := range c.Pairing.Calls {
			x := &c.Pairing.Calls[i]
			call := &c.Calls[i]
			if x.State != pairing.Answered || call.Server || call.Kind == c.Results[x.Result].Kind {
				continue
			}
			op := c.op(c.turn(call.Message), operation.Unsafe, "give the result the type that fits its call",
				&operation.Retag{Result: x.Result, Call: int32(i)})
			c.aboutResult(int(x.Result), Finding{
				Severity: Error, Refusal: c.cell(profile.WrongKind).Text, Fix: op, Confidence: x.Confidence.String(),
				Message: resultName(&c.Results[x.Result]) + " is of another type than its call wants",
				Related: []Related{{"the call is here", call.ID.Span}},
			})
		}
	},
}
