package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
)

var resultBeforeCall = &Rule{
	Name: "result-before-call", Category: Pairing, Severity: "error",
	Summary:    "A result stands before its only call",
	Points:     []profile.Point{profile.Before},
	Strategies: []string{"move", "leave"},
	Doc: `Writers that append from several threads, and histories that were sorted, leave a
result ahead of its call. A set of ids is balanced, the API is not content.

**Repair.** The result is moved behind its call (safe).`,
	Bad: `[{"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		for i := range c.Pairing.Calls {
			x := &c.Pairing.Calls[i]
			if x.State != pairing.Answered || x.Place != pairing.Before || c.Results[x.Result].WrongRole {
				continue
			}
			call := &c.Calls[i]
			f := Finding{
				Severity: Error, Message: resultName(&c.Results[x.Result]) + " stands before its call",
				Refusal: c.cell(profile.Before).Text, Confidence: x.Confidence.String(),
				Related: []Related{{"the call is here", call.ID.Span}},
			}
			if c.arrays() && c.strategy() != "leave" {
				f.Fix = c.op(c.turn(call.Message), operation.Safe, "move the result behind its call", &operation.MoveResults{Results: []int32{x.Result}})
			}
			c.aboutResult(int(x.Result), f)
		}
	},
}
