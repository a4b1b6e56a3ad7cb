package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// LlamaIndex is the dialect of the chat messages of LlamaIndex.
var LlamaIndex = &Dialect{
	Name:    "llamaindex",
	Title:   "LlamaIndex chat messages",
	Summary: "Messages of blocks with calls among or beside them, answered by messages of role tool.",
	Where:   "chat stores and memories that apps save",
	Example: `{"role":"assistant","additional_kwargs":{},"blocks":[{"block_type":"tool_call","tool_call_id":"c1","tool_name":"ls","tool_kwargs":{}}]}
{"role":"tool","additional_kwargs":{"tool_call_id":"c1","name":"ls"},"blocks":[{"block_type":"text","text":"a.txt"}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowTool,
	CheckOnly: "a call is written again in additional_kwargs, as the provider wrote it",
	Marks:     []string{"block_type", "blocks"},
	Driver: NewBlocks(Blocks{
		Role: "role", Content: "blocks", Tag: "block_type",
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{Is: PartCall, Tag: "tool_call", ID: "tool_call_id", Name: "tool_name", Args: "tool_kwargs"},
			{Is: PartReasoning, Tag: "thinking"},
			{Is: PartMedia, Tag: "image"},
			{Is: PartMedia, Tag: "audio"},
			{Is: PartMedia, Tag: "document"},
		},
		Aside:   "additional_kwargs.tool_calls",
		Listed:  &Part{Is: PartCall, ID: "id|call_id", Name: "function.name|name", Args: "function.arguments|arguments"},
		OwnRole: "tool",
		Own:     &Part{Is: PartResult, ID: "additional_kwargs.tool_call_id", Name: "additional_kwargs.name", Payload: "blocks"},
	}),
}
