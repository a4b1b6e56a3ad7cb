package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// LlamaStack is the dialect of the inference and agents API of Llama Stack.
var LlamaStack = &Dialect{
	Name:    "llama-stack",
	Title:   "Llama Stack messages",
	Summary: "Messages with tool_calls that have a call_id and a tool_name. Each call is answered by a message with role tool and the same call_id.",
	Where:   "request bodies of Llama Stack before it adopted OpenAI's API, histories of programs that use it (known from its client libraries)",
	Example: `{"role":"assistant","content":"","stop_reason":"end_of_turn","tool_calls":[{"call_id":"c1","tool_name":"ls","arguments":{}}]}
{"role":"tool","call_id":"c1","tool_name":"ls","content":"a.txt"}`,
	Provider: "neutral",
	Body:     &Body{Lists: []string{"messages"}},
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"none if tool_call_id|toolCallId",
		"decisive if any tool_calls has tool_name:string and arguments:any, shown by list",
		"decisive if any tool_calls has tool_name:string and call_id:any and !args|input|parameters|params|kwargs, shown by list",
		"none if tool_calls.0:object",
		"decisive if call_id and role=tool|function",
		"none if role=tool|function",
		"weak if role:string and content:any, alike",
		"weak if role:string and tool_calls:array, alike",
		"weak if role:string and @tools, alike",
	}},
	Members: Members{
		transcript.MemberImage: "image_url.url|image.data|image.url",
		transcript.MemberRole:  "role", transcript.MemberCallName: "tool_name", transcript.MemberArguments: "arguments", transcript.MemberResultName: "tool_name",
		transcript.MemberResultContent: "content", transcript.MemberContent: "content",
	},
	Driver: NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", Calls: "tool_calls", ID: "call_id", Name: "tool_name", Args: "arguments",
		ResultID: "call_id", ResultName: "tool_name",
	}),
}
