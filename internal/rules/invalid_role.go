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
	Summary:    "A message has no role, or one that the provider does not accept there",
	Points:     []profile.Point{profile.BadRole, profile.SystemPlace},
	Strategies: []string{"rename", "text", "drop"},
	Doc: `Each API has its own words for roles: ` + "`model`" + ` in Gemini is ` + "`assistant`" + ` elsewhere, and ` + "`function`" + `
was replaced by ` + "`tool`" + `. Agents and datasets use words of their own. Mistral also rejects a
system prompt right after a message of the assistant or a result. All of this only matters when
the history is sent.

With ` + "`--target`" + `, a role is also an error if the API in whose shape the history is written does not
know it, because converters pass it on.

**Repair.** A role for which the provider has another word is replaced, and a message that makes
or answers calls gets the role that it lacks (both safe). An unknown role stays, and so does
the role of a result of a legacy function call.

` + "`--strategy invalid-role=text`" + ` makes a message with an unknown role a message of the user, and
` + "`drop`" + ` drops it (both unsafe). The result of a legacy function call becomes text with its
call.`,
	Bad:  `{"model":"m","max_tokens":9,"messages":[{"role":"human","content":"go"},{"role":"assistant","content":"hi"}]}`,
	Good: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"hi"}]}`,
	Check: func(c *Context) {
		c.systemPlaces()
		cell := c.stricter(profile.BadRole)
		severity := severityOf(cell)
		words := c.Profile // the profile whose role names count
		if !c.shaped() {
			words = c.Native // converters do not know roles that the native provider does not know
		}
		if severity == Off || words.Roles == nil || !c.arrays() {
			return
		}
		if !c.sent() {
			severity = Info
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Has(transcript.MessageItem) || m.Has(transcript.MessageForeign) || m.RoleLen == 0 && words.RoleOptional {
				continue
			}
			word := words.Role(m.Role.String())
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
			if m.Has(transcript.MessagePlainRole) && slices.Contains(words.Roles, m.Role.String()) {
				continue
			}
			role := transcript.Token{Raw: c.Text(m.RoleSpan()), Span: m.RoleSpan()}
			if role.IsString() && slices.Contains(words.Roles, role.Text()) {
				continue
			}
			f := Finding{Severity: severity, Span: role.Span, Refusal: cell.Text, Message: "the role " + quote(role) + " is not one that the " + words.Title + " accepts"}
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

// systemPlaces reports system messages after a role that the provider does not accept before
// them.
func (c *Context) systemPlaces() {
	cell := c.cell(profile.SystemPlace)
	severity := severityOf(cell)
	if severity == Off || !c.arrays() {
		return
	}
	if !c.sent() {
		severity = Info
	}
	before := transcript.RoleNone
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Has(transcript.MessageReplay) || c.hidden(int32(i)) {
			continue
		}
		if m.Role == transcript.RoleSystem && before != transcript.RoleNone && !slices.Contains(c.Profile.SystemAfter, before.String()) {
			c.report(int32(i), Finding{
				Severity: severity, Span: m.RoleSpan(), Refusal: cell.Text, Fix: c.unknownRole(int32(i)),
				Message: "the " + c.Profile.Title + " does not accept the role \"system\" after the role \"" + before.String() + "\"",
			})
		}
		before = m.Role
	}
}

// unknownRole returns the operation of the chosen strategy for a message whose role has no
// equivalent at the provider.
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
