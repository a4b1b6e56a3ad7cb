package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var missingUserMessage = &Rule{
	Name: "missing-user-message", Category: Roles, Family: MessageOrder, Severity: "by provider with --send or --provider, and in a request body; else off",
	Summary:    "The history has no message of the user",
	Points:     []profile.Point{profile.NoUser},
	Strategies: []string{"leave", "text"},
	Args:       "--provider glm",
	What: `Checks for histories without a message of the user. A message that has only tool results is not the
user's. Neither is a text between ` + "`<tool_response>` and `</tool_response>`" + `, in which chat templates write a
result.`,
	Why: `The chat templates of Qwen models look for the last question of the user, to find out which
reasoning belongs to the current turn, and fail if there is none. GLM rejects such a history too. A
history loses its user message if only its last messages are kept, or if a summary takes its place.`,
	Repair: `By default, toolguard leaves the history alone, because it does not invent a user message. A history
with system messages only is never changed.

- ` + "`leave`" + ` (default): change nothing.
- ` + "`text`" + ` (unsafe): turn the first assistant message into a user message. Its calls and their results
  become text.`,
	Bad: `[{"role":"system","content":"Answer in one word."},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.go"}]`,
	Good: `[{"role":"system","content":"Answer in one word."},
 {"role":"user","content":"Which file is here?"},
 {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"a.go"}]`,
	Check: func(c *Context) {
		at, severity := c.noUser()
		if severity == Off {
			return
		}
		m := &c.Messages[at]
		f := Finding{Severity: severity, Span: m.RoleSpan(), Refusal: c.cell(profile.NoUser).Text, Message: "the history has no message of the user"}
		if f.Span.IsZero() {
			f.Span = m.Span()
		}
		if m.Role == transcript.RoleAssistant {
			if f.Fix = c.userSays(at); f.Fix != nil {
				f.Fix.ByStrategy = c.strategy() != "text"
			}
		}
		c.report(at, f)
	},
}

// noUser returns how severe it is that the history has no message of the user, and the message that
// could be the user's: the first one of the assistant, or the last one if there is none. The severity
// is Off if the user speaks, or may speak.
func (c *Context) noUser() (at int32, severity Severity) {
	severity = severityOf(c.cell(profile.NoUser))
	if severity == Off || !c.sent() || !c.arrays() || c.Slice || c.Incomplete || len(c.Messages) == 0 {
		return 0, Off
	}
	at, spoken := int32(len(c.Messages)-1), false
	for i := range c.Messages {
		m := &c.Messages[i]
		switch m.Role {
		case transcript.RoleUser:
			if !c.onlyResults(m) && !c.wrapped(m) {
				return 0, Off
			}
		case transcript.RoleAssistant:
			if !spoken {
				at, spoken = int32(i), true
			}
		case transcript.RoleNone, transcript.RoleOther:
			return 0, Off // it may be the user's
		}
	}
	return at, severity
}

// wrapped reports whether the text of a message is a tool result as chat templates write it.
func (c *Context) wrapped(m *transcript.Message) bool {
	text := c.Look(transcript.MemberLastText, m.Span())
	if !text.IsString() {
		return false
	}
	s := strings.TrimSpace(text.Text())
	return strings.HasPrefix(s, "<tool_response>") && strings.HasSuffix(s, "</tool_response>")
}
