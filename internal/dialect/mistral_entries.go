package dialect

import (
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// MistralEntries is the dialect of Mistral's Conversations API.
var MistralEntries = &Dialect{
	Name:    "mistral-entries",
	Title:   "Mistral conversation entries",
	Summary: "Flat entries: function.call, answered by function.result with the same tool_call_id.",
	Where:   "histories and outputs of the Conversations API",
	Example: `{"type":"function.call","tool_call_id":"a1b2c3d4e","name":"ls","arguments":"{}"}
{"type":"function.result","tool_call_id":"a1b2c3d4e","result":"a.txt"}`,
	Provider: "neutral",
	Window:   transcript.WindowNext,
	Keywords: []string{"function.call", "function.result", "tool.execution", "agent.handoff", "message.input", "message.output"},
	Members:  map[transcript.Member]Lens{transcript.MemberCallName: "name", transcript.MemberArguments: "arguments"},
	Driver: mistralItems{&Items{
		Type: "type", Role: "role", Text: "content", Messages: []string{"message.input", "message.output"},
		ID: []string{"tool_call_id"}, Item: "id", Name: "name",
		ProviderCalls: []string{"tool.execution", "agent.handoff"},
		Pairs: []ItemPair{
			{Call: "function.call", Outputs: []string{"function.result"}, Kind: transcript.KindFunction, Args: "arguments", Payload: "result"},
		},
	}},
}

// mistralItems are items among which messages are written as others write theirs.
type mistralItems struct{ *Items }

// Claim implements Driver.
func (d mistralItems) Claim(v source.Value) (Claim, Sign) {
	claim, sign := d.Items.Claim(v)
	if claim == ClaimPlain {
		claim = ClaimWeak
	}
	return claim, sign
}
