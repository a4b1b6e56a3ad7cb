package rules

import (
	"sync"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var reasoningUnreplayable = &Rule{
	Name: "reasoning-unreplayable", Category: Reasoning, Severity: "profile",
	Summary: "Reasoning that cannot be sent again as it stands",
	Points:  []profile.Point{profile.Unreplayable, profile.NoReasoning},
	Doc: `A reasoning item of the Responses API belongs directly before the item it led to:
alone, or before a user's message, it is refused. Anthropic's thinking blocks must
carry their signature.

**Repair.** ` + "`fix --unsafe`" + ` drops a dangling reasoning item. A signature cannot be
made up.`,
	Bad: `[{"type":"message","role":"user","content":"q"},
 {"type":"reasoning","id":"rs_9","encrypted_content":"e","summary":[]}]`,
	Good: `[{"type":"message","role":"user","content":"q"},
 {"type":"reasoning","id":"rs_9","encrypted_content":"e","summary":[]},
 {"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"}]}]`,
	Check: func(c *Context) {
		severity := severityOf(c.cell(profile.Unreplayable))
		if severity == Off {
			return
		}
		dangles := sync.OnceValue(c.dangling)
		for i := range c.Blocks {
			b := &c.Blocks[i]
			if b.Kind != transcript.BlockReasoning {
				continue
			}
			m := &c.Messages[b.Message]
			switch {
			case m.Has(transcript.MessageItem):
				if b.Has(transcript.BlockHasID) && dangles()[b.Message] {
					f := Finding{
						Severity: severity, Span: b.Span, ProviderError: c.cell(profile.Unreplayable).Text,
						Message: "reasoning without the item it led to",
					}
					if c.Use == transcript.UseDataset || c.Use == transcript.UseTrace {
						f.Severity = Info
					}
					f.Fix = c.op(operation.DropBlock, m.Turn, operation.Unsafe, "drop the reasoning item")
					f.Fix.Blocks = []int32{int32(i)}
					c.report(b.Message, f)
				}
			case b.Has(transcript.BlockUnsigned):
				f := Finding{
					Severity: severity, Span: b.Span, ProviderError: c.cell(profile.Unreplayable).Text,
					Message: "thinking without a signature",
				}
				if c.Use != transcript.UseBody && !c.Send && !c.Target {
					f.Severity = Info // it matters only to a provider that checks
				}
				c.report(b.Message, f)
			}
		}
	},
}

// dangling returns, by message, whether no item of the model follows it but
// reasoning: what a reasoning item there led to is not there.
func (c *Context) dangling() []bool {
	out := make([]bool, len(c.Messages))
	open := true
	for i := len(c.Messages) - 1; i >= 0; i-- {
		out[i] = open
		m := &c.Messages[i]
		switch {
		case m.Role != transcript.RoleAssistant:
			open = true
		case m.BlockLo == m.BlockHi || c.Blocks[m.BlockLo].Kind != transcript.BlockReasoning:
			open = false
		}
	}
	return out
}
