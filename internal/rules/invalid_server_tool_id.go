package rules

import (
	"strings"

	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/pairing"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/transcript"
)

var invalidServerToolID = &Rule{
	Name: "invalid-server-tool-id", Category: IDs, Severity: "error (Anthropic blocks only)",
	Summary:    "The id of a call does not match who runs the tool",
	Points:     []profile.Point{profile.ServerID},
	Strategies: []string{"rename", "drop", "text"},
	Doc: `The ids of tools that Anthropic runs itself begin with ` + "`srvtoolu_`" + `, and no others do. Proxies
for other models write other ids, and clients that flatten a history write such a call as a call
of the client. The API then waits for a result that nobody can provide.

**Repair.** The id of a server tool is rewritten in the call and its result (safe). The id of a
client's call is rewritten by ` + "`fix --unsafe`" + ` if the call has a result, because the type of the
call may be what is wrong.

` + "`--strategy invalid-server-tool-id=drop`" + ` drops the call with its result, and ` + "`text`" + ` turns both
into text (both unsafe).`,
	Bad: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"server_tool_use","id":"ws_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"ws_1","content":[]},{"type":"text","text":"x"}]}]`,
	Good: `[{"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"x"}]}]`,
	Check: func(c *Context) {
		prefix := c.Profile.ServerID
		if prefix == "" || !c.shaped() {
			return
		}
		cell := c.cell(profile.ServerID)
		for i := range c.Calls {
			call := &c.Calls[i]
			id := pairing.Key(call.ID)
			if id == "" && call.Kind != transcript.KindServer || call.Kind != transcript.KindServer && call.Kind != transcript.KindFunction || c.Pairing.Calls[i].State == pairing.Exempt {
				continue
			}
			begins := strings.HasPrefix(id, prefix)
			proper := begins && profile.WordDash.Allows(id) && !strings.Contains(id, "-")
			f := Finding{Severity: severityOf(cell), Refusal: cell.Text}
			class := operation.Safe
			switch {
			case id == "":
				f.Message = "the call of a server tool has no id"
			case call.Answer.ByProvider() && !proper:
				f.Message = "the id of a server tool's call is " + quote(call.ID) + " and not " + prefix + "…"
			case !call.Answer.ByProvider() && begins:
				class = operation.Unsafe
				f.Message = "the id " + quote(call.ID) + " belongs to a server tool, but the client has to run the call"
			default:
				continue
			}
			turn := c.turn(call.Message)
			if c.signed(turn) {
				class = operation.Unsafe
			}
			switch strategy := c.strategyOr("rename"); {
			case strategy == "drop":
				f.Fix = c.dropCall(int32(i))
			case strategy == "text":
				f.Fix = c.callAsText(int32(i))
			case id != "" && (call.Answer.ByProvider() || c.Pairing.Calls[i].Result >= 0):
				f.Fix = c.op(turn, class, "rewrite the id on both sides", &operation.RenameID{Call: int32(i), Result: c.Pairing.Calls[i].Result})
			}
			c.aboutCall(i, f)
		}
	},
}
