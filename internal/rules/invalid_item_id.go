package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidItemID = &Rule{
	Name: "invalid-item-id", Category: IDs, Severity: "error in a request body, with --send or --target; else info",
	Summary: "The id of an item does not begin as those of its type do",
	Points:  []profile.Point{profile.ItemID},
	Doc: `Items of the Responses API can carry an id beside the one that pairs them:
` + "`fc_…`" + ` for a function's call, ` + "`msg_…`" + `, ` + "`rs_…`" + ` for reasoning, ` + "`ctc_…`" + ` for a custom tool's
call. Clients and proxies that make ids up there are refused.

**Repair.** The id is left out (safe): only the ` + "`call_id`" + ` is needed. A reasoning
item is nothing without it unless its content came along encrypted, and stays.`,
	Bad: `[{"role":"user","content":"q"},
 {"type":"function_call","id":"call_1","call_id":"call_1","name":"f","arguments":"{}"},
 {"type":"function_call_output","call_id":"call_1","output":"1"}]`,
	Good: `[{"role":"user","content":"q"},
 {"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"},
 {"type":"function_call_output","call_id":"call_1","output":"1"}]`,
	Check: func(c *Context) {
		cell := c.cell(profile.ItemID)
		severity := severityOf(cell)
		if severity == Off || !c.shaped() {
			return
		}
		if !c.sent() {
			severity = Info // an agent's own record of it
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			id, want := c.item(m)
			if want == "" || !id.Present() || id.Raw == "null" || id.IsString() && strings.HasPrefix(id.Text(), want) && profile.WordDash.Allows(id.Text()) {
				continue
			}
			f := Finding{
				Severity: severity, Span: id.Span, Refusal: strings.Replace(cell.Text, "'…'", "'"+want+"'", 1),
				CallID: id.Text(), Message: "the id " + quote(id) + " is not one of its item's type, which begin with " + want,
			}
			if want != c.Profile.ItemPrefixes.Reasoning {
				f.Fix = c.op(m.Turn, operation.Safe, "leave the id out", &operation.RemoveMember{Message: int32(i), At: id.Span})
			}
			c.report(int32(i), f)
		}
	},
}

// item returns the id of the item that a message is, and how such ids begin; ""
// where that is not known.
func (c *Context) item(m *transcript.Message) (id transcript.Token, prefix string) {
	p := &c.Profile.ItemPrefixes
	if blocks := c.Blocks[m.BlockLo:m.BlockHi]; len(blocks) > 0 && blocks[0].Has(transcript.BlockHasID) {
		switch blocks[0].Kind {
		case transcript.BlockReasoning:
			prefix = p.Reasoning
		case transcript.BlockCall:
			switch c.Calls[blocks[0].Ref].Kind {
			case transcript.KindFunction:
				prefix = p.Function
			case transcript.KindCustom:
				prefix = p.Custom
			}
		case transcript.BlockText, transcript.BlockMedia:
			if m.Role == transcript.RoleAssistant {
				prefix = p.Message
			}
		}
		return c.Look(transcript.MemberItemID, m.Span()), prefix
	}
	return transcript.Token{}, ""
}
