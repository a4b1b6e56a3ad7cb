package rules

import (
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var duplicateCallID = &Rule{
	Name: "duplicate-call-id", Category: Pairing, Severity: "error",
	Summary:    "Two tool calls of one turn have the same id",
	Points:     []profile.Point{profile.DuplicateID},
	Strategies: []string{"mint", "text", "leave"},
	What:       `Checks for tool calls of one turn that have the same id.`,
	Why: `A result cannot say which of the two calls it answers. Such turns come from streaming clients that
append a snapshot twice, and from servers that number calls incorrectly.`,
	Repair: `With every strategy, toolguard makes these repairs:

- It drops an identical copy of a call (safe), unless the copy has a result of its own.
- If as many results as calls follow the turn, it pairs them in order and gives the second pair a
  new id (safe). It does not do so if the results come so late that they may answer a call of
  another turn.

In all other cases nobody knows which call a result answers, and the strategy decides.

- ` + "`mint`" + ` (default, unsafe): give the second call a new id. If the call then has no result, it gets a
  placeholder.
- ` + "`text`" + ` (unsafe): turn the second call and its results into text.
- ` + "`leave`" + `: change nothing.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"}]}]`,
	Check: func(c *Context) {
		if len(c.Calls) < 2 || c.Pairing.Unique {
			return
		}
		type key struct {
			turn, segment int32 // a turn that is split by a compaction counts as two
			id            string
		}
		keyOf := func(call *transcript.Call) key {
			return key{c.turn(call.Message), c.Messages[call.Message].Segment, pairing.Key(call.ID)}
		}
		first := make(map[key]int32, len(c.Calls))
		// Order is no evidence if a result comes before its call, or if it comes too late and
		// may answer a call of another turn.
		unclear := map[key]bool{}
		late := map[key]int32{} // how many come late
		guessed := c.standIns()
		for i := range slices.Backward(c.Calls) {
			k, x := keyOf(&c.Calls[i]), &c.Pairing.Calls[i]
			switch {
			case x.State != pairing.Answered:
			case c.Results[x.Result].Block < c.Calls[i].Block:
				unclear[k] = true
			case x.Place == pairing.Later:
				late[k]++
				unclear[k] = unclear[k] || x.Candidates > late[k] || guessed[k.id]
			}
		}
		for i := range c.Calls {
			call := &c.Calls[i]
			k := keyOf(call)
			if k.id == "" || call.Answer.ByProvider() || call.Kind == transcript.KindApproval || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			at, seen := first[k]
			if !seen {
				first[k] = int32(i)
				continue
			}
			f := Finding{
				Severity: Error, Message: callName(call) + " has the same id as another call of its turn",
				Refusal: c.cell(profile.DuplicateID).Text,
				Related: []Related{{"the first call is here", c.Calls[at].ID.Span}},
			}
			class := operation.Safe
			if c.signed(k.turn) {
				class = operation.Unsafe
			}
			x := &c.Pairing.Calls[i]
			switch {
			case x.State == pairing.Copy:
				f.Fix = c.op(k.turn, class, "drop the identical copy", &operation.DropCalls{Calls: []int32{int32(i)}, CopyOf: at})
			case x.State == pairing.Answered && c.Pairing.Calls[at].State == pairing.Answered && !unclear[k]:
				f.Fix = c.op(k.turn, class, "give the call and its result a new id", &operation.RenamePairs{Calls: []int32{int32(i)}})
			default: // which result is whose is not to be told
				switch c.strategyOr("mint") {
				case "mint":
					f.Fix = c.op(k.turn, operation.Unsafe, "give the call a new id", &operation.RenamePairs{Calls: []int32{int32(i)}})
				case "text":
					f.Fix = c.callAsText(int32(i))
				}
			}
			c.aboutCall(i, f)
		}
	},
}
