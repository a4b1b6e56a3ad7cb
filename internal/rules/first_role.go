package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var firstRole = &Rule{
	Name: "first-role", Category: Roles, Family: MessageOrder, Severity: ordersSeverity,
	Summary:    "The history begins with the assistant",
	Points:     []profile.Point{profile.FirstRole},
	Strategies: []string{"leave", "drop", "text"},
	What:       `Checks for histories whose first message after the system prompt is the assistant's.`,
	Why: `Some providers expect a user message there. A history that was cut at its beginning starts with
the assistant. Gemini, and Bedrock with Claude models, object only if the assistant's message contains a call.`,
	Repair: `By default, toolguard leaves the history alone, because it does not invent a user message.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`drop`" + ` (unsafe): drop everything before the first user message.
- ` + "`text`" + ` (unsafe): turn the first assistant message into a user message. Its calls and their results
  become text.`,
	Bad: `[{"role":"assistant","content":[{"type":"text","text":"As I said."},{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.FirstRole)
		severity := severityOf(cell)
		if severity == Off || !c.arrays() || c.Slice {
			return
		}
		if !c.known() {
			severity = Info
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Role == transcript.RoleSystem || m.Has(transcript.MessageReplay) {
				continue
			}
			if m.Role == transcript.RoleAssistant && (!c.Profile.TextFirst || c.calls(m)) {
				if _, why := c.noUser(); why >= severity {
					return // missing-user-message reports the cause
				}
				f := Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "the history begins with an assistant message"}
				switch c.strategyOr("drop") {
				case "drop":
					f.Fix = c.dropHead(int32(i))
				case "text":
					f.Fix = c.userSays(int32(i))
				}
				if f.Fix != nil {
					f.Fix.ByStrategy = c.strategy() == ""
				}
				c.report(int32(i), f)
			}
			return
		}
	},
}

// dropHead returns the operation that drops the assistant's messages and the results from a
// message up to the first message of the user. A turn that has results in the user's message
// is dropped alone.
func (c *Context) dropHead(from int32) *operation.Operation {
	end := from // no result after it answers a call before it
	for i := from; int(i) < len(c.Messages); i++ {
		if m := &c.Messages[i]; m.Role != transcript.RoleAssistant && !c.onlyResults(m) {
			break
		}
		if int(i)+1 == len(c.Messages) || !c.holds(i+1, transcript.BlockResult) {
			end = i + 1
		}
	}
	if end == from {
		return c.dropTurn(from)
	}
	var head []int32
	for i := from; i < end; i++ {
		head = append(head, i)
	}
	return c.op(c.turn(from), operation.Unsafe, "drop everything before the first user message", &operation.DropMessages{Messages: head, CopyOf: -1})
}

// onlyResults reports whether a message holds only results.
func (c *Context) onlyResults(m *transcript.Message) bool {
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if c.Blocks[b].Kind != transcript.BlockResult {
			return false
		}
	}
	return m.BlockLo < m.BlockHi
}
