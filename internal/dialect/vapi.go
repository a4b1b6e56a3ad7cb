package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// Vapi is the dialect of the messages of a call that Vapi has held.
var Vapi = &Dialect{
	Name:    "vapi",
	Title:   "Vapi calls",
	Summary: "Messages of role tool_calls, answered by messages of role tool_call_result.",
	Where:   "calls as the API of Vapi returns them, end-of-call reports (known from its client libraries)",
	Example: `{"role":"tool_calls","message":"","time":1,"secondsFromStart":1.5,"toolCalls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool_call_result","time":2,"secondsFromStart":2.5,"toolCallId":"call_1","name":"ls","result":"a.txt"}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: voiceCheckOnly,
	Keywords:  []string{"secondsFromStart", "tool_calls", "tool_call_result"},
	Driver: NewSideList(SideList{
		Role: "role", User: "user", Assistant: "bot", Tool: "tool_call_result",
		Roles: []RoleName{
			{"system", transcript.RoleSystem},
			{"user", transcript.RoleUser},
			{"bot", transcript.RoleAssistant},
			{"tool_calls", transcript.RoleAssistant},
			{"tool_call_result", transcript.RoleTool},
		},
		OwnRoles: []string{"bot", "tool_calls"},
		Lacks:    []string{"content"},
		Content:  "message|result", Calls: "toolCalls", ID: "id", Function: "function", Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "toolCallId", ResultName: "name",
	}),
}

// voiceCheckOnly says why calls that were spoken are not repaired.
const voiceCheckOnly = "it is the record of a call that somebody made, and no model is sent it again"
