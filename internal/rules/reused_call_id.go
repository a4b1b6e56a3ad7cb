package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var reusedCallID = &Rule{
	Name: "reused-call-id", Category: Pairing, Severity: "info; warning if the provider may reject it",
	Summary:    "One call id is used in several turns",
	Points:     []profile.Point{profile.ReusedID},
	Strategies: []string{"leave", "rename"},
	What:       `Checks for call ids that are used in more than one turn.`,
	Why: `This is legal and common. Some models start numbering their calls again in every turn, and
Anthropic's API has answered such histories. But programs that only compare ids treat a call
without a result as answered, and move results to the wrong turn.`,
	Repair: `By default, toolguard leaves the ids alone. ` + "`--select reused-call-id`" + ` chooses ` + "`rename`" + `.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`rename`" + ` (safe): give the later calls and their results new ids.`,
	Bad: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c0","content":"1"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c0","content":"2"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c0","content":"1"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"2"}]`,
	Check: func(c *Context) {
		type use struct {
			first, again int32 // calls
			firstTurn    int32
			lastTurn     int32
			later        []int32 // calls of the turns after the first
			turns        int
		}
		if len(c.Calls) < 2 || c.Pairing.Unique {
			return
		}
		numbers := make(map[string]int32, len(c.Calls))
		uses := make([]use, 0, len(c.Calls))
		for i := range c.Calls {
			call := &c.Calls[i]
			id := pairing.Key(call.ID)
			if id == "" || call.Answer.ByProvider() || call.Kind == transcript.KindApproval || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			turn := c.turn(call.Message)
			n, again := numbers[id]
			if !again {
				numbers[id] = int32(len(uses))
				uses = append(uses, use{first: int32(i), firstTurn: turn, lastTurn: turn, turns: 1})
				continue
			}
			u := &uses[n]
			if u.lastTurn != turn {
				if u.turns == 1 {
					u.again = int32(i)
				}
				u.lastTurn = turn
				u.turns++
			}
			if turn != u.firstTurn {
				u.later = append(u.later, int32(i))
			}
		}
		for i := range uses {
			u := &uses[i]
			if u.turns < 2 {
				continue
			}
			op := c.op(c.turn(c.Calls[u.again].Message), operation.Safe, "give the later calls and their results new ids", &operation.RenamePairs{Calls: u.later})
			op.ByStrategy = !c.wanted("rename")
			c.aboutCall(int(u.again), Finding{
				Severity: severityOf(c.cell(profile.ReusedID)), Refusal: c.cell(profile.ReusedID).Text, Fix: op,
				Message: fmt.Sprintf("the id %s is used in %d turns", quote(c.Calls[u.first].ID), u.turns),
				Related: []Related{{"the first use is here", c.Calls[u.first].ID.Span}},
			})
		}
	},
}
