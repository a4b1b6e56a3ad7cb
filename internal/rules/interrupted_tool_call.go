package rules

import (
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

var interruptedToolCall = &Rule{
	Name: "interrupted-tool-call", Category: Pairing, Severity: "info",
	Summary:    "A call has no result because its turn was interrupted",
	Strategies: []string{"leave", "insert", "strip", "text"},
	Doc: `The agent itself recorded that the turn was aborted or failed. Agents that do so drop or
complete the turn when they load the session, so nothing has to be done.

**Repair.** By default, none. ` + "`--strategy interrupted-tool-call=insert`" + ` inserts a placeholder
result (additive), ` + "`strip`" + ` removes the call, and ` + "`text`" + ` turns it into text (both unsafe).`,
	Bad: `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u0","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a1","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","message":{"role":"user","content":"again"}}`,
	Good: `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u0","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"u2","parentUuid":"a1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`,
	Check: func(c *Context) {
		for i := range c.Pairing.Calls {
			if call := &c.Calls[i]; c.Pairing.Calls[i].State == pairing.Interrupted && !call.Answer.ByProvider() {
				what := "its turn was broken off"
				if call.State == transcript.CallInterrupted {
					what = "it was broken off"
				}
				c.aboutCall(i, Finding{Severity: Info, Message: callName(call) + " has no result: " + what, Fix: c.answered(i, c.strategyOr("leave"))})
			}
		}
	},
}
