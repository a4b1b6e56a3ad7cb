package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Vapi is the dialect of the messages of a Vapi call.
var Vapi = &Dialect{
	Name:    "vapi",
	Title:   "Vapi calls",
	Summary: "Messages with role tool_calls. Each call is answered by a message with role tool_call_result.",
	Where:   "calls from the Vapi API, end-of-call reports (known from its client libraries)",
	Example: `{"role":"tool_calls","message":"","time":1,"secondsFromStart":1.5,"toolCalls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool_call_result","time":2,"secondsFromStart":2.5,"toolCallId":"call_1","name":"ls","result":"a.txt"}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: voiceCheckOnly,
	Evidence: &evidence.Table{Rows: []string{
		"none if role!=system|user|bot|tool_calls|tool_call_result",
		"none if content",
		"decisive if role=tool_calls and toolCalls.0:object", // no other dialect has the role
		"decisive if any toolCalls has name:string and arguments:any, shown by list, alike",
		"decisive if any toolCalls has name:string and id:any and !args|input|parameters|params|kwargs, shown by list, alike",
		"decisive if any toolCalls has function:object, shown by list, alike",
		"decisive if any toolCalls has type=function and id:any and !name, shown by list, alike",
		"decisive if toolCalls.0:object and toolCalls.0.id:string and role=bot|tool_calls, alike",
		"none if toolCalls.0:object",
		"decisive if toolCallId and role=tool_call_result",
		"decisive if role=tool_call_result and message|result:any and !message.0|result.0:object",
		"decisive if role=tool_call_result and message.0.type|result.0.type:any and message.0.type|result.0.type!=*tool*",
		"none if role=tool_call_result",
		"decisive if role=bot|tool_calls and message|result:any and secondsFromStart",
		"decisive if role=bot|tool_calls and message|result:any, alike",
		"weak if role:string and any message|result has @tools, alike",
		"plain if role:string and message|result:any and secondsFromStart",
		"plain if role:string and message|result:any, alike",
		"plain if role:string and toolCalls:array, alike",
	}},
	Driver: NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "bot", Tool: "tool_call_result",
		Roles: []RoleName{
			{"system", transcript.RoleSystem},
			{"user", transcript.RoleUser},
			{"bot", transcript.RoleAssistant},
			{"tool_calls", transcript.RoleAssistant},
			{"tool_call_result", transcript.RoleTool},
		},
		Content: "message|result", Calls: "toolCalls", ID: "id", Function: "function", Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "toolCallId", ResultName: "name",
	}),
}

// voiceCheckOnly says why recorded voice calls are not repaired.
const voiceCheckOnly = "it records a finished conversation, and no model receives it again"
