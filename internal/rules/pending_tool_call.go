package rules

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var pendingToolCall = &Rule{
	Name: "pending-tool-call", Family: Unanswered, Category: Pairing,
	Severity:   "warning; info in datasets, in traces, and for calls that wait for approval or of long-running tools; error with --send, in a request body, and in sessions that are over",
	Summary:    "A tool call in the last turn has no result yet",
	Points:     []profile.Point{profile.Missing},
	Strategies: []string{"leave", "insert", "strip", "text"},
	Together:   true,
	What: `Checks for tool calls in the last turn that have no result yet. The tool is still running, waits for
approval, or was interrupted.`,
	Why: `Such a history can be stored, but it cannot be sent. For ` + "`toolguard doctor`" + `, a session is over if
nobody writes it any more. In training data, the last call is often what the model should learn.`,
	Repair: `If another record of the log repeats the result, toolguard inserts that (see
` + "`missing-tool-result`" + `). Otherwise the strategy decides.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`insert`" + ` (additive): insert a placeholder result. This is the default with ` + "`--send`" + ` and in doctor.
- ` + "`strip`" + ` (unsafe): remove the call.
- ` + "`text`" + ` (unsafe): turn the call into text.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"}]`,
	Check: func(c *Context) {
		for i := range c.Pairing.Calls {
			call := &c.Calls[i]
			if c.Pairing.Calls[i].State != pairing.Pending || call.Answer.ByProvider() || call.Kind == transcript.KindApproval || c.caused(i) {
				continue
			}
			f := Finding{Severity: Warning, Refusal: c.cell(profile.Missing).Text}
			switch {
			case c.Send, c.Use == transcript.UseBody:
				f.Severity = Error
			case call.State == transcript.CallWaiting, call.Answer == transcript.AnswerLater, c.Use == transcript.UseDataset, c.Use == transcript.UseTrace:
				f.Severity = Info
			case c.Over:
				f.Severity = Error
			}
			switch seen := c.Seen(c.rule, f.Severity); { // datasets have very many
			case seen && call.State == transcript.CallWaiting:
				f.Message = callName(call) + " waits for approval"
			case seen:
				f.Message = callName(call) + " has no result yet"
			}
			record, differs := c.echoed(i)
			if f.Recorded = record != 0 && !differs; f.Recorded {
				f.Severity = max(f.Severity, Warning)
				f.Message += ", but record " + strconv.Itoa(int(record)) + " repeats it"
			}
			if c.Send || c.Over && f.Severity == Error || f.Recorded {
				f.Fix, f.Unfixed = c.answer(i, "insert")
			} else {
				f.Fix, f.Unfixed = c.answer(i, "leave")
				if f.Severity == Error && c.strategy() == "" && c.answerable(i) && c.elsewhere(i) == "" && !c.Incomplete {
					f.Offer = "with --send, insert a placeholder result"
				}
			}
			c.aboutCall(i, f)
		}
	},
}
