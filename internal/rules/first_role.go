package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var firstRole = &Rule{
	Name: "first-role", Category: Roles, Severity: "info; the profile's severity with --send or --target",
	Summary: "The history does not begin with the user",
	Points:  []profile.Point{profile.FirstRole},
	Doc: `Behind the system prompt some providers want a message of the user first. A history
that was cut at its head begins with what the assistant said. Gemini minds only where
that is a call.

**Repair.** None: a message of the user is not made up.`,
	Bad: `[{"role":"assistant","content":[{"type":"text","text":"As I said."},{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.FirstRole)
		severity := severityOf(cell)
		if severity == Off || !c.arrays() || c.Slice {
			return
		}
		if !c.Send && !c.Target {
			severity = Info
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Role == transcript.RoleSystem || m.Has(transcript.MessageReplay) {
				continue
			}
			if m.Role == transcript.RoleAssistant && (!c.Profile.TextFirst || c.calls(m)) {
				c.report(int32(i), Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "the history begins with the assistant"})
			}
			return
		}
	},
}
