package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenInference is the dialect of messages in span attributes.
var OpenInference = &Dialect{
	Name:    "openinference",
	Title:   "OpenInference messages",
	Summary: "Messages with tool_calls that each wrap a tool_call object. Each call is answered by a message with role tool.",
	Where:   "llm.input_messages and llm.output_messages of spans, gen_ai.prompt and gen_ai.completion of OpenLLMetry, or these attributes alone",
	Example: `{"role":"assistant","tool_calls":[{"tool_call":{"id":"c1","function":{"name":"ls","arguments":"{}"}}}]}
{"role":"tool","tool_call_id":"c1","contents":[{"message_content":{"type":"text","text":"a.txt"}}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowNext,
	CheckOnly: "spans record what was sent",
	Slice:     true,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"decisive if any tool_calls has name:string and arguments:any, shown by list, alike",
		"decisive if any tool_calls has name:string and id:any and !args|input|parameters|params|kwargs, shown by list, alike",
		"decisive if any tool_calls has tool_call.function:object, shown by list",
		"decisive if any tool_calls has type=function and tool_call.id:any and !name, shown by list",
		"none if tool_calls.0:object",
		"decisive if tool_call_id and role=tool|function, alike",
		"none if role=tool|function and @tools",
		"decisive if role=tool|function and content|contents:any and !content.0|contents.0:object, alike",
		"decisive if role=tool|function and content.0.type|contents.0.type:any and content.0.type|contents.0.type!=*tool*, alike",
		"none if role=tool|function",
		"weak if role:string and @tools, alike",
		"weak if role:string and any content|contents has @tools, alike",
		"plain if role:string and any content|contents has message_content",
		"plain if role:string and content|contents:any, alike",
		"plain if role:string and tool_calls:array, alike",
	}},
	Driver: NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content|contents",
		Calls:   "tool_calls", ID: "tool_call.id", Function: "tool_call.function",
		Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "tool_call_id", ResultName: "name",
		CallTag: hermesCall, ResultTag: hermesResult,
	}),
}
