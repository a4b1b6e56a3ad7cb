package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var serverToolUnpaired = &Rule{
	Name: "server-tool-unpaired", Category: Reasoning, Severity: "error (Anthropic blocks only)",
	Summary:    "A server tool call and its result are not in one assistant message",
	Points:     []profile.Point{profile.ServerUnpaired},
	Strategies: []string{"drop", "text"},
	What: `Checks for calls of tools that Anthropic runs itself (` + "`server_tool_use`" + `, ` + "`mcp_tool_use`" + `) and their
results. Both belong in one assistant message, the result after the call. A call may wait for its
result in the last message, or next to a call of a client tool, because the turn was paused there.`,
	Why: `The API rejects a call without its result and a result without its call.`,
	Repair: `By default, ` + "`fix --unsafe`" + ` drops the call or the result. toolguard never invents a result.

- ` + "`drop`" + ` (default, unsafe): drop the call without a result, or the result without a call.
- ` + "`text`" + ` (unsafe): turn the call or the result into text.`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"x"}]},
 {"role":"user","content":"n"}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"x"}]},
 {"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.ServerUnpaired))
		last := int32(-1) // the last assistant turn
		for i := range c.Messages {
			if c.Messages[i].Role == transcript.RoleAssistant {
				last = c.Messages[i].Turn
			}
		}
		var client map[int32]bool // the turns with calls of the client; nil until it is needed
		calls := func(turn int32) bool {
			if client == nil {
				client = map[int32]bool{}
				for i := range c.Calls {
					if !c.Calls[i].Answer.ByProvider() {
						client[c.turn(c.Calls[i].Message)] = true
					}
				}
			}
			return client[turn]
		}
		closed := len(c.Messages) > 0 && c.Messages[len(c.Messages)-1].Turn != last
		for i := range c.Calls {
			call := &c.Calls[i]
			x := &c.Pairing.Calls[i]
			turn := c.turn(call.Message)
			if !call.Answer.ByProvider() || x.Result >= 0 || x.State == pairing.Exempt || turn == last && !closed || calls(turn) {
				continue
			}
			op := c.op(turn, operation.Unsafe, "drop the server tool's call", &operation.DropBlocks{Blocks: []int32{call.Block}})
			if c.strategy() == "text" {
				op = c.asText(turn, []int32{int32(i)}, nil)
			}
			c.aboutCall(i, Finding{
				Severity: severity, Refusal: c.cell(profile.ServerUnpaired).Text, Fix: op,
				Message: "server tool " + callName(call) + " has no result in its message",
			})
		}
		for i := range c.Results {
			res := &c.Results[i]
			if !res.Answer.ByProvider() || c.Pairing.Results[i].Fate != pairing.Orphan {
				continue
			}
			op := c.op(c.turn(res.Message), operation.Unsafe, "drop the server tool's result", &operation.DropBlocks{Blocks: []int32{res.Block}})
			if c.strategy() == "text" {
				op = c.asText(c.turn(res.Message), nil, []int32{int32(i)})
			}
			c.aboutResult(i, Finding{
				Severity: severity, Refusal: c.cell(profile.ServerUnpaired).Text, Fix: op,
				Message: "server tool " + resultName(res) + " has no call before it in its message",
			})
		}
	},
}
