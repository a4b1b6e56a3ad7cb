package rules

import (
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

var unknownTool = &Rule{
	Name: "unknown-tool", Category: Declared, Family: "invalid-tool-name", Severity: "warning",
	Summary: "A tool call names a tool that is not declared",
	What: `Checks for calls to tools that are not declared. The declared tools are those of ` + "`--tools`" + `, or
else those of the request body.`,
	Why: `The model invented the name, or the tool no longer exists. Providers accept such a history. In
training data it teaches the model to invent names.`,
	Repair: `toolguard cannot repair this.`,
	Bad: `{"model":"m","max_tokens":9,"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"dir","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"1"}]}`,
	Good: `{"model":"m","max_tokens":9,"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"1"}]}`,
	Check: func(c *Context) {
		if c.Tools == nil {
			return
		}
		known := map[string]bool{}
		for _, name := range c.Tools.Names() {
			known[name] = true
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if !c.declarable(i) || known[call.Name.Text()] {
				continue
			}
			c.aboutCall(i, Finding{Severity: Warning, Span: call.Name.Span, Message: "tool " + quote(call.Name) + " is not declared"})
		}
	},
}

// declarable reports whether a call is to a tool that a client declares.
func (c *Context) declarable(i int) bool {
	call := &c.Calls[i]
	switch call.Kind {
	case transcript.KindFunction, transcript.KindCustom, transcript.KindLegacyFunction:
	default:
		return false
	}
	return !call.Answer.ByProvider() && c.Pairing.Calls[i].State != pairing.Exempt && call.Name.IsString() && call.Name.Text() != ""
}
