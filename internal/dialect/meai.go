package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// MEAI is the dialect of the messages of Microsoft.Extensions.AI.
var MEAI = &Dialect{
	Name:    "meai",
	Title:   "Microsoft.Extensions.AI messages",
	Summary: "Messages with contents that have a $type. A functionCall is answered by a functionResult in a message with role tool.",
	Where:   "chat histories that .NET apps serialize, Microsoft Agent Framework for .NET",
	Example: `{"role":"assistant","contents":[{"$type":"functionCall","callId":"c1","name":"ls","arguments":{}}]}
{"role":"tool","contents":[{"$type":"functionResult","callId":"c1","result":"a.txt"}]}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"none if !contents",
		"decisive if any contents has $type=functionCall and callId|name|arguments",
		"decisive if any contents has $type=functionResult and callId|result",
		"none if role=tool|function",
		"weak if role:string and any contents has !@this:object",
		"weak if role:string and any contents has !$type",
		"weak if role:string and any contents has $type!=text|reasoning|data|uri|hostedFile|toolApprovalRequest|toolApprovalResponse|functionApprovalRequest|functionApprovalResponse and @tools",
		"shared if role:string and any contents has $type=reasoning",
		"plain if role:string",
	}},
	Members: Members{
		transcript.MemberImage:    "uri",
		transcript.MemberCallName: "name", transcript.MemberArguments: "arguments",
		transcript.MemberContent: "contents", transcript.MemberLastText: "contents.-1.text",
	},
	Strip: []Trace{
		"contents.#.additionalProperties.reasoning_details/thought_signature",
	},
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "contents", Tag: "$type", Joined: true, ResultsAlone: true,
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{
				Is: PartCall, Tag: "functionCall", ID: "callId", Name: "name", Args: "arguments",
				Answer: `{"$type":"functionResult","result":"$text","callId":"$id"}`,
			},
			{Is: PartResult, Tag: "functionResult", ID: "callId", Payload: "result", Error: []*evidence.Cond{{Text: "exception"}}},
			{Is: PartReasoning, Tag: "reasoning", Signature: "protectedData"},
			{Is: PartMedia, Tag: "data"},
			{Is: PartMedia, Tag: "uri"},
			{Is: PartMedia, Tag: "hostedFile"},
			{Is: PartOther, Tag: "toolApprovalRequest"},
			{Is: PartOther, Tag: "toolApprovalResponse"},
			{Is: PartOther, Tag: "functionApprovalRequest"},
			{Is: PartOther, Tag: "functionApprovalResponse"},
		},
		Message:   []Stencil{{JSON: `{"role":"tool","contents":"$blocks"}`}},
		TextBlock: []Stencil{{JSON: `{"$type":"text","text":"$text"}`}},
	}),
}
