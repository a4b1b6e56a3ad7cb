package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var lastRole = &Rule{
	Name: "last-role", Category: Roles, Family: MessageOrder, Severity: "by provider with --send; error in a request body if the provider that it names refuses it; else off",
	Summary:    "The history is about to be sent and ends with the assistant",
	Points:     []profile.Point{profile.LastRole},
	Strategies: []string{"leave", "drop", "text"},
	What: `Checks for histories that are about to be sent and end with an assistant message: with ` + "`--send`" + `, and for
request bodies that name a provider or a model that refuses them.`,
	Why: `A request asks the model to speak. If the assistant spoke last, some providers continue its
message, and others reject the request.`,
	Repair: `By default, toolguard leaves the history alone, because it does not invent a user message.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`drop`" + ` (unsafe): drop the last message.
- ` + "`text`" + ` (unsafe): turn the last message into a user message.`,
	Args: "--send",
	Bad:  `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hi"}]}]`,
	Good: `[{"role":"user","content":"go"},{"role":"assistant","content":"hi"},{"role":"user","content":"on"}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.LastRole)
		severity := severityOf(cell)
		// A request that ends so may be a saved conversation with its answer, so that only what
		// the provider surely refuses is reported.
		asked := c.asks() && severity == Error
		if severity == Off || !c.Send && !asked || !c.arrays() || len(c.Messages) == 0 {
			return
		}
		last := int32(len(c.Messages) - 1)
		m := &c.Messages[last]
		if m.Role != transcript.RoleAssistant || c.waits(m) || c.wronglyPut(last) {
			return // pending-tool-call reports the open call at the end
		}
		f := Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "the history ends with an assistant message"}
		switch c.strategyOr("drop") {
		case "drop":
			f.Fix = c.op(m.Turn, operation.Unsafe, "drop the message", &operation.DropMessages{Messages: []int32{last}, CopyOf: -1})
		case "text":
			f.Fix = c.userSays(last)
		}
		if f.Fix != nil {
			f.Fix.ByStrategy = c.strategy() == ""
		}
		c.report(last, f)
	},
}

// waits reports whether a message has a call without a result.
func (c *Context) waits(m *transcript.Message) bool {
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if k := c.Blocks[b].Kind; (k == transcript.BlockCall || k == transcript.BlockServerCall) && c.Pairing.Calls[c.Blocks[b].Ref].Result < 0 {
			return true
		}
	}
	return false
}
