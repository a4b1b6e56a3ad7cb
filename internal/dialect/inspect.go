package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Inspect is the dialect of Inspect's evaluation logs: chat messages whose calls
// name their function and its arguments side by side.
var Inspect = &Dialect{
	Name:    "inspect",
	Title:   "Inspect evaluation log",
	Summary: "Messages with tool_calls whose function is a name, answered by messages of role tool.",
	Where:   "samples of .json logs, members of .eval archives, logs of evaluations modelled on them",
	Example: `{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":"ls","arguments":{}}]}
{"role":"tool","tool_call_id":"call_1","function":"ls","content":"a.txt"}`,
	Provider:  "openai",
	Window:    transcript.WindowTool,
	CheckOnly: "an evaluation log repeats its messages among its events",
	Evidence: evidence.NewTable(
		evidence.None.If("!role:string"),
		evidence.Decisive.If().Any("tool_calls", "function:string", "arguments:any", "!name|tool_name").ByList(),
		evidence.Decisive.If().Any("tool_calls", "function:string", "id:any", "!name|tool_name|args|input|parameters|params|kwargs").ByList(),
		evidence.None.If("tool_calls.0:object"),
		evidence.Decisive.If("tool_call_id", "role=tool|function", "function"),
		evidence.Decisive.If("role=tool|function", "function", "content:any", "!content.0:object"),
		evidence.Decisive.If("role=tool|function", "function", "content.0.type:any", "content.0.type!=*tool*"),
		evidence.None.If("role=tool|function"),
		evidence.Weak.If("role:string", "content:any").Alike(),
		evidence.Weak.If("role:string", "tool_calls:array").Alike(),
		evidence.Weak.If("role:string", evidence.Tools).Alike(),
	),
	Holder: &Holder{Members: []string{"epoch", "input", "target", "messages"}, ReadFrom: []string{"messages"}},
	Driver: NewSideList(SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", MessageID: "id",
		Calls: "tool_calls", ID: "id", Name: "function", Args: "arguments",
		ResultID: "tool_call_id", ResultName: "function",
		Error:    "error",
		Thoughts: []string{"reasoning"}, Signature: []string{"signature"},
	}),
}
