package rules

import (
	"sync"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingCallID = &Rule{
	Name: "missing-call-id", Category: IDs, Severity: "error; info in datasets that write no ids",
	Summary: "A call or a result has no id",
	Points:  []profile.Point{profile.MissingID},
	Doc: `The id is missing, null, empty, or the text ` + "`null`" + ` that some servers write. Programs that
compare ids consider empty ids equal, so they find nothing wrong with such a history. APIs
reject it.

**Repair.** If calls and results can be paired by name or position without doubt, both get a
new id that is derived from the conversation and the position (safe). Otherwise see
` + "`ambiguous-pairing`" + `.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"","content":"ok"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"ok"}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.MissingID))
		if c.Idless && !c.Send && !c.Target && (c.Use == transcript.UseDataset || c.Use == transcript.UseTrace) {
			severity = Info
		}
		shared := sync.OnceValue(c.sharedIDs)
		ops := map[int32]*operation.Operation{} // by call
		mint := func(call, res int32) *operation.Operation {
			if call < 0 || c.Pairing.Calls[call].State == pairing.Unclear {
				return nil
			}
			op := ops[call]
			if op == nil {
				turn := c.turn(c.Calls[call].Message)
				class := operation.Safe
				if id := pairing.Key(c.Calls[call].ID); c.signed(turn) && (id == "" || shared()[id]) {
					class = operation.Unsafe
				}
				op = c.op(turn, class, "give call and result an id", &operation.MintIDs{Calls: []int32{call}, Results: []int32{res}})
				ops[call] = op
			}
			return op
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			if call.Server || call.NoIDs || pairing.Key(call.ID) != "" || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			c.aboutCall(i, Finding{
				Severity: severity, Message: callName(call) + " has no id", Refusal: c.cell(profile.MissingID).Text,
				Fix: mint(int32(i), c.Pairing.Calls[i].Result),
			})
		}
		for i := range c.Results {
			res := &c.Results[i]
			l := c.Pairing.Results[i]
			if res.Server || res.NoIDs || pairing.Key(res.ID) != "" || l.Fate == pairing.Ignored {
				continue
			}
			if c.Combined(int32(i)) >= 0 {
				continue // it is its call's record that has none
			}
			if l.Call >= 0 && c.Calls[l.Call].NoIDs {
				continue // result-kind-mismatch says what is wrong with it
			}
			f := Finding{Severity: severity, Message: resultName(res) + " does not say which call it answers", Refusal: c.cell(profile.MissingID).Text}
			if l.Fate == pairing.Answers {
				f.Fix = mint(l.Call, int32(i))
			}
			c.aboutResult(i, f)
		}
	},
}

// sharedIDs returns the ids that more than one call or result has.
func (c *Context) sharedIDs() map[string]bool {
	out := map[string]bool{}
	note := func(t transcript.Token) {
		id := pairing.Key(t)
		_, seen := out[id]
		out[id] = seen
	}
	for i := range c.Calls {
		note(c.Calls[i].ID)
	}
	for i := range c.Results {
		note(c.Results[i].ID)
	}
	return out
}
