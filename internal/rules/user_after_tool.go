package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var userAfterTool = &Rule{
	Name: "user-after-tool", Category: Roles, Severity: "info; the profile's severity with --send or --target",
	Summary: "A message of the user follows results at once",
	Points:  []profile.Point{profile.UserAfterTool},
	Args:    "--target mistral",
	Doc: `Mistral, and some chat templates, want the assistant to speak between a tool and the
user. Histories in which a human interrupted the agent have the user there.

**Repair.** None: a turn of the assistant is not made up.`,
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
				c.report(int32(i), Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "a message of the user follows a result"})
			}
		}
	},
}
