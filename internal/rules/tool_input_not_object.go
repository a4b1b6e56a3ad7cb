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
	What: `Checks for calls whose input is not an object. With a ` + "`--provider`" + ` that expects an object, the
string of arguments in an OpenAI history must contain an object too.`,
	Why: `Anthropic's API expects an object. A string of JSON comes from an incorrect translation. An empty
list comes from a language in which an empty map is a list.`,
	Repair: `toolguard parses a string that contains an object, and replaces null, an empty list and an empty
string with ` + "`{}`" + ` (safe). It wraps any other value in an object (unsafe).`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":[]}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		cell := c.stricter(profile.ArgsNotObject)
		severity := severityOf(cell)
		for i := range c.Calls {
			call := &c.Calls[i]
			if c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			if c.want(call) != transcript.ArgsWantObject {
				if c.objectDue(call) {
					c.stringWithoutObject(int32(i), severity, cell)
				}
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
				class, title, text = operation.Unsafe, "wrap the value in an object", wrapped(c.Text(call.Args))
			case transcript.ArgsStringOther, transcript.ArgsStringBad, transcript.ArgsScalar:
				class, title, text = operation.Unsafe, "wrap the value in an object", wrapped(c.Text(call.Args))
			default:
				continue
			}
			if c.signed(turn) {
				class = operation.Unsafe
			}
			op := c.op(turn, class, title, &operation.SetValue{At: call.Args, Text: text, Call: -1})
			c.aboutCall(i, Finding{
				Severity: severity, Span: call.Args, Refusal: cell.Text, Fix: op,
				Message: "the input of " + callName(call) + " is not an object",
			})
		}
	},
}

// stringWithoutObject reports arguments that are a string, as the dialect requires, but
// contain no object. Converters pass on the value in the string.
func (c *Context) stringWithoutObject(i int32, severity Severity, cell profile.Cell) {
	call := &c.Calls[i]
	raw := c.Text(call.Args)
	switch call.Form {
	case transcript.ArgsStringOther:
		raw = strings.TrimSpace(source.NewValue([]byte(raw), 0).Str())
	case transcript.ArgsArray, transcript.ArgsScalar, transcript.ArgsNull:
		if severityOf(c.stricter(profile.ArgsNotString)) != Off {
			return // arguments-not-string reports it
		}
	default:
		return
	}
	turn := c.turn(call.Message)
	class, title, object := operation.Unsafe, "wrap the value in an object", wrapped(raw)
	switch {
	case raw == "null" || raw == `""`:
		title, object = "set arguments to {}", "{}"
	case strings.HasPrefix(raw, "[") && strings.Trim(raw, "[] \t\r\n") == "":
		title, object = "set arguments to {}", "{}"
		if !c.signed(turn) {
			class = operation.Safe
		}
	}
	c.aboutCall(int(i), Finding{
		Severity: severity, Span: call.Args, Refusal: cell.Text,
		Message: "the arguments of " + callName(call) + " do not contain an object",
		Fix:     c.op(turn, class, title, &operation.SetValue{At: call.Args, Text: source.Quote(object), Call: -1}),
	})
}

// wrapped returns an object with a value in it.
func wrapped(raw string) string { return `{"value":` + raw + `}` }
