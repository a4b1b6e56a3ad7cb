package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var toolInputNotObject = &Rule{
	Name: "tool-input-not-object", Category: Payload, Severity: "error",
	Summary: "The input of a call is not an object",
	Points:  []profile.Point{profile.ArgsNotObject},
	Doc: `Anthropic's API expects the input of a call as an object. A string of JSON comes from a bad
translation, an empty list from a language in which an empty map is a list.

**Repair.** A string that contains an object is parsed. Null, an empty list and an empty string
become ` + "`{}`" + ` (safe). Anything else is wrapped in an object (unsafe).`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[]}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.ArgsNotObject))
		for i := range c.Calls {
			call := &c.Calls[i]
			if c.want(call) != transcript.ArgsWantObject || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			turn := c.turn(call.Message)
			class, title, text := operation.Safe, "", ""
			switch call.Form {
			case transcript.ArgsString:
				title = "parse the string"
				text = source.NewValue([]byte(c.Text(call.Args)), 0).Str()
			case transcript.ArgsNull, transcript.ArgsStringEmpty:
				title, text = "set input to {}", "{}"
			case transcript.ArgsArray:
				if strings.Trim(c.Text(call.Args), "[] \t\r\n") == "" {
					title, text = "set input to {}", "{}"
					break
				}
				class, title, text = operation.Unsafe, "wrap it in an object", wrapped(c.Text(call.Args))
			case transcript.ArgsStringOther, transcript.ArgsStringBad, transcript.ArgsScalar:
				class, title, text = operation.Unsafe, "wrap it in an object", wrapped(c.Text(call.Args))
			default:
				continue
			}
			if c.signed(turn) {
				class = operation.Unsafe
			}
			op := c.op(turn, class, title, &operation.SetValue{At: call.Args, Text: text, Call: -1})
			c.aboutCall(i, Finding{
				Severity: severity, Span: call.Args, Refusal: c.cell(profile.ArgsNotObject).Text, Fix: op,
				Message: "the input of " + callName(call) + " is not an object",
			})
		}
	},
}

// wrapped returns an object with a value in it.
func wrapped(raw string) string { return `{"value":` + raw + `}` }
