package dialect

import (
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
	Holder:    &Holder{Members: []string{"epoch", "input", "target", "messages"}, ReadFrom: []string{"messages"}},
	Keywords:  []string{"function"},
	Driver: NewSideList(SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool", WeakPlain: true,
		Content: "content", MessageID: "id",
		Calls: "tool_calls", ID: "id", Name: "function", Args: "arguments",
		ResultID: "tool_call_id", ResultName: "function", ResultNeeds: []Lens{"function"},
		Error:    "error",
		Thoughts: []string{"reasoning"}, Signature: []string{"signature"},
	}),
}
