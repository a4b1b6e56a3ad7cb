package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingCallType = &Rule{
	Name: "missing-call-type", Category: Payload, Severity: "error in a request body, with --send or --provider; else info",
	Summary: "A tool call has no type",
	Points:  []profile.Point{profile.NoCallType},
	What:    `Checks for calls without a ` + "`type`" + `.`,
	Why: `OpenAI expects ` + "`" + `"type": "function"` + "` in every element of `" + `tool_calls` + "`" + `. Datasets leave it out, and
so do servers that stream the calls of other models.`,
	Repair: `toolguard adds the field (safe).`,
	Bad: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"1"}]}`,
	Good: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"1"}]}`,
	Check: func(c *Context) {
		cell := c.cell(profile.NoCallType)
		severity := severityOf(cell)
		if severity == Off || !c.shaped() || !c.Knows(transcript.MemberCallType) {
			return
		}
		if !c.sent() {
			severity = Info
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if call.Kind != transcript.KindFunction || call.Answer.ByProvider() || c.Pairing.Calls[i].State == pairing.Exempt || c.Messages[call.Message].Has(transcript.MessageForeign) {
				continue
			}
			span := c.Blocks[call.Block].Span
			if t := c.Look(transcript.MemberCallType, span); t.Given() {
				continue
			}
			class := operation.Safe
			if c.signed(c.turn(call.Message)) {
				class = operation.Unsafe
			}
			op := c.op(c.turn(call.Message), class, `add "type": "function"`,
				&operation.AddMember{At: span, Member: transcript.MemberCallType, Text: `"function"`})
			c.aboutCall(i, Finding{Severity: severity, Refusal: cell.Text, Fix: op, Message: callName(call) + " has no type"})
		}
	},
}
