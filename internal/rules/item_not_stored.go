package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var itemNotStored = &Rule{
	Name: "item-not-stored", Category: Reasoning, Severity: "by provider; info in datasets and traces",
	Summary:    "An item refers to one that the provider has not stored",
	Points:     []profile.Point{profile.NotStored},
	Strategies: []string{"drop"},
	What: `Checks requests to the Responses API that store nothing, because they have ` + "`\"store\": false`" + `, and
with ` + "`--provider openai-responses-zdr`" + ` all requests. In such a request, the rule reports

- a reasoning item with an id and without ` + "`encrypted_content`" + `
- an ` + "`item_reference`" + `

Other items may keep their ids, and so may reasoning with encrypted content.`,
	Why: `The provider looks for an item with that id. It has never stored one, so it rejects every request of
the session. Clients make this mistake if they forget ` + "`\"include\": [\"reasoning.encrypted_content\"]`" + `, or
if the user turns storage off during a session.`,
	Repair: `- ` + "`drop`" + ` (default, unsafe): drop the item.

A result whose call was only a reference answers no call of the request. [orphan-tool-result](orphan-tool-result.md)
reports it.`,
	Bad: `{"model":"gpt-5","store":false,"input":[
 {"type":"message","role":"user","content":"q"},
 {"type":"reasoning","id":"rs_9","encrypted_content":null,"summary":[]},
 {"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"}]},
 {"type":"message","role":"user","content":"n"}]}`,
	Good: `{"model":"gpt-5","store":false,"include":["reasoning.encrypted_content"],"input":[
 {"type":"message","role":"user","content":"q"},
 {"type":"reasoning","id":"rs_9","encrypted_content":"gAAA","summary":[]},
 {"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"}]},
 {"type":"message","role":"user","content":"n"}]}`,
	Check: func(c *Context) {
		cell := c.cell(profile.NotStored)
		severity := severityOf(cell)
		if severity == Off || !c.shaped() || !c.unstored() {
			return
		}
		if c.past() {
			severity = min(severity, Info)
		}
		for i := range c.Blocks {
			b := &c.Blocks[i]
			reasons := b.Kind == transcript.BlockReasoning && b.Has(transcript.BlockHasID) && !b.Has(transcript.BlockSigned)
			if !reasons && !b.Has(transcript.BlockReference) {
				continue
			}
			id := c.Look(transcript.MemberItemID, b.Span)
			f := Finding{
				Severity: severity, Span: id.Span, Refusal: cell.Text,
				Message: "the reasoning " + quote(id) + " has no encrypted content, and the provider stores nothing",
				Fix:     c.op(c.turn(b.Message), operation.Unsafe, "drop the reasoning", &operation.DropBlocks{Blocks: []int32{int32(i)}}),
			}
			if !reasons {
				f.Message = "this refers to the item " + quote(id) + ", and the provider stores nothing"
				f.Fix.Title = "drop the reference"
			}
			f.identify(id)
			c.report(b.Message, f)
		}
	},
}

// unstored reports whether the provider stores no items, so that a history cannot refer to them.
func (c *Context) unstored() bool {
	return c.Profile.Unstored || c.says(transcript.MemberStore, "false")
}

// says reports whether the request has a field with a value.
func (c *Context) says(field transcript.Member, raw string) bool {
	return c.Knows(field) && !c.Holder.IsZero() && c.Look(field, c.Holder).Raw == raw
}

// storedByProvider reports whether the other half of a call or a result may be stored by the provider.
func (c *Context) storedByProvider() bool { return c.ElsewhereState || c.References && !c.unstored() }
