package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Kiro is the dialect of Kiro CLI session records.
var Kiro = &Dialect{
	Name:    "kiro",
	Title:   "Kiro CLI session",
	Summary: "Records with a kind. The toolUse blocks of an AssistantMessage are answered by a ToolResults record.",
	Where:   "~/.kiro/sessions/cli/<id>.jsonl",
	Example: `{"version":"v1","kind":"AssistantMessage","data":{"message_id":"m1","content":[{"kind":"toolUse","data":{"toolUseId":"t1","name":"ls","input":{}}}]}}
{"version":"v1","kind":"ToolResults","data":{"message_id":"m2","content":[{"kind":"toolResult","data":{"toolUseId":"t1","content":[{"kind":"text","data":"a.txt"}],"status":"success"}}]}}`,
	Provider:  "neutral",
	Window:    transcript.WindowUser,
	CheckOnly: "its records have ids whose purpose only Kiro knows",
	Evidence: &evidence.Table{Rows: []string{
		"none if kind!=Prompt|AssistantMessage|ToolResults",
		"none if !data.content",
		"decisive if any data.content has kind=toolUse and data.toolUseId|data.name|data.input",
		"decisive if any data.content has kind=toolResult and data.toolUseId|data.content",
		"weak if kind:string and any data.content has !@this:object",
		"weak if kind:string and any data.content has !kind",
		"weak if kind:string and any data.content has kind!=text|image and @tools",
		"plain if kind:string",
	}},
	Driver: NewBlocks(&Blocks{
		Role: "kind", Content: "data.content", Tag: "kind",
		Roles: []RoleName{
			{"Prompt", transcript.RoleUser}, {"AssistantMessage", transcript.RoleAssistant}, {"ToolResults", transcript.RoleUser},
		},
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "data"},
			{Is: PartCall, Tag: "toolUse", ID: "data.toolUseId", Name: "data.name", Args: "data.input", Want: transcript.ArgsWantObject},
			{
				Is: PartResult, Tag: "toolResult", ID: "data.toolUseId", Payload: "data.content",
				Error: []*evidence.Cond{{Text: "data.status=error"}},
			},
			{Is: PartMedia, Tag: "image"},
		},
	}),
}
