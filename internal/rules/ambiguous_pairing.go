package rules

import (
	"github.com/toolguard/toolguard/internal/pairing"
)

var ambiguousPairing = &Rule{
	Name: "ambiguous-pairing", Category: Pairing, Severity: "warning",
	Summary: "Calls without usable ids cannot be paired uniquely",
	Doc: `Without ids calls and results pair by name and then by position, and only where
there are as many of the one as of the other. Here there are not: some call has no
result, but which is not to be told. toolguard does not guess.

**Repair.** None.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}},{"type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","name":"f","content":"1"},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}},{"type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","name":"f","content":"1"},
 {"role":"tool","name":"f","content":"2"},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		for i := range c.Pairing.Calls {
			if c.Pairing.Calls[i].State != pairing.Unclear || c.Pairing.Calls[i].Surplus {
				continue // a surplus call has no result, whichever it is
			}
			c.aboutCall(i, Finding{
				Severity: Warning, Confidence: pairing.Ambiguous.String(),
				Message: callName(&c.Calls[i]) + " cannot be paired: ids are absent, and the results do not come out even",
			})
		}
	},
}
