package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// LlamaIndex is the dialect of LlamaIndex chat messages.
var LlamaIndex = &Dialect{
	Name:    "llamaindex",
	Title:   "LlamaIndex chat messages",
	Summary: "Messages with blocks. Calls are blocks or are listed beside them, and each is answered by a message with role tool.",
	Where:   "chat stores and memories that apps save",
	Example: `{"role":"assistant","additional_kwargs":{},"blocks":[{"block_type":"tool_call","tool_call_id":"c1","tool_name":"ls","tool_kwargs":{}}]}
{"role":"tool","additional_kwargs":{"tool_call_id":"c1","name":"ls"},"blocks":[{"block_type":"text","text":"a.txt"}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowTool,
	CheckOnly: "additional_kwargs repeats each call in the provider's form",
	Evidence: &evidence.Table{Rows: []string{
		// Calls in additional_kwargs count only if no block is a call.
		"decisive if additional_kwargs.tool_calls.0:object and blocks:any and role!=tool",
		"decisive if role=tool and additional_kwargs.tool_call_id",
		"none if !role:string",
		"none if !blocks",
		"decisive if any blocks has block_type=tool_call and tool_call_id|tool_name|tool_kwargs",
		"none if role=tool|function",
		"weak if role:string and any blocks has !@this:object",
		"weak if role:string and any blocks has !block_type",
		"weak if role:string and any blocks has block_type!=text|thinking|image|audio|document and @tools",
		"shared if role:string and any blocks has block_type=thinking",
		"plain if role:string",
	}},
	Members: Members{transcript.MemberImage: "image"},
	Driver: &llamaIndex{NewBlocks(&Blocks{
		Role: "role", Content: "blocks", Tag: "block_type",
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{Is: PartCall, Tag: "tool_call", ID: "tool_call_id", Name: "tool_name", Args: "tool_kwargs"},
			{Is: PartReasoning, Tag: "thinking"},
			{Is: PartMedia, Tag: "image"},
			{Is: PartMedia, Tag: "audio"},
			{Is: PartMedia, Tag: "document"},
		},
		ResultRole:    "tool",
		ResultMessage: &Part{Is: PartResult, ID: "additional_kwargs.tool_call_id", Name: "additional_kwargs.name", Payload: "blocks"},
	}), NewBlocks(&Blocks{
		Parts: []Part{{Is: PartCall, ID: "id|call_id", Name: "function.name|name", Args: "function.arguments|arguments"}},
	})},
}

// llamaIndex are messages that may list calls in additional_kwargs, in the
// provider's form. The list is read only if no block is a call, because it repeats
// the blocks otherwise.
type llamaIndex struct {
	*BlocksDriver
	kwargs *BlocksDriver // reads a call in additional_kwargs
}

// kwargsCalls leads to the list of calls in additional_kwargs.
const kwargsCalls Lens = "additional_kwargs.tool_calls"

// Reader implements Driver.
func (d *llamaIndex) Reader(b *transcript.Builder) Reader {
	r := &llamaIndexReader{d.reader(b), d.kwargs.reader(b)}
	r.kwargs.use(&r.kwargs)
	return hook(r)
}

type llamaIndexReader struct {
	blocksReader
	kwargs blocksReader
}

// onEnd reads the calls in additional_kwargs.
func (r *llamaIndexReader) onEnd(v source.Value) {
	m, c := r.b.Message(), r.b.Conv
	isCall := func(b transcript.Block) bool { return b.Kind == transcript.BlockCall }
	if m.Role == transcript.RoleTool || slices.ContainsFunc(c.Blocks[m.BlockLo:m.BlockHi], isCall) {
		return
	}
	for _, call := range kwargsCalls.In(v).Present() {
		r.kwargs.call(call, &r.kwargs.row.parts[0], m.Role)
		m.Flags &^= transcript.MessageNull | transcript.MessageEmpty
	}
}
