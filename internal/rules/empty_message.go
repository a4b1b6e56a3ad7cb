package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var emptyMessage = &Rule{
	Name: "empty-message", Category: Payload, Severity: "by provider",
	Summary: "A message has neither content nor tool calls",
	Points:  []profile.Point{profile.EmptyMessage, profile.NullMessage},
	What:    `Checks for messages that have neither content nor calls.`,
	Why: `Clients write such messages when a stream ends before its first token. Anthropic rejects empty
content except in a last assistant message, and rejects null there too. OpenAI rejects null as
content if there are no calls.`,
	Repair: `toolguard drops the message (safe, because it says nothing; unsafe if it has reasoning). Then it
checks the history again. In session logs the message stays, because the agent does not send it.
The only message after a call without a result stays until the call has one, which may be put
into the message.`,
	Bad:  `[{"role":"user","content":"go"},{"role":"assistant","content":null},{"role":"user","content":"n"}]`,
	Good: `[{"role":"user","content":"go"},{"role":"assistant","content":"a"},{"role":"user","content":"n"}]`,
	Check: func(c *Context) {
		for i := range c.Messages {
			m := &c.Messages[i]
			var cell profile.Cell
			switch {
			case m.Has(transcript.MessageReplay):
				continue
			case m.Has(transcript.MessageStray):
				continue // its calls can be in a field that toolguard does not read
			case m.Has(transcript.MessageEmpty):
				cell = c.cell(profile.EmptyMessage)
			case m.Has(transcript.MessageNull) && m.Role == transcript.RoleOther:
				continue // its content can be in fields of its own
			case m.Has(transcript.MessageNull):
				cell = c.cell(profile.NullMessage)
			default:
				continue
			}
			if m.Has(transcript.MessageEmpty) && c.Profile.EmptyLastAssistant && i == len(c.Messages)-1 && m.Role == transcript.RoleAssistant {
				continue
			}
			severity := severityOf(cell)
			f := Finding{Severity: severity, Span: m.RoleSpan(), Message: "the message has neither content nor tool calls", Refusal: cell.Text}
			if c.arrays() {
				class := operation.Safe
				for b := m.BlockLo; b < m.BlockHi; b++ {
					if c.Blocks[b].Kind == transcript.BlockReasoning {
						class = operation.Unsafe
					}
				}
				if f.Unfixed = c.mustStay(int32(i), false); f.Unfixed == "" {
					f.Fix = c.op(m.Turn, class, "drop the message", &operation.DropMessages{Messages: []int32{int32(i)}, CopyOf: -1})
				}
			} else {
				f.Severity = min(severity, Info) // its agent does not send it
			}
			c.report(int32(i), f)
		}
	},
}
