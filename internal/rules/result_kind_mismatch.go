package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var resultKindMismatch = &Rule{
	Name: "result-kind-mismatch", Category: Pairing, Severity: "error",
	Summary:    "The type of a tool result does not fit its call",
	Points:     []profile.Point{profile.WrongKind},
	Strategies: []string{"retag", "text"},
	What: `Checks for results that have the id of their call but not the type that fits it. For example, a
custom tool call has the output of a function call, or a message of role ` + "`tool`" + ` answers a legacy
function call. The output of a function call is accepted for local shell and tool search calls.`,
	Why: `The API compares both the id and the type. It reports the call as unanswered and the result as an
orphan.`,
	Repair: `By default, ` + "`fix --unsafe`" + ` changes the type of the result.

- ` + "`retag`" + ` (default, unsafe): give the result the type that fits its call.
- ` + "`text`" + ` (unsafe): turn the call and its result into text.`,
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
			if x.State != pairing.Answered || call.Answer.ByProvider() || fits(call.Kind, c.Results[x.Result].Kind) {
				continue
			}
			var op *operation.Operation
			switch c.strategyOr("retag") {
			case "retag":
				op = c.op(c.turn(call.Message), operation.Unsafe, "give the result the type that fits its call",
					&operation.Retag{Result: x.Result, Call: int32(i)})
			case "text":
				op = c.callAsText(int32(i)) // for some calls no other result can be made up
			}
			c.aboutResult(int(x.Result), Finding{
				Severity: Error, Refusal: c.cell(profile.WrongKind).Text, Fix: op, Confidence: x.Confidence.String(),
				Message: resultName(&c.Results[x.Result]) + " has a type that does not fit its call",
				Related: []Related{{"the call is here", call.ID.Span}},
			})
		}
	},
}

// fits reports whether a result of one kind can answer a call of another: Responses accepts
// the output of a function for a local shell and a tool search as well.
func fits(call, result transcript.CallKind) bool {
	return call == result || result == transcript.KindFunction && (call == transcript.KindLocalShell || call == transcript.KindToolSearch)
}
