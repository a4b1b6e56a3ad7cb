package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingArguments = &Rule{
	Name: "missing-arguments", Category: Payload, Family: "schema-violation", Severity: "error",
	Summary:    "A tool call has no arguments, not even empty ones",
	Points:     []profile.Point{profile.NoArgs},
	Strategies: []string{"add", "drop", "text"},
	What:       `Checks for calls without the field for the arguments.`,
	Why: `Providers require the field. It is missing if the stream was cut off before it began, or if a
serializer left out an empty object.`,
	Repair: `- ` + "`add`" + ` (default, additive): add empty arguments. This is not safe, because nobody knows what the
  model wanted.
- ` + "`drop`" + ` (unsafe): drop the call and its result.
- ` + "`text`" + ` (unsafe): turn the call and its result into text.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f"}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.NoArgs)
		severity := severityOf(cell)
		if !c.shaped() { // many converters add empty ones
			severity = max(min(severity, Warning), severityOf(c.Native.Cell(profile.NoArgs)))
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if call.Form != transcript.ArgsMissing || c.Pairing.Calls[i].State == pairing.Exempt || c.Pairing.Calls[i].State == pairing.Interrupted {
				continue
			}
			turn := c.turn(call.Message)
			class, text := operation.Additive, `{}`
			if c.want(call) == transcript.ArgsWantString {
				text = `"{}"`
			}
			if c.signed(turn) {
				class = operation.Unsafe
			}
			var op *operation.Operation
			switch c.strategyOr("add") {
			case "add":
				op = c.op(turn, class, "add empty arguments",
					&operation.AddMember{At: c.Blocks[call.Block].Span, Member: transcript.MemberArguments, Text: text})
			case "drop":
				op = c.dropCall(int32(i))
			case "text":
				op = c.callAsText(int32(i))
			}
			c.aboutCall(i, Finding{
				Severity: severity, Span: call.Name.Span, Refusal: cell.Text, Fix: op,
				Message: callName(call) + " has no arguments",
			})
		}
	},
}
