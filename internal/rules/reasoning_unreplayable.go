package rules

import (
	"slices"
	"sync"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var reasoningUnreplayable = &Rule{
	Name: "reasoning-unreplayable", Category: Reasoning, Family: MessageOrder, Severity: "by provider",
	Summary:    "The provider does not accept the reasoning in the history",
	Points:     []profile.Point{profile.Unreplayable, profile.NoReasoning},
	Strategies: []string{"drop", "text"},
	What: `In the Responses API, reasoning must be directly before its item. Anthropic thinking needs its signature.

With ` + "`--send`" + `, ` + "`--provider`" + ` or in a request body, the history needs:

- DeepSeek, Kimi: reasoning text with every call
- Gemini 3: signatures of the calls in the current turn
- Anthropic: thinking before the last calls while thinking is on

If thinking may be off, this is a warning.`,
	Why: `Only the provider can make a signature.`,
	Repair: `toolguard adds the documented value for a lost signature, or an empty reasoning text if
accepted (additive).

- ` + "`drop`" + ` (default, unsafe): drop reasoning that cannot be sent.
- ` + "`text`" + ` (unsafe): also turn calls without reasoning and their results into text.

If a signature is refused and ` + "`toolguard check`" + ` finds nothing, another account or model wrote it.
` + "`toolguard fix --write --strip-reasoning FILE`" + ` removes it ([replayed-reasoning](replayed-reasoning.md)).`,
	Bad: `[{"type":"message","role":"user","content":"q"},
 {"type":"reasoning","id":"rs_9","encrypted_content":"e","summary":[]}]`,
	Good: `[{"type":"message","role":"user","content":"q"},
 {"type":"reasoning","id":"rs_9","encrypted_content":"e","summary":[]},
 {"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"}]}]`,
	Check: func(c *Context) {
		c.unreasoned()
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
						Severity: severity, Span: b.Span, Refusal: c.cell(profile.Unreplayable).Text,
						Message: "the reasoning is not followed by the item that it led to",
					}
					if c.past() {
						f.Severity = Info
					}
					f.Fix = c.op(m.Turn, operation.Unsafe, "drop the reasoning", &operation.DropBlocks{Blocks: []int32{int32(i)}})
					c.report(b.Message, f)
				}
			case b.Has(transcript.BlockUnsigned):
				f := Finding{
					Severity: severity, Span: b.Span, Refusal: c.cell(profile.Unreplayable).Text,
					Message: "the thinking block has no signature",
				}
				if c.sent() {
					f.Fix = c.op(m.Turn, operation.Unsafe, "drop the reasoning", &operation.DropBlocks{Blocks: []int32{int32(i)}})
				} else {
					f.Severity = Info // it matters only to a provider that checks it
				}
				c.report(b.Message, f)
			}
		}
	},
}

// dangling reports, by message, whether nothing but reasoning follows it in the model's
// items. Then the item that a reasoning item there led to is missing.
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

// unreasoned reports calls that lack the reasoning that the profile requires.
func (c *Context) unreasoned() {
	cell := c.cell(profile.NoReasoning)
	severity := severityOf(cell)
	if severity == Off || !c.shaped() || !c.arrays() || !c.sent() {
		return
	}
	if !c.Target {
		switch c.Profile.Replay {
		case profile.ReplayText, profile.ReplayFirst:
			asked := c.asksToThink()
			if !c.Profile.Thinks(c.Model) || asked == off || asked == unsaid && c.Profile.ThinksIfAsked {
				return
			}
			if c.Named {
				severity = min(severity, Warning) // the name does not show whether the model was to reason
			}
		}
	}
	disabled := c.Profile.Replay == profile.ReplayFirst && c.asksToThink() == off
	current := c.current()
	turn := int32(-1)
	for i := range c.Calls {
		call := &c.Calls[i]
		m := &c.Messages[call.Message]
		if call.Answer.ByProvider() || m.Turn == turn || c.Pairing.Calls[i].State == pairing.Exempt {
			continue
		}
		turn = m.Turn // the finding is about the first call of a turn
		f := Finding{Severity: severity, Refusal: cell.Text}
		switch c.Profile.Replay {
		case profile.ReplayText:
			if c.Look(transcript.MemberReasoning, m.Span()).IsString() {
				continue
			}
			f.Message = callName(call) + " has no reasoning text"
			if c.Profile.BlankReasoning {
				f.Fix = c.op(turn, operation.Additive, "add an empty reasoning text",
					&operation.AddMember{At: m.Span(), Member: transcript.MemberReasoning, Text: `""`})
			}
		case profile.ReplaySignature:
			span := c.Blocks[call.Block].Span
			if call.Message < current || !c.Knows(transcript.MemberSignature) || c.Look(transcript.MemberSignature, span).IsString() {
				continue
			}
			f.Message = callName(call) + " has no thought signature"
			f.Fix = c.op(turn, operation.Additive, "add the value that the provider documents for a lost signature",
				&operation.AddMember{At: span, Member: transcript.MemberSignature, Text: source.Quote(c.Profile.Sentinel)})
		case profile.ReplayFirst:
			if disabled || call.Message < current || m.Turn != c.lastTurn() || c.Blocks[m.BlockLo].Kind == transcript.BlockReasoning {
				continue // only the last turn of the model matters
			}
			f.Message = callName(call) + " has no thinking before it"
		default:
			continue
		}
		if c.strategy() == "text" {
			f.Fix = c.turnAsText(int32(i))
		}
		c.aboutCall(i, f)
	}
}

// A request says that its model is to think, that it is not, or nothing about it.
const (
	unsaid = iota
	on
	off
)

// asksToThink returns what the request says about thinking.
func (c *Context) asksToThink() int {
	if !c.Knows(transcript.MemberThinking) || c.Holder.IsZero() {
		return unsaid
	}
	switch t := c.Look(transcript.MemberThinking, c.Holder); {
	case !t.Given():
		return unsaid
	case slices.Contains([]string{"disabled", "none", "off", "false"}, t.Text()):
		return off
	}
	return on
}

// turnAsText returns the operation that turns the calls of a turn, from the first one given,
// and their results into text.
func (c *Context) turnAsText(first int32) *operation.Operation {
	turn := c.turn(c.Calls[first].Message)
	var calls, results []int32
	for i := first; int(i) < len(c.Calls) && c.turn(c.Calls[i].Message) == turn; i++ {
		calls, results = append(calls, i), append(results, c.answersTo(i)...)
	}
	return c.asText(turn, calls, results)
}

// lastTurn returns the last turn of the model, -1 if there is none.
func (c *Context) lastTurn() int32 {
	for _, m := range slices.Backward(c.Messages) {
		if m.Role == transcript.RoleAssistant {
			return m.Turn
		}
	}
	return -1
}

// current returns the message at which the current turn of the model begins: after the last
// user message that has more than results.
func (c *Context) current() int32 {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		if m.Role == transcript.RoleUser && !c.holds(int32(i), transcript.BlockResult) {
			return int32(i)
		}
	}
	return 0
}
