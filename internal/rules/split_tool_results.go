package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var splitToolResults = &Rule{
	Name: "split-tool-results", Category: Pairing, Severity: "by provider: warning (Anthropic), error (strict providers)",
	Summary: "The results of one turn are spread over several messages",
	Points:  []profile.Point{profile.Split},
	What: `Checks for results of one turn that are in different messages, in formats whose results are blocks
of a message.`,
	Why: `All results of a turn belong in the message right after it. Anthropic's own API merges consecutive
user messages. Compatible APIs and Bedrock do not. Anthropic's documentation also says that
results in separate messages teach the model to stop calling tools in parallel.`,
	Repair: `toolguard merges the results into the first of these messages (safe).`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2"}]}]`,
	Check: func(c *Context) {
		if c.Window != transcript.WindowUser {
			return
		}
		first := map[int32]int32{} // by turn: the message of its first result
		for i := range c.Pairing.Results {
			l := &c.Pairing.Results[i]
			if l.Fate != pairing.Answers || c.Results[i].Answer.ByProvider() || c.Results[i].WrongRole || c.Pairing.Calls[l.Call].Place != pairing.InWindow {
				continue
			}
			turn := c.turn(c.Calls[l.Call].Message)
			at, seen := first[turn]
			if !seen {
				first[turn] = c.Results[i].Message
				continue
			}
			if at == c.Results[i].Message || c.Messages[at].Role != transcript.RoleUser || c.Messages[c.Results[i].Message].Role != transcript.RoleUser {
				continue
			}
			op, do := turnOp[operation.MergeResults](c, turn, operation.Safe, "merge the results into "+c.messageAt(at))
			do.Results = append(do.Results, int32(i))
			c.aboutResult(i, Finding{
				Severity: severityOf(c.cell(profile.Split)), Refusal: c.cell(profile.Split).Text, Fix: op,
				Message: resultName(&c.Results[i]) + " is not in the same message as the first result of its turn",
				Related: []Related{{"the first result is in this message", c.Messages[at].RoleSpan()}},
			})
		}
	},
}
