package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var argumentsNotString = &Rule{
	Name: "arguments-not-string", Category: Payload,
	Severity: "error in a request body, with --send or --provider; else info",
	Summary:  "The arguments of a call are not a string",
	Points:   []profile.Point{profile.ArgsNotString},
	What:     `Checks for arguments that are not a string of JSON.`,
	Why: `OpenAI's APIs expect the arguments of a call as a string that contains JSON. Datasets and Ollama
write an object on purpose, so this matters only for a history that is sent to such an API.`,
	Repair: `toolguard encodes the arguments as a string (safe). Null becomes ` + "`{}`" + `.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":{"a":1}}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		cell := c.stricter(profile.ArgsNotString)
		severity := severityOf(cell)
		if severity == Off {
			return
		}
		if c.Use != transcript.UseBody && !c.Send && !c.Target {
			severity = Info
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if c.want(call) != transcript.ArgsWantString || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			switch call.Form {
			case transcript.ArgsObject, transcript.ArgsArray, transcript.ArgsScalar, transcript.ArgsNull:
			default:
				continue
			}
			turn := c.turn(call.Message)
			class := operation.Safe
			if c.signed(turn) {
				class = operation.Unsafe
			}
			title, text := "encode the arguments as a string", c.Text(call.Args)
			if call.Form == transcript.ArgsNull {
				title, text = `set arguments to "{}"`, "{}"
			}
			op := c.op(turn, class, title, &operation.SetValue{At: call.Args, Text: source.Quote(text), Call: -1})
			c.aboutCall(i, Finding{
				Severity: severity, Span: call.Args, Refusal: cell.Text, Fix: op,
				Message: "the arguments of " + callName(call) + " are not a string",
			})
		}
	},
}
