package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var duplicateItemID = &Rule{
	Name: "duplicate-item-id", Category: IDs, Severity: "error if the request goes to OpenAI; else info, and a warning for identical items",
	Summary: "Two items have the same id",
	Points:  []profile.Point{profile.DuplicateItemID},
	What:    `Checks for items of the Responses API that have the same id.`,
	Why: `OpenAI accepts an item only once. Clients send an item twice when they append a response to a
history that already contains it.

Other providers have their own ids, so two different items with one id are an error only if the
request goes to OpenAI. An identical item is at least a warning everywhere.`,
	Repair: `toolguard drops an identical item of any type (safe), unless it is a call that has a result of its
own. If the items differ and the request goes to OpenAI, toolguard removes the id of the second
item (safe). A reasoning item without encrypted content is dropped instead (unsafe).`,
	Bad: `[{"role":"user","content":"q"},
 {"type":"reasoning","id":"rs_1","summary":[]},
 {"type":"reasoning","id":"rs_1","summary":[]},
 {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}]`,
	Good: `[{"role":"user","content":"q"},
 {"type":"reasoning","id":"rs_1","summary":[]},
 {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}]`,
	Check: func(c *Context) {
		if !c.shaped() {
			return
		}
		cell := c.cell(profile.DuplicateItemID)
		severity := severityOf(cell)
		if !c.ownItems() {
			severity = min(severity, Info) // other stacks assign their own ids
		}
		first := map[string]int32{}
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.BlockLo == m.BlockHi || !c.Blocks[m.BlockLo].Has(transcript.BlockHasID) {
				continue
			}
			id := c.Look(transcript.MemberItemID, m.Span())
			if !id.IsString() || id.Text() == "" {
				continue
			}
			at, seen := first[id.Raw]
			if !seen {
				first[id.Raw] = int32(i)
				continue
			}
			f := Finding{
				Severity: severity, Span: id.Span, Refusal: cell.Text,
				Message: "the id " + quote(id) + " already belongs to an earlier item",
				Related: []Related{{"the first item is here", c.Look(transcript.MemberItemID, c.Messages[at].Span()).Span}},
			}
			f.identify(id)
			if c.Messages[at].Span().Len() == m.Span().Len() && c.Text(c.Messages[at].Span()) == c.Text(m.Span()) && c.repeats(int32(i)) {
				f.Severity = max(severity, Warning)
				f.Message = "the item " + quote(id) + " repeats an earlier item"
				f.Fix = c.op(m.Turn, operation.Safe, "drop the identical item", &operation.DropMessages{Messages: []int32{int32(i)}, CopyOf: at})
			} else {
				f.Fix = c.omitID(int32(i), id)
			}
			c.report(int32(i), f)
		}
	},
}

// repeats reports whether an item is a mere copy of an equal one. A call with a result of its
// own is not, and neither is a result that answers a call.
func (c *Context) repeats(item int32) bool {
	switch b := &c.Blocks[c.Messages[item].BlockLo]; b.Kind {
	case transcript.BlockCall:
		return c.Pairing.Calls[b.Ref].State == pairing.Copy
	case transcript.BlockResult:
		return c.Pairing.Results[b.Ref].Fate != pairing.Answers
	}
	return true
}

// ownItems reports whether the history is about to be sent to a provider that checks item
// ids, because it knows its own.
func (c *Context) ownItems() bool {
	return severityOf(c.cell(profile.ItemID)) == Error && c.known()
}

// omitID returns the operation that removes the id of an item. For OpenAI the id is optional;
// for others it is recorded content. A reasoning item needs its id, unless it has encrypted
// content.
func (c *Context) omitID(item int32, id transcript.Token) *operation.Operation {
	m := &c.Messages[item]
	if b := &c.Blocks[m.BlockLo]; b.Kind == transcript.BlockReasoning && !b.Has(transcript.BlockSigned) {
		return c.op(m.Turn, operation.Unsafe, "drop the reasoning item", &operation.DropBlocks{Blocks: []int32{m.BlockLo}})
	}
	class := operation.Unsafe
	if c.ownItems() {
		class = operation.Safe
	}
	return c.op(m.Turn, class, "remove the id", &operation.RemoveMember{Message: item, At: id.Span})
}
