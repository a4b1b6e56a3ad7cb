package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var emptyToolCalls = &Rule{
	Name: "empty-tool-calls", Category: Payload, Severity: "error (OpenAI family)",
	Summary: "A message has an empty list of tool calls",
	Points:  []profile.Point{profile.EmptyCalls},
	What:    `Checks for messages with an empty ` + "`tool_calls`" + ` list.`,
	Why: `OpenAI and many other providers reject ` + "`" + `"tool_calls": []` + "`" + `. Serializers write it for messages
without calls.`,
	Repair: `toolguard removes the list (safe).`,
	Bad:    `[{"role":"user","content":"go"},{"role":"assistant","content":"hi","tool_calls":[]},{"role":"user","content":"n"}]`,
	Good:   `[{"role":"user","content":"go"},{"role":"assistant","content":"hi"},{"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.EmptyCalls))
		for i := range c.Blocks {
			b := &c.Blocks[i]
			if b.Kind != transcript.BlockEmptyCalls || c.Slice && !c.Target && int(b.Message) == len(c.Messages)-1 {
				continue // what a span put out is no request
			}
			op := c.op(c.turn(b.Message), operation.Safe, "remove the empty list", &operation.RemoveMember{Message: b.Message, At: b.Span})
			c.report(b.Message, Finding{
				Severity: severity, Span: b.Span, Message: "the list of tool calls is empty",
				Refusal: c.cell(profile.EmptyCalls).Text, Fix: op,
			})
		}
	},
}
