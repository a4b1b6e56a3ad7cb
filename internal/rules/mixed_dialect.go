package rules

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

var mixedDialect = &Rule{
	Name: "mixed-dialect", Category: Pairing, Severity: "warning",
	Summary: "A message is written in another dialect than the conversation",
	Doc: `A proxy or a change of provider left messages of one API among those of another, for example a
` + "`tool_use`" + ` block that is answered by a message of role ` + "`tool`" + `. toolguard pairs calls and results
across the dialects, but no provider accepts the history as it is.

**Repair.** None. Translate the history with the client that wrote it.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"tool","tool_call_id":"a","content":"1"},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		for i := range c.Messages {
			if m := &c.Messages[i]; m.Has(transcript.MessageForeign) {
				c.report(int32(i), Finding{
					Severity: Warning, Span: m.RoleSpan(),
					Message: "this message is written in another dialect than the conversation, which is " + c.Dialect,
				})
				return
			}
		}
	},
}
