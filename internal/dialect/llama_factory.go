package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
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
	Evidence: evidence.NewTable(
		"none if !role:string",
		"decisive if role=tool|function and content.#.value and !content.0:object",
		"decisive if role=tool|function and content.#.value and content.0.type:any and content.0.type!=*tool*",
		"none if role=tool|function",
		"decisive if any content has type=tool_call|tool_calls|function and value:string",
		"weak if role:string and any content has value",
		"weak if role:string and content:any, alike",
		"weak if role:string and @tools, alike",
	),
	Driver: &llamaFactory{&spoken{SideList: &SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", Name: "name", Args: "arguments", Thoughts: []string{"reasoning"},
		CallTag: hermesCall, ResultTag: hermesResult,
	}}},
}

// llamaCalls are tags of parts of the content that are calls.
var llamaCalls = []string{"tool_call", "tool_calls", "function"}

// llamaFactory are messages whose parts have their text as a value.
type llamaFactory struct{ *spoken }

// Reader implements Driver.
func (d *llamaFactory) Reader(b *transcript.Builder) Reader {
	r := &llamaFactoryReader{d.reader(b)}
	r.hooks = r
	return r
}

type llamaFactoryReader struct{ spokenReader }

func (r *llamaFactoryReader) onPart(part, tag source.Value) bool {
	text := part.Get("value")
	switch {
	case contains(llamaCalls, tag):
		r.spoken(text)
	case tag.Is("text") && text.Kind() == source.String:
		r.b.Block(transcript.BlockText, part, textFlags(text))
	default:
		return false
	}
	return true
}
