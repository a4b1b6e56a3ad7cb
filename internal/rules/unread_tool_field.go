package rules

import "strconv"

var unreadToolField = &Rule{
	Name: "unread-tool-field", Category: Pairing, Severity: "info",
	Summary: "A field of a message names tools, and toolguard does not read it",
	What: `Checks for fields of messages that have "tool" or "function" in their name but are not part of the
format. The rule reports each name once per conversation, and only if the field contains a list,
an object or text. It ignores fields that only declare tools.`,
	Why: `toolguard does not check the calls and results in such a field. A call can seem to have no result
because the result is in the field.`,
	Repair: `toolguard cannot repair this. If the field contains calls or results, describe the format in
` + "`toolguard.toml`" + ` (docs/dialects.md).`,
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
			n := s.N - c.causesWith(s.Name)
			if n <= 0 {
				continue
			}
			many := ""
			if n > 1 {
				many = " (" + plural(n, "message has", "messages have") + " it)"
			}
			const about = " names tools, but toolguard does not read it, so calls and results in it are not checked"
			c.report(s.Message, Finding{
				Severity: Info, Span: s.Span,
				Message:  "field " + strconv.Quote(clip(s.Name)) + about + many,
				Discreet: "a field" + about + many,
			})
		}
	},
}

// causesWith returns how many of the messages that another finding is about have a field.
func (c *Context) causesWith(field string) (n int) {
	why := c.causes()
	for m := range why.astray {
		if c.Value(c.Messages[m].Span()).Get(field).Exists() {
			n++
		}
	}
	for m := range why.odd {
		if c.Value(c.Messages[m].Span()).Get(field).Exists() {
			n++
		}
	}
	return n
}
