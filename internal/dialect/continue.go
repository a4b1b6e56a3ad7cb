package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Continue is the dialect of Continue sessions.
var Continue = &Dialect{
	Name:    "continue",
	Title:   "Continue sessions",
	Summary: "History items with a message and toolCallStates. Each state holds the status and the output of a call.",
	Where:   "~/.continue/sessions/*.json",
	Example: `{"message":{"role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},"contextItems":[],"toolCallStates":[{"toolCallId":"c1","toolCall":{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},"status":"calling"}]}
{"message":{"role":"assistant","content":"","toolCalls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},"contextItems":[],"toolCallStates":[{"toolCallId":"c1","toolCall":{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},"status":"done","output":[{"name":"Tool Result","description":"Tool execution result","content":"a.txt"}]}]}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Evidence: &evidence.Table{Rows: []string{
		"none if !contextItems|toolCallStates",
		"decisive if any toolCallStates.? has toolCallId|toolCall.id and toolCall.function.name and toolCall.function.arguments, shown by list",
		"decisive if any message.toolCalls.? has id and function.name and function.arguments, shown by list",
		"decisive if message.toolCallId",
		"decisive if contextItems and message.role",
		"decisive if toolCallStates:array and message.role",
	}},
	Strip: []Trace{
		"@this if message.role=thinking",
	},
	Driver: &Combined{
		Role:  "message.role",
		Roles: []RoleName{{"thinking", transcript.RoleAssistant}},
		Text:  "message.content",
		Records: []Records{
			{
				In: "toolCallStates", ID: "toolCallId|toolCall.id", Name: "toolCall.function.name", Args: "toolCall.function.arguments",
				State: "status", States: []StateName{
					{Written: "generating", State: transcript.CallInterrupted},
					{Written: "generated", State: transcript.CallWaiting},
					{Written: "calling", State: transcript.CallOpen},
					{Written: "done", State: transcript.CallDone},
					{Written: "errored", State: transcript.CallFailed},
					{Written: "canceled", State: transcript.CallInterrupted, Ended: true},
				},
				Result: "output",
				Answer: []Setting{
					{To: "status", Raw: `"errored"`},
					{To: "output", Raw: `[{"name":"Tool Result","description":"Tool execution result","content":"$text"}]`},
				},
			},
			{In: "message.toolCalls", ID: "id", Name: "function.name", Args: "function.arguments", Apart: true},
		},
		Results: ResultList{In: "message", Has: "toolCallId", ID: "toolCallId", Payload: "content"},
	},
}
