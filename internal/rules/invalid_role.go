package rules

import (
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidRole = &Rule{
	Name: "invalid-role", Category: Roles, Severity: "error in a request body, with --send or --target; else info",
	Summary: "A role that the provider does not know, or none",
	Points:  []profile.Point{profile.BadRole},
	Doc: `Each API has its own words for who speaks: ` + "`model`" + ` is Gemini's for what others call
` + "`assistant`" + `, ` + "`function`" + ` what ` + "`tool`" + ` was before. Agents and datasets use words of their
own, which does not matter until the history is sent.

**Repair.** A word for a role that the provider has another word for is replaced by
that, and a message that makes calls or answers them gets the role that it has left
out (both safe). What is not known is left, and so is the result of a legacy function
call, whose role says what it answers.`,
	Bad:  `{"model":"m","max_tokens":9,"messages":[{"role":"human","content":"go"},{"role":"assistant","content":"hi"}]}`,
	Good: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"hi"}]}`,
	Check: func(c *Context) {
		cell := c.cell(profile.BadRole)
		severity := severityOf(cell)
		if severity == Off || c.Profile.Roles == nil || !c.shaped() || !c.arrays() {
			return
		}
		if !c.sent() {
			severity = Info
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Has(transcript.MessageItem) || m.Has(transcript.MessageForeign) || m.RoleLen == 0 && c.Profile.RoleOptional {
				continue
			}
			word := c.Profile.Role(m.Role.String())
			if m.RoleLen == 0 {
				f := Finding{Severity: severity, Span: m.Span(), Refusal: cell.Text, Message: "the message does not say who speaks"}
				if word != "" {
					f.Fix = c.op(m.Turn, operation.Safe, "say that it is the "+word+"'s",
						&operation.AddMember{At: m.Span(), Member: transcript.MemberRole, Text: transcript.Quote(word)})
				}
				c.report(int32(i), f)
				continue
			}
			if m.Has(transcript.MessagePlainRole) && slices.Contains(c.Profile.Roles, m.Role.String()) {
				continue
			}
			role := transcript.Token{Raw: c.Text(m.RoleSpan()), Span: m.RoleSpan()}
			if role.IsString() && slices.Contains(c.Profile.Roles, role.Text()) {
				continue
			}
			f := Finding{Severity: severity, Span: role.Span, Refusal: cell.Text, Message: "the role " + quote(role) + " is none that the " + c.Profile.Title + " takes"}
			if word != "" && !c.legacy(m) {
				f.Fix = c.op(m.Turn, operation.Safe, "call it "+word, &operation.SetValue{At: role.Span, Text: transcript.Quote(word), Call: -1})
			}
			c.report(int32(i), f)
		}
	},
}

// legacy reports whether a message is the result of a legacy function call.
func (c *Context) legacy(m *transcript.Message) bool {
	return m.BlockLo < m.BlockHi && c.Blocks[m.BlockLo].Kind == transcript.BlockResult &&
		c.Results[c.Blocks[m.BlockLo].Ref].Kind == transcript.KindLegacyFunction
}
