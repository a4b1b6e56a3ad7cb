package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var userAfterTool = &Rule{
	Name: "user-after-tool", Category: Roles, Severity: "info; the profile's severity with --send or --target",
	Summary:    "A message of the user follows a result",
	Points:     []profile.Point{profile.UserAfterTool},
	Strategies: []string{"leave", "text"},
	Args:       "--target mistral",
	Doc: `Mistral and some chat templates expect a message of the assistant between a tool result and the
user. In a history in which a user interrupted the agent, the user comes next.

**Repair.** By default, none, because toolguard does not make up a message of the assistant.

` + "`--strategy user-after-tool=text`" + ` turns the results before the message, and their calls, into
text (unsafe).`,
	Bad: `[{"role":"user","content":"q"},
 {"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"1"},
 {"role":"user","content":"next"}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"1"},
 {"role":"assistant","content":"done"},
 {"role":"user","content":"next"}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.UserAfterTool)
		severity := severityOf(cell)
		if severity == Off || c.Window != transcript.WindowTool {
			return
		}
		if !c.Send && !c.Target {
			severity = Info
		}
		for i := 1; i < len(c.Messages); i++ {
			m := &c.Messages[i]
			if m.Role == transcript.RoleUser && c.Messages[i-1].Role == transcript.RoleTool {
				f := Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "a message of the user follows a result"}
				if f.Fix = c.messageAsText(int32(i) - 1); f.Fix != nil {
					f.Fix.ByStrategy = c.strategy() != "text"
				}
				c.report(int32(i), f)
			}
		}
	},
}
