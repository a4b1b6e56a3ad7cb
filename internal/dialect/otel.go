package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OTel is the dialect of messages of the OpenTelemetry semantic conventions for
// generative AI.
var OTel = &Dialect{
	Name:    "otel",
	Title:   "OpenTelemetry messages",
	Summary: "Messages with parts, stored on spans. A tool_call is answered by a tool_call_response.",
	Where:   "gen_ai.input.messages and gen_ai.output.messages of spans, or these attributes alone, as lists or as JSON text; exports of tracing tools",
	Example: `{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"ls","arguments":{}}]}
{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"a.txt"}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowNext,
	CheckOnly: "spans record what was sent",
	Slice:     true,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"none if !parts",
		"decisive if any parts has type=tool_call and id|name|arguments",
		"decisive if any parts has type=tool_call_response and id|response|result",
		"none if role=tool|function",
		"weak if role:string and any parts has !@this:object",
		"weak if role:string and any parts has !type",
		"weak if role:string and any parts has type!=text|reasoning|thinking|blob|uri|file and @tools",
		"weak if role:string and any parts has type=text and !content",
		"shared if role:string and any parts has type=reasoning|thinking",
		"plain if role:string",
	}},
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "parts", Tag: "type",
		Parts: []Part{
			{Is: PartText, Tag: "text", With: []*evidence.Cond{{Text: "content"}}, Text: "content"},
			// Some programs write all ids that a call has had; the last one counts.
			{Is: PartCall, Tag: "tool_call", ID: "id.-1|id", Name: "name", Args: "arguments"},
			{Is: PartResult, Tag: "tool_call_response", ID: "id.-1|id", Name: "name", Payload: "response|result"},
			{Is: PartReasoning, Tag: "reasoning"},
			{Is: PartReasoning, Tag: "thinking"},
			{Is: PartMedia, Tag: "blob"},
			{Is: PartMedia, Tag: "uri"},
			{Is: PartMedia, Tag: "file"},
		},
	}),
}
