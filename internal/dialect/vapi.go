package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
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
	Evidence: evidence.NewTable(
		evidence.None.If("role!=system|user|bot|tool_calls|tool_call_result"),
		evidence.None.If("content"),
		evidence.Decisive.If("role=tool_calls", "toolCalls.0:object"), // no other dialect has the role
		evidence.Decisive.If().Any("toolCalls", "name:string", "arguments:any").ByList().Alike(),
		evidence.Decisive.If().Any("toolCalls", "name:string", "id:any", "!args|input|parameters|params|kwargs").ByList().Alike(),
		evidence.Decisive.If().Any("toolCalls", "function:object").ByList().Alike(),
		evidence.Decisive.If().Any("toolCalls", "type=function", "id:any", "!name").ByList().Alike(),
		evidence.Decisive.If("toolCalls.0:object", "toolCalls.0.id:string", "role=bot|tool_calls").Alike(),
		evidence.None.If("toolCalls.0:object"),
		evidence.Decisive.If("toolCallId", "role=tool_call_result"),
		evidence.Decisive.If("role=tool_call_result", "message|result:any", "!message.0|result.0:object"),
		evidence.Decisive.If("role=tool_call_result", "message.0.type|result.0.type:any", "message.0.type|result.0.type!=*tool*"),
		evidence.None.If("role=tool_call_result"),
		evidence.Decisive.If("role=bot|tool_calls", "message|result:any", "secondsFromStart"),
		evidence.Decisive.If("role=bot|tool_calls", "message|result:any").Alike(),
		evidence.Weak.If("role:string").Any("message|result", evidence.Tools).Alike(),
		evidence.Plain.If("role:string", "message|result:any", "secondsFromStart"),
		evidence.Plain.If("role:string", "message|result:any").Alike(),
		evidence.Plain.If("role:string", "toolCalls:array").Alike(),
	),
	Driver: NewSideList(SideList{
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

// voiceCheckOnly says why calls that were spoken are not repaired.
const voiceCheckOnly = "it is the record of a call that somebody made, and no model is sent it again"
