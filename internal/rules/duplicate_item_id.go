package rules

import (
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var duplicateItemID = &Rule{
	Name: "duplicate-item-id", Category: IDs, Severity: "error",
	Summary: "Two items have one id",
	Points:  []profile.Point{profile.DuplicateItemID},
	Doc: `The Responses API takes an item once. Clients that append a response to a history
in which it already stands send it twice.

**Repair.** An identical item is dropped, and another loses its id (both safe). A
call keeps what pairs it.`,
	Bad: `[{"role":"user","content":"q"},
 {"type":"reasoning","id":"rs_1","summary":[]},
 {"type":"reasoning","id":"rs_1","summary":[]},
 {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}]`,
	Good: `[{"role":"user","content":"q"},
 {"type":"reasoning","id":"rs_1","summary":[]},
 {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.DuplicateItemID)
		severity := severityOf(cell)
		if severity == Off || !c.shaped() {
			return
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
				Severity: severity, Span: id.Span, Refusal: cell.Text, CallID: id.Text(),
				Message: "the id " + quote(id) + " is that of an earlier item",
				Related: []Related{{"the first is here", c.Look(transcript.MemberItemID, c.Messages[at].Span()).Span}},
			}
			kind := c.Blocks[m.BlockLo].Kind
			switch same := c.Messages[at].Span().Len() == m.Span().Len() && c.Text(c.Messages[at].Span()) == c.Text(m.Span()); {
			case same && kind != transcript.BlockCall:
				f.Fix = c.op(m.Turn, operation.Safe, "drop the identical item", &operation.DropMessages{Messages: []int32{int32(i)}, CopyOf: at})
			case kind != transcript.BlockReasoning && !same:
				f.Fix = c.op(m.Turn, operation.Safe, "leave the id out", &operation.RemoveMember{Message: int32(i), At: id.Span})
			}
			c.report(int32(i), f)
		}
	},
}
