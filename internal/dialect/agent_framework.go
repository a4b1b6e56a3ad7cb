package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AgentFramework is the dialect of messages of Microsoft Agent Framework for
// Python.
var AgentFramework = &Dialect{
	Name:    "agent-framework",
	Title:   "Microsoft Agent Framework messages",
	Summary: "Messages with contents. A function_call is answered by a function_result in a message with role tool.",
	Where:   "serialized threads, chat histories that apps save",
	Example: `{"role":"assistant","contents":[{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}]}
{"role":"tool","contents":[{"type":"function_result","call_id":"c1","result":"a.txt"}]}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role.value|role:string",
		"none if !contents",
		"decisive if any contents has type=function_call and call_id|name|arguments",
		"decisive if any contents has type=function_result and call_id|result|exception",
		"none if !role.value|role=system|developer|user|human|assistant|agent|model|ai|gpt",
		"weak if role.value|role:string and any contents has !@this:object",
		"weak if role.value|role:string and any contents has !type",
		"weak if role.value|role:string and any contents has type!=text|text_reasoning|data|uri|hosted_file|function_approval_request|function_approval_response and @tools",
		"shared if role.value|role:string and any contents has type=text_reasoning, shown as value",
		"plain if role.value|role:string, shown as value",
	}},
	Members: Members{
		transcript.MemberImage:    "uri",
		transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberContent: "contents", transcript.MemberLastText: "contents.-1.text",
	},
	Driver: NewBlocks(&Blocks{
		Role: "role.value|role", Content: "contents", MessageID: "message_id", Tag: "type", ResultsAlone: true,
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{
				Is: PartCall, Tag: "function_call", ID: "call_id", Name: "name", Args: "arguments",
				Answer: `{"type":"function_result","call_id":"$id","result":"$text"}`,
			},
			{Is: PartResult, Tag: "function_result", ID: "call_id", Payload: "result|exception", Error: []*evidence.Cond{{Text: "exception"}}},
			{Is: PartReasoning, Tag: "text_reasoning", Signature: "protected_data"},
			{Is: PartMedia, Tag: "data"},
			{Is: PartMedia, Tag: "uri"},
			{Is: PartMedia, Tag: "hosted_file"},
			{Is: PartOther, Tag: "function_approval_request"},
			{Is: PartOther, Tag: "function_approval_response"},
		},
		Message: []Stencil{
			{If: "role.value", JSON: `{"role":{"type":"role","value":"tool"},"contents":"$blocks"}`, Copy: []string{"type"}},
			{JSON: `{"role":"tool","contents":"$blocks"}`, Copy: []string{"type"}},
		},
		TextBlock: []Stencil{{JSON: `{"type":"text","text":"$text"}`}},
	}),
}
