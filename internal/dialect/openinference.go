package dialect

import (
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
	Keywords:  []string{"tool_call", "message_content"},
	Driver: NewSideList(SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content|contents",
		Calls:   "tool_calls", ID: "tool_call.id", Function: "tool_call.function",
		Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "tool_call_id", ResultName: "name",
		CallTag: hermesCall, ResultTag: hermesResult,
	}),
}
