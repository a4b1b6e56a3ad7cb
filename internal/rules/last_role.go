package rules

import (
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var lastRole = &Rule{
	Name: "last-role", Category: Roles, Severity: "the profile's severity with --send; else off",
	Summary: "The history is about to be sent, and ends with the assistant",
	Points:  []profile.Point{profile.LastRole},
	Doc: `What is sent asks the model to speak. Where it has spoken last, some providers take
that as the beginning of its answer and others refuse it.

**Repair.** None: a message of the user is not made up.`,
	Args: "--send",
	Bad:  `[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"hi"}]}]`,
	Good: `[{"role":"user","content":"go"},{"role":"assistant","content":"hi"},{"role":"user","content":"on"}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.LastRole)
		severity := severityOf(cell)
		if severity == Off || !c.Send || !c.arrays() || len(c.Messages) == 0 {
			return
		}
		last := int32(len(c.Messages) - 1)
		m := &c.Messages[last]
		if m.Role != transcript.RoleAssistant || c.waits(m) {
			return // pending-tool-call says what a last call waits for
		}
		c.report(last, Finding{Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Message: "the history ends with the assistant"})
	},
}

// waits reports whether a message makes a call that is not answered yet.
func (c *Context) waits(m *transcript.Message) bool {
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if k := c.Blocks[b].Kind; (k == transcript.BlockCall || k == transcript.BlockServerCall) && c.Pairing.Calls[c.Blocks[b].Ref].Result < 0 {
			return true
		}
	}
	return false
}
