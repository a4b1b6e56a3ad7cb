package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AgentFramework is the dialect of the messages of Microsoft Agent Framework for
// Python.
var AgentFramework = &Dialect{
	Name:    "agent-framework",
	Title:   "Microsoft Agent Framework messages",
	Summary: "Messages of contents: function_call, answered by function_result in messages of role tool.",
	Where:   "threads that agents serialize, chat histories that apps save",
	Example: `{"role":"assistant","contents":[{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}]}
{"role":"tool","contents":[{"type":"function_result","call_id":"c1","result":"a.txt"}]}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: evidence.NewTable(
		evidence.None.If("!role.value|role:string"),
		evidence.None.If("!contents"),
		evidence.Decisive.If().Any("contents", "type=function_call", "call_id|name|arguments"),
		evidence.Decisive.If().Any("contents", "type=function_result", "call_id|result|exception"),
		evidence.None.If("!role.value|role=system|developer|user|human|assistant|agent|model|ai|gpt"),
		evidence.Weak.If("role.value|role:string").Any("contents", "!@this:object"),
		evidence.Weak.If("role.value|role:string").Any("contents", "!type"),
		evidence.Weak.If("role.value|role:string").Any("contents", "type!=text|text_reasoning|data|uri|hosted_file|function_approval_request|function_approval_response", evidence.Tools),
		evidence.Shared.If("role.value|role:string").Any("contents", "type=text_reasoning").Shown("value"),
		evidence.Plain.If("role.value|role:string").Shown("value"),
	),
	Members: map[transcript.Member]Lens{
		transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberContent: "contents", transcript.MemberLastText: "contents.-1.text",
	},
	Driver: NewBlocks(Blocks{
		Role: "role.value|role", Content: "contents", MessageID: "message_id", Tag: "type", ResultsAlone: true,
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{
				Is: PartCall, Tag: "function_call", ID: "call_id", Name: "name", Args: "arguments",
				Answer: `{"type":"function_result","call_id":"$id","result":"$text"}`,
			},
			{Is: PartResult, Tag: "function_result", ID: "call_id", Payload: "result|exception", Error: []Cond{{At: "exception"}}},
			{Is: PartReasoning, Tag: "text_reasoning", Signature: "protected_data"},
			{Is: PartMedia, Tag: "data"},
			{Is: PartMedia, Tag: "uri"},
			{Is: PartMedia, Tag: "hosted_file"},
			{Is: PartOther, Tag: "function_approval_request"},
			{Is: PartOther, Tag: "function_approval_response"},
		},
		Message: []Form{
			{If: "role.value", JSON: `{"role":{"type":"role","value":"tool"},"contents":"$blocks"}`, Copy: []string{"type"}},
			{JSON: `{"role":"tool","contents":"$blocks"}`, Copy: []string{"type"}},
		},
		TextBlock: []Form{{JSON: `{"type":"text","text":"$text"}`}},
	}),
}
