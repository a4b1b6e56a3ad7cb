package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CohereV1 is the dialect of version 1 of Cohere's chat API.
var CohereV1 = &Dialect{
	Name:    "cohere-v1",
	Title:   "Cohere chat API v1",
	Summary: "A chat_history of messages with tool_calls. The tool_results that answer them repeat the call, because calls have no ids.",
	Where:   "request bodies of v1/chat, histories of programs that use it",
	Example: `{"role":"CHATBOT","message":"","tool_calls":[{"name":"ls","parameters":{}}]}
{"role":"TOOL","tool_results":[{"call":{"name":"ls","parameters":{}},"outputs":[{"text":"a.txt"}]}]}`,
	Provider:  "cohere",
	Body:      &Body{Lists: []string{"chat_history", "tool_results"}, Instead: []string{"message"}},
	Window:    transcript.WindowLog,
	CheckOnly: "a result repeats its call and has no id, so toolguard cannot insert one",
	Evidence: &evidence.Table{Rows: []string{
		"none if !message|tool_results|outputs",
		"none if chat_history|tools:array",
		"decisive if any tool_calls.? has name and parameters, shown by list",
		"decisive if any tool_results.? has call.name",
		"decisive if call.name and !tool_results",
		"decisive if role and tool_results.0.call",
		"decisive if call.name and outputs",
		"decisive if role=USER|CHATBOT|SYSTEM|TOOL and message",
		"plain if role:string and message, alike",
		"plain if role and message, alike",
	}},
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
