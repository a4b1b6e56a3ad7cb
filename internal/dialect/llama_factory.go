package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// LLaMAFactory is the dialect of fine-tuning rows of LLaMA-Factory v1.
var LLaMAFactory = &Dialect{
	Name:    "llama-factory",
	Title:   "LLaMA-Factory v1 rows",
	Summary: "Messages of parts with a type and a value: a tool_call is JSON as text, answered by the tool message behind it.",
	Where:   "fine-tuning data",
	Example: `{"role":"assistant","content":[{"type":"tool_call","value":"{\"name\":\"ls\",\"arguments\":{}}"}]}
{"role":"tool","content":[{"type":"text","value":"a.txt"}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowTool,
	Dataset:   true,
	CheckOnly: "what a model is trained on is not made up, and a value is text",
	Marks:     []string{"tool_call", "value"},
	Driver: NewSideList(SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", SpokenParts: []string{"tool_call", "tool_calls", "function"}, PartText: "value",
		Name: "name", Args: "arguments", Thoughts: []string{"reasoning"},
		Mark: []Lens{"content.#.value"}, Faint: true,
	}),
}
