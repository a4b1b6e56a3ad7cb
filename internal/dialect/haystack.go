package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Haystack is the dialect of Haystack chat messages.
var Haystack = &Dialect{
	Name:    "haystack",
	Title:   "Haystack chat messages",
	Summary: "Messages with a list of content objects. A tool_call is answered by a message with a tool_call_result.",
	Where:   "serialized chat messages and pipelines",
	Example: `{"role":"assistant","meta":{},"name":null,"content":[{"tool_call":{"tool_name":"ls","arguments":{},"id":"c1"}}]}
{"role":"tool","meta":{},"name":null,"content":[{"tool_call_result":{"result":"a.txt","origin":{"tool_name":"ls","arguments":{},"id":"c1"},"error":false}}]}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role|_role:string",
		"none if !content|_content",
		"decisive if any content|_content has tool_call:object and tool_call.id|tool_call.tool_name|tool_call.arguments",
		"decisive if any content|_content has tool_call_result:object and tool_call_result.origin.id|tool_call_result.result",
		"none if !role|_role=system|developer|user|human|assistant|agent|model|ai|gpt",
		"weak if role|_role:string and @tools, alike",
		"weak if role|_role:string and any content|_content has !@this:object, alike",
		"weak if role|_role:string and any content|_content has *:any and !reasoning|image and !text, alike",
		"weak if role|_role:string and any content|_content has *:any and !reasoning|image and type, alike",
		"shared if role|_role:string and any content|_content has reasoning, shown as role, alike",
		"plain if _role:string and _content:any, shown as role",
		"plain if role|_role:string, shown as role, alike",
	}},
	Members: Members{
		transcript.MemberImage:    "image.base64_image",
		transcript.MemberCallName: "tool_call.tool_name", transcript.MemberArguments: "tool_call.arguments",
		transcript.MemberContent: "content|_content", transcript.MemberLastText: "content.-1.text|_content.-1.text",
	},
	Strip: []Trace{
		"content/_content.#.tool_call.extra.thought_signature",
		"meta/_meta.thought_signatures",
	},
	Driver: &haystack{NewBlocks(&Blocks{
		Role: "role|_role", Content: "content|_content", Positional: true,
		Parts: []Part{
			{Is: PartText, Key: "text", With: []*evidence.Cond{{Text: "!type"}}, Text: "text"},
			{
				Is: PartCall, Key: "tool_call", ID: "tool_call.id", Name: "tool_call.tool_name", Args: "tool_call.arguments",
				// Haystack reads no origin without arguments. Those of the call are not repeated.
				Answer: `{"tool_call_result":{"result":"$text","origin":{"tool_name":"$name","arguments":{},"id":"$id"},"error":true}}`,
			},
			{
				Is: PartResult, Key: "tool_call_result", ID: "tool_call_result.origin.id", Name: "tool_call_result.origin.tool_name",
				Payload: "tool_call_result.result", Error: []*evidence.Cond{{Text: "tool_call_result.error=true"}},
			},
			{Is: PartReasoning, Key: "reasoning"},
			{Is: PartMedia, Key: "image"},
		},
		Message: []Stencil{
			{If: "_role", JSON: `{"_role":"tool","_content":"$blocks"}`},
			{JSON: `{"role":"tool","content":"$blocks"}`},
		},
		TextBlock: []Stencil{{JSON: `{"text":"$text"}`}},
	})},
}

// haystack are messages that each hold one result and no other text.
type haystack struct{ *BlocksDriver }

// WriteResult implements Writer.
func (d *haystack) WriteResult(r NewResult) []Field {
	block := d.BlocksDriver.WriteResult(r)
	if block == nil {
		return nil
	}
	return d.message("["+object(block)+"]", r.Message)
}

// WriteMessage implements Writer. Results are separate messages.
func (d *haystack) WriteMessage(string, source.Value) []Field { return nil }

// WriteText implements Writer.
func (d *haystack) WriteText(t NewText) Text {
	out := d.BlocksDriver.WriteText(t)
	if t.Call || out.Blocks == nil {
		return out
	}
	content := list(out.Blocks)
	if alone(d.Content.In(t.Message)) { // the message keeps its other fields
		key := string(d.Content.Nth(spelling(d.Content, t.Message)))
		return Text{Message: d.userMessage(setFields(t.Message, Field{key, content}))}
	}
	return Text{Message: d.userMessage(d.message(content, t.Message))}
}

// message returns the fields of a message with the given content.
func (d *haystack) message(content string, near source.Value) []Field {
	return append(d.BlocksDriver.WriteMessage(content, near), emptyFields(near, "_name", "_meta", "name", "meta")...)
}
