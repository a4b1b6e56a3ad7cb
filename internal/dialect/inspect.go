package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Inspect is the dialect of Inspect evaluation logs: chat messages whose calls have
// a function name and arguments as fields.
var Inspect = &Dialect{
	Name:    "inspect",
	Title:   "Inspect evaluation log",
	Summary: "Messages with tool_calls whose function is a name. Each call is answered by a message with role tool.",
	Where:   "samples in .json logs, files inside .eval archives, evaluation logs with the same format",
	Example: `{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":"ls","arguments":{}}]}
{"role":"tool","tool_call_id":"call_1","function":"ls","content":"a.txt"}`,
	Provider:  "openai",
	Window:    transcript.WindowTool,
	CheckOnly: "an evaluation log repeats its messages in its events",
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"decisive if any tool_calls has function:string and arguments:any and !name|tool_name, shown by list",
		"decisive if any tool_calls has function:string and id:any and !name|tool_name|args|input|parameters|params|kwargs, shown by list",
		"none if tool_calls.0:object",
		"decisive if tool_call_id and role=tool|function and function",
		"decisive if role=tool|function and function and content:any and !content.0:object",
		"decisive if role=tool|function and function and content.0.type:any and content.0.type!=*tool*",
		"none if role=tool|function",
		"weak if role:string and content:any, alike",
		"weak if role:string and tool_calls:array, alike",
		"weak if role:string and @tools, alike",
	}},
	Holder:  &Holder{Members: []string{"epoch", "input", "target", "messages"}, ReadFrom: []string{"messages"}},
	Members: Members{transcript.MemberImage: "image"},
	Driver: NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", MessageID: "id",
		Calls: "tool_calls", ID: "id", Name: "function", Args: "arguments",
		ResultID: "tool_call_id", ResultName: "function",
		Error:    "error",
		Thoughts: []string{"reasoning"}, Signature: []string{"signature"},
	}),
}
