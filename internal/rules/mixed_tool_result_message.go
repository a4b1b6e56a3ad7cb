package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var mixedToolResultMessage = &Rule{
	Name: "mixed-tool-result-message", Category: Pairing, Family: MessageOrder, Severity: "by provider; error next to an open server tool",
	Summary:    "Tool results share a message with other content",
	Points:     []profile.Point{profile.Mixed},
	Strategies: []string{"split", "text"},
	What: `Checks for messages that contain tool results and other content, if the provider does not accept
both in one message.`,
	Why: `Most providers accept text after the results of a turn. Some do not. Anthropic does not accept it
while a tool that Anthropic runs itself is still open in the assistant turn: the user message must
then contain results only.`,
	Repair: `By default, toolguard moves the results to a message of their own, if the provider accepts two
user messages in a row.

- ` + "`split`" + ` (default, safe): move the results to a new message before this one.
- ` + "`text`" + ` (unsafe): turn the results and their calls into text.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"text","text":"and?"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		if c.Window != transcript.WindowUser {
			return
		}
		open := c.openServers()
		severity := severityOf(c.cell(profile.Mixed))
		if len(open) == 0 && severity == Off {
			return
		}
		done := map[int32]bool{}
		for i := range c.Pairing.Results {
			l := &c.Pairing.Results[i]
			res := &c.Results[i]
			if l.Fate != pairing.Answers || res.Answer.ByProvider() || res.WrongRole || done[res.Message] {
				continue
			}
			turn := c.turn(c.Calls[l.Call].Message)
			sev := severity
			if open[turn] {
				sev = Error
			}
			m := &c.Messages[res.Message]
			for b := m.BlockLo; b < m.BlockHi; b++ {
				if c.Blocks[b].Kind == transcript.BlockResult {
					continue
				}
				done[res.Message] = true
				var op *operation.Operation
				switch strategy := c.strategyOr("split"); {
				case strategy == "text":
					op = c.messageAsText(res.Message)
				case c.Profile.UsersInRow || severityOf(c.cell(profile.ConsecutiveRoles)) < Warning:
					op = c.op(turn, operation.Safe, "move the results to a message of their own", &operation.SplitMessage{Message: res.Message})
				}
				c.report(res.Message, Finding{
					Severity: sev, Span: c.Blocks[b].Span, Refusal: c.cell(profile.Mixed).Text,
					Message: "other content shares a message with results",
					Related: []Related{{"a result is here", res.ID.Span}},
					Fix:     op,
				})
				break
			}
		}
	},
}

// openServers returns the turns with an open server tool.
func (c *Context) openServers() map[int32]bool {
	open := map[int32]bool{}
	for i := range c.Pairing.Calls {
		if c.Calls[i].Answer.ByProvider() && c.Pairing.Calls[i].Result < 0 && c.Pairing.Calls[i].State != pairing.Exempt {
			open[c.turn(c.Calls[i].Message)] = true
		}
	}
	return open
}
