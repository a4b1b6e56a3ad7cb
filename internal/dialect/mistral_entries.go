package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
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
	Evidence: evidence.NewTable(
		evidence.Decisive.If("type=tool.execution|agent.handoff", "@keys.#!=1"),
		evidence.Decisive.If("type=function.call", "!role:string", "tool_call_id|name"),
		evidence.Decisive.If("type=function.result", "!role:string", "tool_call_id|result"),
		evidence.None.If("type:string", "type!=message.input|message.output"),
		evidence.None.If("!role:string"),
		evidence.None.If("!content"),
		evidence.None.If("role=tool|function"),
		evidence.None.If("!type", evidence.Tools),
		evidence.None.If("role:string").Any("content", evidence.Tools),
		// Messages are written as others write theirs.
		evidence.Weak.If("role:string", "type=message.input|message.output"),
		evidence.Weak.If("role:string").Alike(),
	),
	Members: map[transcript.Member]Lens{transcript.MemberCallName: "name", transcript.MemberArguments: "arguments"},
	Driver: &Items{
		Type: "type", Role: "role", Text: "content", Messages: []string{"message.input", "message.output"},
		ID: []string{"tool_call_id"}, Item: "id", Name: "name",
		ProviderCalls: []string{"tool.execution", "agent.handoff"},
		Pairs: []ItemPair{
			{Call: "function.call", Outputs: []string{"function.result"}, Kind: transcript.KindFunction, Args: "arguments", Payload: "result"},
		},
	},
}
