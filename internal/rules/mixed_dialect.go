package rules

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

var mixedDialect = &Rule{
	Name: "mixed-dialect", Category: Pairing, Severity: "warning",
	Summary: "A message is written in another format than the conversation",
	What: `Checks for messages that are written in another format than the rest of the conversation. For
example, a message of role ` + "`tool`" + ` answers a ` + "`tool_use`" + ` block.`,
	Why: `A proxy or a change of provider mixed messages of two APIs. toolguard pairs calls and results
across formats, but no provider accepts the history as it is.`,
	Repair: `toolguard cannot repair this. Translate the history with the client that wrote it.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"tool","tool_call_id":"a","content":"1"},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		if c.Slice {
			return // the input and the output of a span may have two forms
		}
		for i := range c.Messages {
			if m := &c.Messages[i]; m.Has(transcript.MessageForeign) && !c.wronglyPut(int32(i)) {
				c.report(int32(i), Finding{
					Severity: Warning, Span: m.RoleSpan(),
					Message: "this message is not written in the format of the conversation (" + c.Dialect + ")",
				})
				return
			}
		}
	},
}
