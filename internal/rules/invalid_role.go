package rules

import (
	"slices"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidRole = &Rule{
	Name: "invalid-role", Category: Roles, Severity: "error in a request body, with --send or --provider; else info",
	Summary:    "A message has no role, or one that the provider does not accept there",
	Points:     []profile.Point{profile.BadRole, profile.SystemPlace},
	Strategies: []string{"rename", "text", "drop"},
	What: `Checks for messages without a role, and for roles that the provider does not accept. An element of
the list of messages that is not an object has no role either.`,
	Why: `Each API has its own names for roles. ` + "`model`" + ` in Gemini is ` + "`assistant`" + ` elsewhere, and ` + "`tool`" + ` has
replaced ` + "`function`" + `. Agents and datasets use names of their own. Mistral also rejects a system
prompt right after an assistant message or a tool result. All of this matters only when the
history is sent.`,
	Repair: `- ` + "`rename`" + ` (default, safe): replace a role for which the provider has another name, and give a
  message that makes or answers calls the role that it lacks. An unknown role stays.
- ` + "`text`" + ` (unsafe): turn a message with an unknown role into a user message.
- ` + "`drop`" + ` (unsafe): drop a message with an unknown role.

With ` + "`text`" + ` and ` + "`drop`" + `, the result of a legacy function call becomes text together with its call.`,
	Bad:  `{"model":"m","max_tokens":9,"messages":[{"role":"human","content":"go"},{"role":"assistant","content":"hi"}]}`,
	Good: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":"hi"}]}`,
	Check: func(c *Context) {
		c.notMessages()
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
			if m.Has(transcript.MessageItem) || m.Has(transcript.MessageForeign) || m.RoleLen == 0 && words.RoleOptional || c.wronglyPut(int32(i)) {
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
			f := Finding{Severity: severity, Span: role.Span, Refusal: cell.Text, Message: "the " + words.Title + " does not accept the role " + quote(role)}
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

// notMessages reports the elements among the messages that cannot be messages: those that are not
// objects, which no provider accepts, and those without a role, if the provider needs one.
func (c *Context) notMessages() {
	severity := Info
	if c.sent() {
		severity = Error
	}
	for i := range c.Unread {
		u := &c.Unread[i]
		f := Finding{Severity: severity, Message: "the message has no role"}
		switch cell := c.stricter(profile.BadRole); {
		case !u.Listed, u.Kind == source.Null && !c.sent(): // readers ignore null
			continue
		case u.Kind != source.Object:
			f.Message = "expected a message, but this is " + kindNamesOf[u.Kind]
		case !u.Bare, c.Use != transcript.UseBody, severityOf(cell) == Off, c.Profile.Roles == nil, c.Profile.RoleOptional:
			continue
		default:
			f.Severity, f.Refusal = severityOf(cell), cell.Text
		}
		if c.strategy() == "drop" {
			f.Fix = c.op(-1, operation.Unsafe, "drop the element", &operation.DropElement{At: u.Span})
		}
		c.reportUnread(u, f)
	}
}

// kindNamesOf are the kinds of values that are not objects, in messages.
var kindNamesOf = map[source.Kind]string{
	source.Null: "null", source.Bool: "a boolean", source.Number: "a number", source.String: "a string", source.Array: "an array",
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
		if m.Has(transcript.MessageReplay) || c.hidden(int32(i)) || c.wronglyPut(int32(i)) {
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
