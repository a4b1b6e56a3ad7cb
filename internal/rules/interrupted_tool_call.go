package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/transcript"
)

var interruptedToolCall = &Rule{
	Name: "interrupted-tool-call", Category: Pairing, Severity: "info",
	Summary:    "A tool call has no result because its turn was interrupted",
	Strategies: []string{"leave", "insert", "strip", "text"},
	Together:   true,
	What: `Checks for tool calls without a result whose turn was aborted or failed, according to the agent's
own log.`,
	Why: `This is usually harmless. Agents that record an interruption drop or complete the turn when they
load the session.`,
	Repair: `By default, toolguard leaves the call alone. If another record of the log repeats its result (see
` + "`missing-tool-result`" + `), this is a warning, and toolguard inserts that result.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`insert`" + ` (additive): insert a placeholder result.
- ` + "`strip`" + ` (unsafe): remove the call.
- ` + "`text`" + ` (unsafe): turn the call into text.`,
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
				what := "its turn was interrupted"
				if call.State == transcript.CallInterrupted {
					what = "it was interrupted"
				}
				f := Finding{Severity: Info, Message: callName(call) + " has no result: " + what}
				if record, differs := c.echoed(i); record != 0 && !differs {
					f.Severity, f.Recorded = Warning, true
					f.Message += ", but record " + strconv.Itoa(int(record)) + " repeats it"
					f.Fix, f.Unfixed = c.answer(i, "insert")
				} else {
					f.Fix = c.answered(i, c.strategyOr("leave"))
				}
				c.aboutCall(i, f)
			}
		}
	},
}
