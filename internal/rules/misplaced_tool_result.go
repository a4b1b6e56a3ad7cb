package rules

import (
	"fmt"
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var misplacedToolResult = &Rule{
	Name: "misplaced-tool-result", Category: Pairing, Severity: "error",
	Summary:    "A tool result comes too late to answer its call",
	Points:     []profile.Point{profile.Misplaced},
	Strategies: []string{"move", "text", "leave"},
	What: `Checks for tool results that other messages separate from their call: the user wrote meanwhile, a hook
added a message, or a turn did not wait. In the logs of Claude Code, Qwen Code and Kimi Code, only a later
turn of the model counts.

A compaction of pi between a call and its result is a warning if a later one keeps all three: pi up
to 0.85.1 sends the old summary between them.`,
	Why: `The API looks for results only right after the call. The agents above send a placeholder instead.`,
	Repair: `In a session log, the whole record moves, unless it holds more, or a compaction is in between. A compaction
moves behind the results.

- ` + "`move`" + ` (default, safe): move the result to its call. This is unsafe if several open calls have the
  id, or if an assistant turn between the two was written without the result.
- ` + "`text`" + ` (unsafe): turn the result into text. The call gets a placeholder result.
- ` + "`leave`" + `: change nothing.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"user","content":"wait"},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.txt"},
 {"role":"user","content":"wait"}]`,
	Check: func(c *Context) {
		switch {
		case c.arrays():
			c.insidePairs()
		case !c.Closes:
			return
		}
		guessed := c.standIns()
		for i := range c.Pairing.Calls {
			x := &c.Pairing.Calls[i]
			if x.State != pairing.Answered || x.Place != pairing.Later || c.Results[x.Result].WrongRole {
				continue
			}
			call := &c.Calls[i]
			f := Finding{
				Severity: Error,
				Message:  resultName(&c.Results[x.Result]) + " comes too late to answer its call",
				Refusal:  c.cell(profile.Misplaced).Text, Confidence: x.Confidence.String(),
				Related: []Related{{"the call is here", call.ID.Span}},
			}
			class := operation.Safe
			if guessed[pairing.Key(c.Results[x.Result].ID)] {
				// Another call with that id got a placeholder. It is only a guess that the
				// result does not belong to that call.
				class = operation.Unsafe
			}
			if c.Closes {
				f.Message, f.Refusal = f.Message+", so the agent does not send it", ""
			}
			if x.Candidates > 1 {
				class = operation.Unsafe
				f.Message += fmt.Sprintf("; it probably answers the nearest of %d open calls with that id", x.Candidates)
			}
			if x.Crosses {
				class = operation.Unsafe
			}
			switch c.strategyOr("move") {
			case "text":
				f.Fix = c.asText(c.turn(c.Results[x.Result].Message), nil, []int32{x.Result})
			case "move":
				if f.Unfixed = c.fixed(i); f.Unfixed != "" {
					break
				}
				f.Fix = c.op(c.turn(call.Message), class, "move the result to its call", &operation.MoveResults{Results: []int32{x.Result}})
			}
			c.aboutResult(int(x.Result), f)
		}
	},
}

// fixed says why the record of a call's result stays where it is in a session log, "" if it may move.
func (c *Context) fixed(call int) string {
	res := &c.Results[c.Pairing.Calls[call].Result]
	m := &c.Messages[res.Message]
	same := func(i int32) bool { return i >= 0 && int(i) < len(c.Messages) && c.Messages[i].Record == m.Record }
	from, to := c.Messages[c.Calls[call].Message].Span().Start, m.Span().Start
	switch {
	case !c.Enveloped:
		return ""
	case m.BlockHi-m.BlockLo != 1, same(res.Message - 1), same(res.Message + 1):
		return "its record holds more than the result, and would move as a whole"
	case slices.ContainsFunc(c.Compactions, func(x transcript.Compaction) bool {
		return min(from, to) < x.Whole.Start && x.Whole.Start < max(from, to)
	}):
		return "a compaction is between the call and the result"
	}
	return ""
}

// standIns returns the ids of misplaced results for which a placeholder answers another call
// with the same id.
func (c *Context) standIns() map[string]bool {
	var moved map[string]bool
	for i := range c.Pairing.Calls {
		if x := &c.Pairing.Calls[i]; x.State == pairing.Answered && x.Place != pairing.InWindow {
			if moved == nil {
				moved = map[string]bool{}
			}
			moved[pairing.Key(c.Results[x.Result].ID)] = true
		}
	}
	if moved == nil {
		return nil
	}
	out := map[string]bool{}
	for i := range c.Pairing.Calls {
		x := &c.Pairing.Calls[i]
		if id := pairing.Key(c.Calls[i].ID); moved[id] && x.State == pairing.Answered && x.Place == pairing.InWindow && c.placeholder(x.Result) {
			out[id] = true
		}
	}
	return out
}
