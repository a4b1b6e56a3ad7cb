package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

var resultNameMismatch = &Rule{
	Name: "result-name-mismatch", Category: IDs, Severity: "warning",
	Summary: "A tool result names another tool than its call",
	What: `Checks for results that name another tool than their call. White space at the ends of the call's
name does not count, because ` + "`invalid-tool-name`" + ` reports it.`,
	Why: `The result belongs to the call, but the names differ. Providers that only count results do not
notice. Programs that pair by name, and the model itself, take the result for that of another
tool.`,
	Repair: `toolguard copies the name from the call (safe). This is unsafe if the call or the result has no
id, because then only its position says which call the result answers.`,
	Bad: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","name":"g","content":"1"}]`,
	Good: `[{"role":"user","content":"q"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","name":"f","content":"1"}]`,
	Check: func(c *Context) {
		for i := range c.Results {
			res := &c.Results[i]
			l := c.Pairing.Results[i]
			if l.Fate != pairing.Answers || res.Answer.ByProvider() || !res.Name.IsString() || res.Name.Text() == "" {
				continue
			}
			call := &c.Calls[l.Call]
			if call.Kind != transcript.KindFunction && call.Kind != transcript.KindLegacyFunction || !call.Name.IsString() || call.Name.Text() == "" || call.Name.Text() == res.Name.Text() {
				continue
			}
			if name := strings.TrimSpace(call.Name.Text()); name != call.Name.Text() && name == strings.TrimSpace(res.Name.Text()) {
				continue // invalid-tool-name reports it
			}
			c.aboutResult(i, Finding{
				Severity: Warning, Span: res.Name.Span, Fix: c.nameFix(i),
				Message: resultName(res) + " names the tool " + quote(res.Name) + ", but its call names " + quote(call.Name),
				Related: []Related{{"the call is here", call.Name.Span}},
			})
		}
	},
}
