package rules

import "strconv"

var unreadToolField = &Rule{
	Name: "unread-tool-field", Category: Pairing, Severity: "info",
	Summary: "A field of a message names tools, and toolguard does not read it",
	Doc: `The name of the field speaks of tools or functions, and it holds a list, an object or text, but the
format that toolguard reads the transcript in has no such field. Calls or results in it are not checked: a call can seem
to have no result because its result is there. Each name is reported once in a conversation. Fields that only declare
tools are not reported.

**Repair.** None. If the field holds calls or results, describe the format in ` + "`toolguard.toml`" + `
(docs/dialects.md).`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"assistant","content":"I look on.","tool_log":[{"ran":"pwd","gave":"/srv"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"}]`,
	Check: func(c *Context) {
		for i := range c.Strays {
			s := &c.Strays[i]
			many := ""
			if s.N > 1 {
				many = " (" + plural(s.N, "message has", "messages have") + " it)"
			}
			const about = " names tools, but toolguard does not read it: calls and results in it are not checked"
			c.report(s.Message, Finding{
				Severity: Info, Span: s.Span,
				Message:  "field " + strconv.Quote(clip(s.Name)) + about + many,
				Discreet: "a field" + about + many,
			})
		}
	},
}
