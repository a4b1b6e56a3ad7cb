package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

var emptyText = &Rule{
	Name: "empty-text", Category: Payload, Severity: "by provider; info in logs",
	Summary: "A text block is blank",
	Points:  []profile.Point{profile.EmptyText, profile.EmptyBlock},
	What: `Checks for text blocks that are empty or contain only white space. If the history is written in
another shape than the ` + "`--provider`" + ` accepts, an empty text beside calls does not count, because
converters leave it out. White space counts, because converters pass it on.`,
	Why: `Anthropic and Bedrock reject blank text, although their own answers have contained such blocks.
They accept it inside a result, and Anthropic's API accepts white space beside calls. Bedrock accepts white
space between a document and a ` + "`cachePoint`" + `, which may not follow a document directly. Gemini accepts blank text, but not a part that is completely
empty. Some serializers write such a part for an empty text.`,
	Repair: `toolguard drops the block, or the message if it contains nothing else (safe; unsafe if the message
has signed reasoning). Then it checks the history again. The only message after a call without a
result stays until the call has one, which may be put into the message.`,
	Bad:  `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":""},{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]`,
	Good: `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""}]}]`,
	Check: func(c *Context) {
		text, hollow := c.cell(profile.EmptyText), c.cell(profile.EmptyBlock)
		if severityOf(text) == Off && severityOf(hollow) == Off {
			return
		}
		for i := range c.Blocks {
			b := &c.Blocks[i]
			if b.Kind != transcript.BlockText || !b.Has(transcript.BlockBlank) {
				continue
			}
			cell, message := text, "the text is blank"
			if b.Has(transcript.BlockHollow) {
				cell, message = hollow, "the block is empty"
			}
			severity := severityOf(cell)
			if !c.arrays() || !c.shaped() && !c.sent() {
				severity = min(severity, Info)
			}
			m := &c.Messages[b.Message]
			if m.Role == transcript.RoleSystem || m.Has(transcript.MessageReplay) || m.Has(transcript.MessageEmpty) {
				continue // empty-message reports it
			}
			if c.shaped() && c.Profile.BlankBesideCalls && c.calls(m) && c.whiteSpace(b.Span) {
				continue
			}
			if c.shaped() && c.Profile.BlankBehindMedia && c.behindMedia(int32(i)) && c.whiteSpace(b.Span) {
				continue
			}
			if !c.shaped() && (m.Role == transcript.RoleTool || c.calls(m) && !c.whiteSpace(b.Span)) {
				continue // converters omit an empty text, but send white space
			}
			f := Finding{Severity: severity, Span: b.Span, Refusal: cell.Text, Message: message}
			class := operation.Safe
			if c.signed(m.Turn) {
				class = operation.Unsafe
			}
			if f.Unfixed = c.mustStay(b.Message, true); f.Unfixed != "" {
				c.report(b.Message, f)
				continue
			}
			if m.BlockHi-m.BlockLo > 1 && c.form(b.Span) == profile.FormObject {
				f.Fix = c.op(m.Turn, class, "drop the block", &operation.DropBlocks{Blocks: []int32{int32(i)}})
			} else if m.BlockHi-m.BlockLo == 1 {
				f.Fix = c.op(m.Turn, class, "drop the message", &operation.DropMessages{Messages: []int32{b.Message}, CopyOf: -1})
			}
			c.report(b.Message, f)
		}
	},
}

// behindMedia reports whether a block of the user follows media and precedes a block that is neither
// text nor media, such as a marker of the prompt cache.
func (c *Context) behindMedia(block int32) bool {
	m := &c.Messages[c.Blocks[block].Message]
	return m.Role == transcript.RoleUser && block > m.BlockLo && block+1 < m.BlockHi &&
		c.Blocks[block-1].Kind == transcript.BlockMedia && c.Blocks[block+1].Kind == transcript.BlockOther
}

// whiteSpace reports whether a blank text, or the block that holds it, contains white space.
func (c *Context) whiteSpace(at source.Span) bool {
	v := c.Value(at)
	if v.Kind() == source.String {
		return v.Str() != ""
	}
	for _, val := range v.Members() {
		if s := val.Str(); val.Kind() == source.String && s != "" && strings.TrimSpace(s) == "" {
			return true
		}
	}
	return false
}

// calls reports whether a message makes calls.
func (c *Context) calls(m *transcript.Message) bool {
	for b := m.BlockLo; b < m.BlockHi; b++ {
		if k := c.Blocks[b].Kind; k == transcript.BlockCall || k == transcript.BlockServerCall {
			return true
		}
	}
	return false
}
