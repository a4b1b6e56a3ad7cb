package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var argumentsInvalidJSON = &Rule{
	Name: "arguments-invalid-json", Category: Payload, Severity: "warning; error if the provider, or a conversion to its format, parses them",
	Summary:    "The arguments of a call are not valid JSON",
	Points:     []profile.Point{profile.ArgsBadJSON},
	Strategies: []string{"leave", "wrap", "text"},
	What: `Checks for arguments that are a string but not valid JSON. The finding points to the character
in the string where it stops being JSON.`,
	Why: `The stream was cut off, or the model wrote something other than JSON. OpenAI accepts such
arguments. Other providers, chat templates and every translation to another API do not, so this is
an error with a ` + "`--provider`" + ` that expects an object.`,
	Repair: `With every strategy, an empty string becomes ` + "`{}`" + ` (safe). In all other cases the strategy decides.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`wrap`" + ` (unsafe): replace the arguments with an object that contains them as text.
- ` + "`text`" + ` (unsafe): turn the call and its result into text.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"city\": \"Qui"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"city\": \"Quito\"}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		cell := c.stricter(profile.ArgsBadJSON)
		severity := severityOf(cell)
		for i := range c.Calls {
			call := &c.Calls[i]
			if call.Want != transcript.ArgsWantString || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			turn := c.turn(call.Message)
			f := Finding{Severity: severity, Refusal: cell.Text}
			switch call.Form {
			case transcript.ArgsStringBad:
				if c.objectDue(call) { // no object can be read from it
					f.Severity = max(severity, severityOf(c.cell(profile.ArgsNotObject)))
				}
				f.Span = call.BadAt()
				f.Message = "the arguments of " + callName(call) + " are not valid JSON"
				f.Fix = c.badArguments(int32(i))
			case transcript.ArgsStringEmpty:
				f.Span = call.Args
				f.Message = "the arguments of " + callName(call) + " are an empty string"
				class := operation.Safe
				if c.signed(turn) {
					class = operation.Unsafe
				}
				f.Fix = c.op(turn, class, `set arguments to "{}"`, &operation.SetValue{At: call.Args, Text: `"{}"`, Call: -1})
			default:
				continue
			}
			c.aboutCall(i, f)
		}
	},
}

// badArguments returns the operation that turns invalid arguments into JSON: an object that
// holds them as text.
func (c *Context) badArguments(i int32) *operation.Operation {
	call := &c.Calls[i]
	var op *operation.Operation
	switch c.strategyOr("wrap") {
	case "wrap":
		op = c.op(c.turn(call.Message), operation.Unsafe, "wrap the arguments in an object",
			&operation.SetValue{At: call.Args, Text: source.Quote(wrapped(c.Text(call.Args))), Call: -1})
	case "text":
		op = c.callAsText(i)
	}
	if op != nil {
		op.ByStrategy = c.strategy() == ""
	}
	return op
}
