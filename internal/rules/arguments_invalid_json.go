package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var argumentsInvalidJSON = &Rule{
	Name: "arguments-invalid-json", Category: Payload, Severity: "warning; error where the provider parses them",
	Summary: "A string of arguments does not hold JSON",
	Points:  []profile.Point{profile.ArgsBadJSON},
	Doc: `The string of a call's arguments cannot be parsed: the stream was cut, or the
model wrote something else. OpenAI takes it, other providers and chat templates,
and every translation to another API, do not. The finding stands at the byte
inside the string where it stops being JSON.

**Repair.** An empty string becomes ` + "`{}`" + ` (safe). Anything else stays as it is.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"city\": \"Qui"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"city\": \"Quito\"}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.ArgsBadJSON))
		if severity == Off {
			return
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if call.Want != transcript.ArgsWantString || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			turn := c.turn(call.Message)
			f := Finding{Severity: severity, Refusal: c.cell(profile.ArgsBadJSON).Text}
			switch call.Form {
			case transcript.ArgsStringBad:
				f.Span = call.BadAt
				f.Message = "the arguments of " + callName(call) + " stop being JSON here"
			case transcript.ArgsStringEmpty:
				f.Span = call.Args
				f.Message = "the arguments of " + callName(call) + " are an empty string"
				class := operation.Safe
				if c.signed(turn) {
					class = operation.Unsafe
				}
				f.Fix = c.op(turn, class, `write "{}"`, &operation.SetValue{At: call.Args, Text: `"{}"`, Call: -1})
			default:
				continue
			}
			c.aboutCall(i, f)
		}
	},
}
