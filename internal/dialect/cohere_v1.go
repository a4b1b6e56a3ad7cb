package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CohereV1 is the dialect of the first version of Cohere's chat API.
var CohereV1 = &Dialect{
	Name:    "cohere-v1",
	Title:   "Cohere chat API v1",
	Summary: "A chat_history of messages with tool_calls, answered by tool_results that repeat the call; no ids.",
	Where:   "request bodies of v1/chat, and histories of programs that speak it",
	Example: `{"role":"CHATBOT","message":"","tool_calls":[{"name":"ls","parameters":{}}]}
{"role":"TOOL","tool_results":[{"call":{"name":"ls","parameters":{}},"outputs":[{"text":"a.txt"}]}]}`,
	Provider:  "cohere",
	Window:    transcript.WindowLog,
	CheckOnly: "a result repeats its call and has no id, so that it is not made up",
	Evidence: evidence.NewTable(
		evidence.None.If("!message|tool_results|outputs"),
		evidence.None.If("chat_history|tools:array"),
		evidence.Decisive.If().Any("tool_calls.?", "name", "parameters").ByList(),
		evidence.Decisive.If().Any("tool_results.?", "call.name"),
		evidence.Decisive.If("call.name", "!tool_results"),
		evidence.Decisive.If("role", "tool_results.0.call"),
		evidence.Decisive.If("call.name", "outputs"),
		evidence.Decisive.If("role=USER|CHATBOT|SYSTEM|TOOL", "message"),
		evidence.Plain.If("role:string", "message").Alike(),
		evidence.Plain.If("role", "message").Alike(),
	),
	Driver: &Combined{
		Plain: []Lens{"role", "message"},
		Role:  "role",
		Roles: []RoleName{
			{"USER", transcript.RoleUser},
			{"CHATBOT", transcript.RoleAssistant},
			{"SYSTEM", transcript.RoleSystem},
			{"TOOL", transcript.RoleTool},
		},
		Text:    "message",
		Records: []Records{{In: "tool_calls", Name: "name", Args: "parameters", Want: transcript.ArgsWantObject, Apart: true}},
		Results: ResultList{In: "tool_results|", Has: "call.name", Name: "call.name", Payload: "outputs"},
	},
}
