package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// AISDKUI is the dialect of messages as the hooks of the AI SDK keep them.
var AISDKUI = &Dialect{
	Name:    "ai-sdk-ui",
	Title:   "AI SDK UI messages",
	Summary: "Messages of parts: a tool part holds the call, a state and the output.",
	Where:   "chat histories of apps built with useChat (Vercel AI SDK 4 to 6)",
	Example: `{"id":"m1","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"c1","state":"input-available","input":{}}]}
{"id":"m1","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"c1","state":"output-available","input":{},"output":"a.txt"}]}`,
	Provider: "neutral",
	Window:   transcript.WindowOwn,
	Marks:    []string{"parts", "toolInvocations"},
	Driver: &Combined{
		Members: []string{"parts", "toolInvocations"},
		Plain:   []Lens{"role", "parts.0.type"},
		Role:    "role",
		Records: []Records{
			{
				In: "parts", Tag: "type", Calls: []string{"tool-invocation", "dynamic-tool", "tool-*"}, Record: "toolInvocation|",
				Text: "text", Reasoning: "reasoning", Step: "step-start", AsText: Form{JSON: `{"type":"text","text":"$text"}`},
				ID: "toolCallId", Name: "toolName", Args: "input|args|rawInput",
				State: "state", States: toolPartStates,
				Result: "output|result", Failure: "errorText|approval.reason",
				Server: "providerExecuted",
				Answer: []Setting{{To: "state", Raw: `"output-error"`}, {To: "errorText", Raw: `"$text"`}},
				Refusal: []Setting{
					{To: "state", Raw: `"output-denied"`}, {To: "approval.approved", Raw: "false"}, {To: "approval.reason", Raw: `"$text"`, Keep: true},
				},
				Approval: "approval.approved",
			},
			{
				In: "toolInvocations", ID: "toolCallId", Name: "toolName", Args: "args",
				State: "state", States: toolPartStates, Result: "result",
			},
		},
	},
}

// toolPartStates are the states of a tool part, and of a tool invocation as
// version 4 writes it, which knows no errors.
var toolPartStates = []StateName{
	{Written: "input-streaming", State: transcript.CallInterrupted, Answer: []Setting{
		{To: "state", Raw: `"output-error"`}, {To: "input", Raw: "{}", Keep: true}, {To: "errorText", Raw: `"$text"`},
	}},
	{Written: "input-available", State: transcript.CallOpen},
	{Written: "approval-requested", State: transcript.CallWaiting},
	{Written: "approval-responded", State: transcript.CallWaiting},
	{Written: "output-available", State: transcript.CallDone},
	{Written: "output-error", State: transcript.CallFailed},
	{Written: "output-denied", State: transcript.CallFailed},
	{Written: "partial-call", State: transcript.CallInterrupted, Answer: []Setting{
		{To: "state", Raw: `"result"`}, {To: "args", Raw: "{}", Keep: true}, {To: "result", Raw: `"$text"`},
	}},
	{Written: "call", State: transcript.CallOpen, Answer: toolInvocationAnswer},
	{Written: "result", State: transcript.CallDone},
}

var toolInvocationAnswer = []Setting{{To: "state", Raw: `"result"`}, {To: "result", Raw: `"$text"`}}
