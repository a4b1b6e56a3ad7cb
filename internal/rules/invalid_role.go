package rules

import (
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidRole = &Rule{
	Name: "invalid-role", Category: Roles, Severity: "error in a request body, with --send or --target; else info",
	Summary:    "A message has no role, or one that the provider does not know",
	Points:     []profile.Point{profile.BadRole},
	Strategies: []string{"rename", "text", "drop"},
	Doc: `Each API has its own words for roles: ` + "`model`" + ` in Gemini is ` + "`assistant`" + ` elsewhere, and ` + "`function`" + `
was replaced by ` + "`tool`" + `. Agents and datasets use words of their own. This only matters when the
history is sent.

**Repair.** A role for which the provider has another word is replaced, and a message that makes
or answers calls gets the role that it lacks (both safe). An unknown role stays, and so does
the role of a result of a legacy function call.

` + "`--strategy invalid-role=text`" + ` makes a message with an unknown role a message of the user, and
` + "`drop`" + ` drops it (both unsafe). The result of a legacy function call becomes text with its
call.`,
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
				f := Finding{Severity: severity, Span: m.Span(), Refusal: cell.Text, Message: "the message has no role"}
				if word != "" {
					f.Fix = c.op(m.Turn, operation.Safe, `set role to "`+word+`"`,
						&operation.AddMember{At: m.Span(), Member: transcript.MemberRole, Text: source.Quote(word)})
				}
				if f.Fix == nil {
					f.Fix = c.unknownRole(int32(i))
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
			f := Finding{Severity: severity, Span: role.Span, Refusal: cell.Text, Message: "the role " + quote(role) + " is not one that the " + c.Profile.Title + " accepts"}
			if word != "" && !c.legacy(m) {
				f.Fix = c.op(m.Turn, operation.Safe, `set role to "`+word+`"`, &operation.SetValue{At: role.Span, Text: source.Quote(word), Call: -1})
			}
			if f.Fix == nil {
				f.Fix = c.unknownRole(int32(i))
			}
			c.report(int32(i), f)
		}
	},
}

// unknownRole returns the operation that the chosen strategy has for a message of
// a role for which the provider has no other word.
func (c *Context) unknownRole(message int32) *operation.Operation {
	m := &c.Messages[message]
	switch c.strategy() {
	case "text":
		return c.userSays(message)
	case "drop":
		if c.holds(message, transcript.BlockResult) {
			return c.messageAsText(message)
		}
		if c.calls(m) {
			return c.dropTurn(message)
		}
		return c.op(m.Turn, operation.Unsafe, "drop the message", &operation.DropMessages{Messages: []int32{message}, CopyOf: -1})
	}
	return nil
}

// legacy reports whether a message is the result of a legacy function call.
func (c *Context) legacy(m *transcript.Message) bool {
	return m.BlockLo < m.BlockHi && c.Blocks[m.BlockLo].Kind == transcript.BlockResult &&
		c.Results[c.Blocks[m.BlockLo].Ref].Kind == transcript.KindLegacyFunction
}
