package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidItemID = &Rule{
	Name: "invalid-item-id", Category: IDs, Severity: "error if the request goes to OpenAI; else info",
	Summary: "The id of an item does not begin with the prefix of its type",
	Points:  []profile.Point{profile.ItemID},
	What: `Checks the ids of items of the Responses API. An item can have an id in addition to ` + "`call_id`" + `,
which pairs calls and outputs. Such an id begins with ` + "`fc_`" + ` for a function call, ` + "`msg_`" + ` for a
message, ` + "`rs_`" + ` for reasoning and ` + "`ctc_`" + ` for a custom tool call.`,
	Why: `OpenAI rejects ids that clients and proxies invent. Other providers have their own ids, so this is
an error only if the request goes to OpenAI.`,
	Repair: `toolguard removes the id, because only ` + "`call_id`" + ` is required (safe if the request goes to OpenAI,
otherwise unsafe). ` + "`fix --unsafe`" + ` drops a reasoning item without encrypted content, because it
means nothing without its id.`,
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
		if !c.ownItems() {
			severity = min(severity, Info) // other stacks assign their own ids
		}
		for i := range c.Messages {
			m := &c.Messages[i]
			id, want := c.item(m)
			if want == "" || !id.Given() || id.IsString() && strings.HasPrefix(id.Text(), want) && profile.WordDash.Allows(id.Text()) {
				continue
			}
			f := Finding{
				Severity: severity, Span: id.Span, Refusal: strings.Replace(cell.Text, "'…'", "'"+want+"'", 1),
				Message: "the id " + quote(id) + " does not fit the type of its item: such ids begin with " + want,
				Fix:     c.omitID(int32(i), id),
			}
			f.identify(id)
			c.report(int32(i), f)
		}
	},
}

// item returns the id of the item that a message is, and the prefix of such ids, "" if it is
// not known.
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
