package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AISDKUI is the dialect of messages that the hooks of the AI SDK keep.
var AISDKUI = &Dialect{
	Name:    "ai-sdk-ui",
	Title:   "AI SDK UI messages",
	Summary: "Messages with parts. A tool part holds the call, its state and its output.",
	Where:   "chat histories of apps that use useChat (Vercel AI SDK 4 to 6)",
	Example: `{"id":"m1","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"c1","state":"input-available","input":{}}]}
{"id":"m1","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"c1","state":"output-available","input":{},"output":"a.txt"}]}`,
	Provider: "neutral",
	Window:   transcript.WindowOwn,
	Evidence: &evidence.Table{Rows: []string{
		"none if !parts|toolInvocations",
		"decisive if any parts.? has type=tool-invocation|dynamic-tool|tool-* and toolInvocation.toolCallId|toolCallId",
		"decisive if any toolInvocations.? has toolCallId and toolName and args, shown by list",
		"plain if role=system|developer|user|human|assistant|agent|model|ai|gpt|tool|function and parts.0.type",
	}},
	Members: Members{transcript.MemberImage: "url"},
	Strip: []Trace{
		"parts.#.providerMetadata/callProviderMetadata/resultProviderMetadata.*." + sdkSealed,
		"reasoning if role=assistant",
	},
	Driver: uiMessages{&Combined{
		Plain: []Lens{"role", "parts.0.type"},
		Role:  "role",
		Records: []Records{
			{
				In: "parts", Tag: "type", Calls: []string{"tool-invocation", "dynamic-tool", "tool-*"}, Record: "toolInvocation|",
				Text: "text", Reasoning: "reasoning", Step: "step-start", AsText: Stencil{JSON: `{"type":"text","text":"$text"}`},
				ID: "toolCallId", Name: "toolName", Args: "input|args|rawInput",
				State: "state", States: toolPartStates,
				Result: "output|result", Failure: "errorText|approval.reason",
				ByProvider: "providerExecuted",
				Answer:     []Setting{{To: "state", Raw: `"output-error"`}, {To: "errorText", Raw: `"$text"`}},
			},
			{
				In: "toolInvocations", ID: "toolCallId", Name: "toolName", Args: "args",
				State: "state", States: toolPartStates, Result: "result",
			},
		},
	}},
}

// uiMessages are messages with parts in which a human approves or refuses a call.
type uiMessages struct{ *Combined }

// uiRefusal sets the fields of a part whose call was not approved.
var uiRefusal = []Setting{
	{To: "state", Raw: `"output-denied"`}, {To: "approval.approved", Raw: "false"}, {To: "approval.reason", Raw: `"$text"`, Keep: true},
}

// WriteState implements StateWriter. A call that waits is refused, unless it was
// approved.
func (d uiMessages) WriteState(message source.Value, at source.Span, text string) []Member {
	row := *d.Combined
	for part := range row.Records[0].elements(message) {
		rec, _, ok := row.Records[0].record(part)
		if !ok || part.Span() != at {
			continue
		}
		state := row.Records[0].state(rec)
		if state == nil || state.State != transcript.CallWaiting || Lens("approval.approved").In(rec).True() {
			break
		}
		if !refusable(rec) {
			return nil
		}
		row.Records = slices.Clone(row.Records)
		row.Records[0].Answer = uiRefusal
		break
	}
	return row.WriteState(message, at, text)
}

// refusable reports whether a waiting call can be marked as refused: it has no
// answer yet, or a boolean one. Any other answer is unknown, and a reason without
// an answer would become the reason of the refusal.
func refusable(rec source.Value) bool {
	approval := rec.Get("approval")
	if isSet(approval) && approval.Kind() != source.Object {
		return false
	}
	approved := approval.Get("approved")
	return approved.Kind() == source.Bool || !isSet(approved) && hollow(approval.Get("reason"))
}

// toolPartStates are the states of a tool part, and of a tool invocation of version
// 4, which has no error state.
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
