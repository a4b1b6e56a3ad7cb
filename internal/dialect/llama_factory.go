package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// LLaMAFactory is the dialect of fine-tuning data of LLaMA-Factory v1.
var LLaMAFactory = &Dialect{
	Name:    "llama-factory",
	Title:   "LLaMA-Factory v1 rows",
	Summary: "Messages whose parts have a type and a value. A tool_call is JSON text, and the next tool message answers it.",
	Where:   "fine-tuning data",
	Example: `{"role":"assistant","content":[{"type":"tool_call","value":"{\"name\":\"ls\",\"arguments\":{}}"}]}
{"role":"tool","content":[{"type":"text","value":"a.txt"}]}`,
	Provider:  "chat-template",
	Window:    transcript.WindowTool,
	Dataset:   true,
	CheckOnly: "toolguard does not make up training data, and calls and results are plain text",
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"decisive if role=tool|function and content.#.value and !content.0:object",
		"decisive if role=tool|function and content.#.value and content.0.type:any and content.0.type!=*tool*",
		"none if role=tool|function",
		"decisive if any content has type=tool_call|tool_calls|function and value:string",
		"weak if role:string and any content has value",
		"weak if role:string and content:any, alike",
		"weak if role:string and @tools, alike",
	}},
	Driver: &llamaFactory{&textCalls{SideListDriver: NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", Name: "name", Args: "arguments", Thoughts: []string{"reasoning"},
		CallTag: hermesCall, ResultTag: hermesResult,
	})}},
}

// llamaCalls lists the tags of content parts that are calls.
var llamaCalls = []string{"tool_call", "tool_calls", "function"}

// llamaFactory are messages whose parts store their text in value.
type llamaFactory struct{ *textCalls }

// Reader implements Driver.
func (d *llamaFactory) Reader(b *transcript.Builder) Reader {
	return hook(&llamaFactoryReader{d.reader(b)})
}

type llamaFactoryReader struct{ textCallsReader }

func (r *llamaFactoryReader) onPart(part, tag source.Value) bool {
	text := part.Get("value")
	switch {
	case contains(llamaCalls, tag):
		r.readCalls(text)
	case tag.Is("text") && text.Kind() == source.String:
		r.b.Block(transcript.BlockText, part, textFlags(text))
	default:
		return false
	}
	return true
}
