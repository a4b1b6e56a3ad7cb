package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// DeepSeekHarness is the session log of the DeepSeek harness.
var DeepSeekHarness = &Dialect{
	Name:    "deepseek-harness",
	Title:   "DeepSeek Harness session log",
	Summary: "A log of events, some of which wrap a message with blocks. A tool-call is answered by a tool-result.",
	Where:   "dsh session logs",
	Example: `{"type":"assistant/message","seq":1,"time":1,"data":{"turn":1,"step":1,"message":{"role":"assistant","content":[{"type":"tool-call","id":"call_1","name":"ls","arguments":"{}"}],"id":"m1"}},"surfaceOp":"append"}
{"type":"tool/result","seq":2,"time":2,"data":{"turn":1,"step":1,"message":{"role":"user","content":[{"type":"tool-result","toolCallId":"call_1","content":[{"type":"text","text":"a.txt"}],"isError":false}],"id":"m2"}},"surfaceOp":"append"}`,
	Provider:  "deepseek",
	Window:    transcript.WindowLog,
	CheckOnly: "its events are numbered and refer to each other by number",
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		"none if !content",
		"decisive if any content has type=tool-call and id|name|arguments",
		"decisive if any content has type=tool-result and toolCallId|content",
		"none if role=tool|function",
		"weak if role:string and @tools",
		"weak if role:string and any content has !@this:object",
		"weak if role:string and any content has !type",
		"weak if role:string and any content has type!=text|reasoning|image and @tools",
		"shared if role:string and any content has type=reasoning",
		"plain if role:string",
	}},
	Members: Members{
		transcript.MemberArguments: "arguments", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text",
	},
	Driver: NewBlocks(&Blocks{
		Role: "role", Content: "content", MessageID: "id", Tag: "type",
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{Is: PartCall, Tag: "tool-call", ID: "id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString},
			{
				Is: PartResult, Tag: "tool-result", ID: "toolCallId", Payload: "content",
				Error: []*evidence.Cond{{Text: "isError=true"}},
			},
			{Is: PartReasoning, Tag: "reasoning"},
			{Is: PartMedia, Tag: "image"},
		},
	}),
	Log: &Log{
		Type: "type", Subtype: "data.reason.kind", Payload: "data.message|data",
		Speaks: []string{"user/message", "developer/message", "assistant/message", "tool/result"},
		Kinds: []string{
			"agent/*", "turn/*", "step/*", "session/*", "request/*", "assistant/*", "tool/*", "approval/*", "llm/*", "compaction/*",
			"command/*", "reasoning-chunks", "text-chunks", "tool-call-chunks",
		},
		Header: "session", HeaderHas: []string{"delegationDepth", "createdAt"},
		Evidence: []string{"surfaceOp"},
		Time:     "time",
		Aborts:   []string{"aborted", "cancelled", "stopped", "failed", "rejected"},
	},
}
