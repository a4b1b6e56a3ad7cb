package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Mastra is the dialect of messages in Mastra's memory: the parts of the AI SDK
// hooks, below content.
var Mastra = &Dialect{
	Name:    "mastra",
	Title:   "Mastra messages",
	Summary: "Messages with content.format 2. A tool-invocation part holds the call, its state and its result.",
	Where:   "messages of a thread in Mastra's memory, as a list or one message per line",
	Example: `{"id":"m1","role":"assistant","threadId":"t","content":{"format":2,"parts":[{"type":"tool-invocation","toolInvocation":{"state":"call","toolCallId":"c1","toolName":"ls","args":{}}}]}}
{"id":"m1","role":"assistant","threadId":"t","content":{"format":2,"parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c1","toolName":"ls","args":{},"result":"a.txt"}}]}}`,
	Provider: "neutral",
	Window:   transcript.WindowOwn,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if any content.parts.? has type=tool-invocation|dynamic-tool|tool-* and toolInvocation.toolCallId|toolCallId",
		"decisive if any content.toolInvocations.? has toolCallId and toolName and args, shown by list",
		"decisive if content.format:number and !content.role and content.parts|content.toolInvocations",
	}},
	Strip: []Trace{
		"content.parts.#.providerMetadata/callProviderMetadata.*." + sdkSealed,
		"content.parts.#.toolInvocation.providerMetadata/callProviderMetadata.*." + sdkSealed,
		"content.providerMetadata.*." + sdkSealed,
		"content.reasoning",
	},
	Driver: &Combined{
		Role: "role",
		Records: []Records{
			{
				In: "content.parts", Tag: "type", Calls: []string{"tool-invocation", "dynamic-tool", "tool-*"}, Record: "toolInvocation|",
				Text: "text", Reasoning: "reasoning", Step: "step-start", AsText: Stencil{JSON: `{"type":"text","text":"$text"}`},
				ID: "toolCallId", Name: "toolName", Args: "args|input|rawInput",
				State: "state", States: toolPartStates,
				Result: "result|output", Failure: "errorText|approval.reason",
				ByProvider: "providerExecuted",
				Answer:     toolInvocationAnswer,
			},
			{
				In: "content.toolInvocations", ID: "toolCallId", Name: "toolName", Args: "args",
				State: "state", States: toolPartStates, Result: "result", Failure: "errorText", Answer: toolInvocationAnswer,
			},
		},
	},
}
