package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenInference is the dialect of messages that are told by attributes of spans.
var OpenInference = &Dialect{
	Name:    "openinference",
	Title:   "OpenInference messages",
	Summary: "Messages with tool_calls that each hold a tool_call, answered by messages of role tool.",
	Where:   "llm.input_messages and llm.output_messages of spans, gen_ai.prompt and gen_ai.completion of OpenLLMetry, or the attributes alone",
	Example: `{"role":"assistant","tool_calls":[{"tool_call":{"id":"c1","function":{"name":"ls","arguments":"{}"}}}]}
{"role":"tool","tool_call_id":"c1","contents":[{"message_content":{"type":"text","text":"a.txt"}}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowNext,
	CheckOnly: "spans are records of what was sent",
	Slice:     true,
	Evidence: evidence.NewTable(
		evidence.None.If("!role:string"),
		evidence.Decisive.If().Any("tool_calls", "name:string", "arguments:any").ByList().Alike(),
		evidence.Decisive.If().Any("tool_calls", "name:string", "id:any", "!args|input|parameters|params|kwargs").ByList().Alike(),
		evidence.Decisive.If().Any("tool_calls", "tool_call.function:object").ByList(),
		evidence.Decisive.If().Any("tool_calls", "type=function", "tool_call.id:any", "!name").ByList(),
		evidence.None.If("tool_calls.0:object"),
		evidence.Decisive.If("tool_call_id", "role=tool|function").Alike(),
		evidence.Decisive.If("role=tool|function", "content|contents:any", "!content.0|contents.0:object").Alike(),
		evidence.Decisive.If("role=tool|function", "content.0.type|contents.0.type:any", "content.0.type|contents.0.type!=*tool*").Alike(),
		evidence.None.If("role=tool|function"),
		evidence.Weak.If("role:string", evidence.Tools).Alike(),
		evidence.Weak.If("role:string").Any("content|contents", evidence.Tools).Alike(),
		evidence.Plain.If("role:string").Any("content|contents", "message_content"),
		evidence.Plain.If("role:string", "content|contents:any").Alike(),
		evidence.Plain.If("role:string", "tool_calls:array").Alike(),
	),
	Driver: NewSideList(SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content|contents",
		Calls:   "tool_calls", ID: "tool_call.id", Function: "tool_call.function",
		Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "tool_call_id", ResultName: "name",
		CallTag: hermesCall, ResultTag: hermesResult,
	}),
}
