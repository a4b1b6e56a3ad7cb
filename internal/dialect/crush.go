package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Crush is the dialect of Crush's messages, as its database has them and as its session show
// prints them.
var Crush = &Dialect{
	Name:    "crush",
	Title:   "Crush sessions",
	Summary: "Messages with parts. A tool_call is answered by a tool_result in a tool message.",
	Where:   ".crush/crush.db, crush session show --json",
	Example: `{"role":"assistant","parts":[{"type":"tool_call","data":{"id":"c1","name":"ls","input":"{}","finished":true}}]}
{"role":"tool","parts":[{"type":"tool_result","data":{"tool_call_id":"c1","name":"ls","content":"a.txt","is_error":false}}]}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"none if !parts:array",
		"decisive if role=assistant and any parts has type=tool_call and data.input|data.finished",
		"decisive if role=tool and any parts has type=tool_result and data.tool_call_id",
		"decisive if role=assistant and any parts has type=tool_call and tool_call_id and input",
		"decisive if role=tool and any parts has type=tool_result and tool_call_id",
		"decisive if any parts has type=finish and data.reason",
		"plain if role:string and any parts has type=text and data.text:string",
	}},
	CheckOnly: "Crush keeps its sessions in a database",
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "parts", Tag: "type",
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "data.text|text"},
			{
				Is: PartCall, Tag: "tool_call", ID: "data.id|tool_call_id", Name: "data.name|name", Args: "data.input|input",
				Want: transcript.ArgsWantString, ByProvider: []*evidence.Cond{{Text: "data.provider_executed=true"}},
			},
			{
				Is: PartResult, Tag: "tool_result", ID: "data.tool_call_id|tool_call_id", Name: "data.name|name", Payload: "data.content|content",
				Error: []*evidence.Cond{{Text: "data.is_error|is_error=true"}},
			},
			{Is: PartReasoning, Tag: "reasoning", Signature: "data.signature"},
			{Is: PartMedia, Tag: "image_url"},
			{Is: PartMedia, Tag: "binary"},
			{Is: PartAside, Tag: "finish"},
			{Is: PartText, Tag: "shell_command", Text: "data.output"},
		},
		// What a summary replaces is not sent.
		Hidden: []*evidence.Cond{{Text: "summarized"}},
	}),
}
