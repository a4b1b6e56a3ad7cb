package dialect

import (
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
	Keywords:  []string{"USER", "CHATBOT", "SYSTEM", "TOOL", "tool_results", "outputs"},
	Driver: &Combined{
		Needs:    []string{"message", "tool_results", "outputs"},
		Lacks:    []string{"chat_history", "tools"},
		Evidence: [][]Lens{{"role", "tool_results.0.call"}, {"call.name", "outputs"}},
		Plain:    []Lens{"role", "message"},
		OwnRoles: []string{"USER", "CHATBOT", "SYSTEM", "TOOL"},
		Role:     "role",
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
