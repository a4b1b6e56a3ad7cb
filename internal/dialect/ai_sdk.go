package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AISDK is the dialect of model messages of the Vercel AI SDK, in version 5 and
// earlier ones.
var AISDK = &Dialect{
	Name:    "ai-sdk",
	Title:   "Vercel AI SDK model messages",
	Summary: "Messages with content parts. A tool-call is answered by a tool-result in a message with role tool.",
	Where:   "histories that apps save, telemetry, recorded fixtures",
	Example: `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"ls","input":{}}]}
{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"ls","output":{"type":"text","value":"a.txt"}}]}`,
	Provider: "ai-sdk",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"none if !content",
		"decisive if any content has type=tool-call and toolCallId|toolName|args|input",
		"decisive if any content has type=tool-result and toolCallId|output|result",
		// A message may hold only a human's answer to an approval request.
		"decisive if any content has type=tool-approval-response",
		"none if role=tool|function",
		"weak if role:string and @tools, alike",
		"weak if role:string and any content has !@this:object, alike",
		"weak if role:string and any content has !type, alike",
		"weak if role:string and any content has type!=text|reasoning|redacted-reasoning|image|file|tool-approval-request and @tools, alike",
		"shared if role:string and any content has type=reasoning|redacted-reasoning, alike",
		"plain if role:string, alike",
	}},
	Members: Members{
		transcript.MemberImage: "image|data", transcript.MemberResultBlocks: "output.value",
		transcript.MemberRole: "role", transcript.MemberCallName: "toolName", transcript.MemberArguments: "input", transcript.MemberResultName: "toolName",
		transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content",
	},
	Strip: []Trace{
		"content.#.providerOptions/providerMetadata/experimental_providerMetadata.*." + sdkSealed,
		"providerOptions/providerMetadata/experimental_providerMetadata.*." + sdkSealed,
	},
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "content", MessageID: "id", Tag: "type", Inline: true, ResultsAlone: true,
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{
				// Versions before 5.
				Is: PartCall, Tag: "tool-call", With: []*evidence.Cond{{Text: "args"}}, ID: "toolCallId", Name: "toolName", Args: "args", ByProvider: ranByProvider,
				Answer: `{"type":"tool-result","toolCallId":"$id","toolName":"$name","result":"$text","isError":true}`,
			},
			{
				Is: PartCall, Tag: "tool-call", ID: "toolCallId", Name: "toolName", Args: "input", ByProvider: ranByProvider,
				Answer: `{"type":"tool-result","toolCallId":"$id","toolName":"$name","output":{"type":"error-text","value":"$text"}}`,
			},
			{
				Is: PartResult, Tag: "tool-result", ID: "toolCallId", Name: "toolName", Payload: "output|result", Inner: "output.value", ByProvider: ranByProvider,
				Error: []*evidence.Cond{{Text: "isError=true"}, {Text: "output.type=error-text|error-json|execution-denied"}},
			},
			{Is: PartReasoning, Tag: "reasoning", Signature: "signature|providerOptions.anthropic.signature"},
			{Is: PartReasoning, Tag: "redacted-reasoning", Signature: "data"},
			{Is: PartMedia, Tag: "image"},
			{Is: PartMedia, Tag: "file"},
			{Is: PartState, Tag: "tool-approval-request", ID: "toolCallId", State: transcript.CallWaiting},
			{Is: PartOther, Tag: "tool-approval-response"},
		},
		Message:   []Stencil{{JSON: `{"role":"tool","content":"$blocks"}`}},
		TextBlock: []Stencil{{JSON: `{"type":"text","text":"$text"}`}},
	}),
}

// ranByProvider holds of calls and results of tools that the provider ran.
var ranByProvider = []*evidence.Cond{{Text: "providerExecuted=true"}}

// sdkSealed are the fields in which providers of the AI SDK keep what ties a part to reasoning.
const sdkSealed = "itemId/reasoningEncryptedContent/signature/redactedData/thoughtSignature/reasoning_details/reasoning_opaque/reasoningOpaque"
