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
	What: `Checks for ids that do not match who runs the tool. The ids of tools that Anthropic runs itself
begin with ` + "`srvtoolu_`" + `. No other ids do.`,
	Why: `Proxies for other models write other ids. Clients that flatten a history turn such a call into a
call that the client has to run. The API then waits for a result that nobody can provide.`,
	Repair: `- ` + "`rename`" + ` (default, safe): rewrite the id of a server tool in the call and its result. For a
  client's call with a result this is unsafe, because the type of the call may be wrong instead of
  the id.
- ` + "`drop`" + ` (unsafe): drop the call and its result.
- ` + "`text`" + ` (unsafe): turn the call and its result into text.`,
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
				f.Message = "the server tool call has no id"
			case call.Answer.ByProvider() && !proper:
				f.Message = "the id " + quote(call.ID) + " of a server tool call is not of the form " + prefix + "…"
			case !call.Answer.ByProvider() && begins:
				class = operation.Unsafe
				f.Message = "the id " + quote(call.ID) + " is that of a server tool call, but the client has to run this call"
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
				f.Fix = c.op(turn, class, "rewrite the id in the call and its result", &operation.RenameID{Call: int32(i), Result: c.Pairing.Calls[i].Result})
			}
			c.aboutCall(i, f)
		}
	},
}
