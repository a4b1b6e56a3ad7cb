package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var userAfterTool = &Rule{
	Name: "user-after-tool", Category: Roles, Family: MessageOrder, Severity: ordersSeverity,
	Summary:    "A user message follows a tool result",
	Points:     []profile.Point{profile.UserAfterTool},
	Strategies: []string{"leave", "text"},
	Args:       "--provider mistral",
	What:       `Checks for user messages that directly follow a tool result.`,
	Why: `Mistral and some chat templates expect an assistant message between a tool result and the next
user message. There is none if the user interrupted the agent.`,
	Repair: `By default, toolguard leaves the history alone, because it does not invent an assistant message.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`text`" + ` (unsafe): turn the results before the user message, and their calls, into text.`,
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
		if !c.known() {
			severity = Info
		}
		for i := 1; i < len(c.Messages); i++ {
			m := &c.Messages[i]
			if m.Role == transcript.RoleUser && c.Messages[i-1].Role == transcript.RoleTool && !c.wronglyPut(int32(i)) && !c.holds(int32(i), transcript.BlockMedia) {
				f := Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "a user message follows a tool result"}
				if f.Fix = c.messageAsText(int32(i) - 1); f.Fix != nil {
					f.Fix.ByStrategy = c.strategy() != "text"
				}
				c.report(int32(i), f)
			}
		}
	},
}
