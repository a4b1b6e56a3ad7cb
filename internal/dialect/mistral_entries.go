package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// MistralEntries is the dialect of Mistral's Conversations API.
var MistralEntries = &Dialect{
	Name:    "mistral-entries",
	Title:   "Mistral conversation entries",
	Summary: "A flat list of entries. A function.call is answered by a function.result with the same tool_call_id.",
	Where:   "histories and outputs of the Conversations API",
	Example: `{"type":"function.call","tool_call_id":"a1b2c3d4e","name":"ls","arguments":"{}"}
{"type":"function.result","tool_call_id":"a1b2c3d4e","result":"a.txt"}`,
	Provider: "neutral",
	Body:     &Body{Lists: []string{"inputs"}, Text: true, Instead: []string{"tool_confirmations", "from_entry_id"}},
	Window:   transcript.WindowNext,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=tool.execution|agent.handoff and @keys.#!=1",
		"decisive if type=function.call and !role:string and tool_call_id|name",
		"decisive if type=function.result and !role:string and tool_call_id|result",
		"none if type:string and type!=message.input|message.output",
		"none if !role:string",
		"none if !content",
		"none if role=tool|function",
		"none if !type and @tools",
		"none if role:string and any content has @tools",
		// Messages look like those of other dialects.
		"weak if role:string and type=message.input|message.output",
		"weak if role:string, alike",
	}},
	Members: Members{transcript.MemberCallName: "name", transcript.MemberArguments: "arguments"},
	Driver: &Items{
		Type: "type", Role: "role", Text: "content", Messages: []string{"message.input", "message.output"},
		ID: []string{"tool_call_id"}, Item: "id", Name: "name",
		ProviderCalls: []string{"tool.execution", "agent.handoff"},
		Pairs: []ItemPair{
			{Call: "function.call", Outputs: []string{"function.result"}, Kind: transcript.KindFunction, Args: "arguments", Payload: "result"},
		},
	},
}
