package rules

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
)

var resultBeforeCall = &Rule{
	Name: "result-before-call", Category: Pairing, Family: "misplaced-tool-result", Severity: "error",
	Summary:    "A tool result comes before its call",
	Points:     []profile.Point{profile.Before},
	Strategies: []string{"move", "text", "drop", "leave"},
	What:       `Checks for tool results that come before their call.`,
	Why: `This happens when several threads append to one file, or when a program sorts a history. Programs
that compare ids find nothing wrong, but the API reports an orphan and a missing result.`,
	Repair: `By default, toolguard moves the result after its call. In a session log, the whole record moves, unless it
holds more, or a compaction is in between.

- ` + "`move`" + ` (default, safe): move the result after its call. This is unsafe if several calls have the
  id.
- ` + "`text`" + ` (unsafe): turn the result into text. The call then gets a placeholder result.
- ` + "`drop`" + ` (unsafe): remove the result. The call then gets a placeholder result.
- ` + "`leave`" + `: change nothing.`,
	Bad: `[{"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		var uses map[string]int // of ids, once a result is found
		for i := range c.Pairing.Calls {
			x := &c.Pairing.Calls[i]
			if x.State != pairing.Answered || x.Place != pairing.Before || c.Results[x.Result].WrongRole {
				continue
			}
			call := &c.Calls[i]
			f := Finding{
				Severity: Error, Message: resultName(&c.Results[x.Result]) + " comes before its call",
				Refusal: c.cell(profile.Before).Text, Confidence: x.Confidence.String(),
				Related: []Related{{"the call is here", call.ID.Span}},
			}
			if x.Candidates > 1 {
				f.Message += fmt.Sprintf("; it may answer any of %d open calls with that id", x.Candidates)
			}
			switch c.strategyOr("move") {
			case "text":
				f.Fix = c.asText(c.turn(c.Results[x.Result].Message), nil, []int32{x.Result})
			case "drop":
				f.Fix = c.op(c.turn(c.Results[x.Result].Message), operation.Unsafe, "drop the result", &operation.DropResults{Results: []int32{x.Result}, CopyOf: -1})
			case "move":
				if !c.arrays() && !c.Enveloped {
					break // the agent writes the results where it wants them
				}
				if f.Unfixed = c.fixed(i); f.Unfixed != "" {
					break
				}
				class := operation.Safe
				if uses == nil {
					uses = c.callsByID()
				}
				if uses[pairing.Key(call.ID)] > 1 {
					// What answers another call with its id may be the result of this one, so its new
					// place would only be a guess.
					class = operation.Unsafe
				}
				f.Fix = c.op(c.turn(call.Message), class, "move the result after its call", &operation.MoveResults{Results: []int32{x.Result}})
			}
			c.aboutResult(int(x.Result), f)
		}
	},
}

// callsByID returns how many calls have each id.
func (c *Context) callsByID() map[string]int {
	n := map[string]int{}
	for i := range c.Calls {
		n[pairing.Key(c.Calls[i].ID)]++
	}
	return n
}
