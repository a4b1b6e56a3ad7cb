package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var foreignToolMessage = &Rule{
	Name: "foreign-tool-message", Category: Pairing, Severity: "error",
	Summary:    "A message about tool calls has the shape of another program",
	Points:     []profile.Point{profile.OddMessage},
	Strategies: []string{"split", "drop", "leave"},
	What: `Checks for messages that do not make calls but have a list of objects in the place of calls. Agno stores
the results of several calls in one such message for Gemini: it has a list of contents, and a
list with the id, the tool and the content of each result.

toolguard reports such a message once. The calls that it names get no finding of their own. If it
names no ids, these are the calls right before it.`,
	Why: `Only the program that wrote the message can send it. If the history goes to another provider or is sent
as it is, the API rejects it and finds no results for the calls.`,
	Repair: `By default, ` + "`fix --unsafe`" + ` writes one message for each result. The content of the message itself goes,
because the list repeats it, and so do its other fields. If a result names neither its call nor
its tool, or has no content, toolguard leaves the message alone: load the history with the
program that wrote it.

| strategy | class | what toolguard does |
|---|---|---|
| ` + "`split`" + ` (default) | unsafe | Write one message for each result. |
| ` + "`drop`" + ` | unsafe | Drop the message. The calls then get placeholder results. |
| ` + "`leave`" + ` | none | Report the finding only. |`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"pwd","arguments":"{}"}}]},
 {"role":"tool","content":["a.txt","/srv"],"tool_calls":[{"tool_call_id":"c1","tool_name":"ls","content":"a.txt"},{"tool_call_id":"c2","tool_name":"pwd","content":"/srv"}]},
 {"role":"user","content":"and?"}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"pwd","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"tool","tool_call_id":"c2","content":"/srv"},
 {"role":"user","content":"and?"}]`,
	Check: func(c *Context) {
		for i := range c.Messages {
			m := &c.Messages[i]
			if !m.Has(transcript.MessageOtherShape) || m.Has(transcript.MessageReplay) {
				continue
			}
			f := Finding{
				Severity: Error, Span: m.RoleSpan(), Refusal: c.cell(profile.OddMessage).Text,
				Message: "this message of role " + m.Role.String() + " has a list of results in the place of calls, as Agno stores them for Gemini",
			}
			calls := c.causes().odd[int32(i)]
			if len(calls) > 0 {
				f.Message += "; it holds the " + results(len(calls)) + " before it"
			}
			for _, call := range calls {
				f.Related = append(f.Related, Related{"a call is here", c.Calls[call].ID.Span})
			}
			switch c.strategyOr("split") {
			case "split":
				f.Fix = c.op(m.Turn, operation.Unsafe, "write one message for each result", &operation.SplitResults{Message: int32(i)})
			case "drop":
				f.Fix = c.op(m.Turn, operation.Unsafe, "drop the message", &operation.DropMessages{Messages: []int32{int32(i)}, CopyOf: -1})
			}
			c.report(int32(i), f)
		}
	},
}

// results describes the results of n calls.
func results(n int) string {
	if n == 1 {
		return "result of the call"
	}
	return "results of the " + plural(n, "call", "calls")
}
