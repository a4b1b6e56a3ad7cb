package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Amp is the dialect of Amp threads: Anthropic blocks, with results that hold the
// state of a run.
var Amp = &Dialect{
	Name:    "amp",
	Title:   "Amp thread",
	Summary: "Numbered messages with content blocks. A tool_use is answered by a tool_result that holds a run.",
	Where:   "~/.local/share/amp/threads/T-<id>.json",
	Example: `{"role":"assistant","messageId":1,"content":[{"type":"tool_use","complete":true,"id":"toolu_1","name":"Read","input":{}}]}
{"role":"user","messageId":2,"content":[{"type":"tool_result","toolUseID":"toolu_1","run":{"status":"done","result":"a.txt"}}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowUser,
	CheckOnly: "Amp keeps threads in sync with its server",
	Evidence: &evidence.Table{Rows: []string{
		"none if !messageId",
		"none if !role:string",
		"none if !content",
		"decisive if any content has type=tool_use and complete|text",
		"decisive if state.type and any content has type=tool_use and id|name|input|text",
		"decisive if any content has type=tool_result and run.status!=in-progress|blocked-on-user and toolUseID|run",
		// Programs number Anthropic messages too.
		"shared if any content has type=tool_use and id|name|input|text",
		"shared if any content has type=tool_result and run.status!=in-progress|blocked-on-user and tool_use_id|content",
		"none if role=tool|function",
		"weak if role:string and @tools",
		"weak if role:string and any content has !@this:object",
		"weak if role:string and any content has !type",
		"weak if role:string and any content has type!=text|thinking|redacted_thinking|image|tool_result and @tools",
		"weak if role:string and any content has type=tool_result and run.status!=in-progress|blocked-on-user",
		"shared if role:string and any content has type=thinking|redacted_thinking",
		"plain if role:string",
	}},
	Members: Members{transcript.MemberImage: "source.data"},
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "content", Tag: "type",
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{Is: PartCall, Tag: "tool_use", ID: "id", Name: "name", Args: "input|text"},
			{
				Is: PartResult, Tag: "tool_result", With: []*evidence.Cond{{Text: "run.status!=in-progress|blocked-on-user"}},
				ID: "toolUseID|tool_use_id", Payload: "run|content",
				Error: []*evidence.Cond{{Text: "run.status=error|cancelled|rejected-by-user"}},
			},
			{
				Is: PartState, Tag: "tool_result", With: []*evidence.Cond{{Text: "run.status=blocked-on-user"}},
				ID: "toolUseID|tool_use_id", State: transcript.CallWaiting,
			},
			{Is: PartState, Tag: "tool_result", ID: "toolUseID|tool_use_id", State: transcript.CallRunning},
			{Is: PartReasoning, Tag: "thinking", Signature: "signature"},
			{Is: PartReasoning, Tag: "redacted_thinking", Signature: "data"},
			{Is: PartMedia, Tag: "image"},
		},
		Aborted: []*evidence.Cond{{Text: "state.type=cancelled"}},
	}),
}
