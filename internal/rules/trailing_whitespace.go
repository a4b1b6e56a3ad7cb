package rules

import (
	"strings"
	"unicode"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var trailingWhitespace = &Rule{
	Name: "trailing-whitespace", Category: Payload, Severity: "by provider with --send and in a request body; else off",
	Summary: "The last message is the assistant's, and its text ends in white space",
	Points:  []profile.Point{profile.TrailingSpace},
	What:    `Checks for a last message of the assistant whose text ends in white space.`,
	Why: `If the last message is the assistant's, the model continues it. Anthropic rejects such a message
if it ends in white space.`,
	Repair: `toolguard removes the white space (safe; unsafe if the message has signed reasoning).`,
	Bad:    `{"anthropic_version":"2023-06-01","model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"Sure, "}]}`,
	Good:   `{"anthropic_version":"2023-06-01","model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"Sure,"}]}`,
	Check: func(c *Context) {
		cell := c.cell(profile.TrailingSpace)
		severity := severityOf(cell)
		if severity == Off || !c.Send && c.Use != transcript.UseBody || len(c.Messages) == 0 {
			return
		}
		last := int32(len(c.Messages) - 1)
		m := &c.Messages[last]
		if m.Role != transcript.RoleAssistant || m.BlockLo < m.BlockHi && c.Blocks[m.BlockHi-1].Kind != transcript.BlockText {
			return
		}
		text := c.Look(transcript.MemberLastText, m.Span())
		if s := text.Text(); !text.IsString() || strings.TrimSpace(s) == "" || strings.TrimRightFunc(s, unicode.IsSpace) == s {
			return
		}
		class := operation.Safe
		if c.signed(m.Turn) {
			class = operation.Unsafe
		}
		op := c.op(m.Turn, class, "trim the white space", &operation.TrimText{Message: last})
		c.report(last, Finding{Severity: severity, Span: text.Span, Refusal: cell.Text, Fix: op, Message: "the last message of the assistant ends in white space"})
	},
}
