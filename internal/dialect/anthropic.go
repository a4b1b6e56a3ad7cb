package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Anthropic is the dialect of the Anthropic Messages API.
var Anthropic = &Dialect{
	Name:    "anthropic",
	Title:   "Anthropic Messages",
	Summary: "Messages with content blocks. A tool_use is answered by a tool_result in the next user message.",
	Where:   "request bodies, saved histories, Cline and Roo tasks, recorded fixtures",
	Example: `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]}`,
	Provider: "anthropic",
	Body:     &Body{Lists: []string{"messages"}},
	Evidence: anthropicEvidence,
	Request: [][]*evidence.Cond{
		{{Text: "anthropic_version"}}, {{Text: "tools.0.input_schema"}}, {{Text: "tools.0.name"}, {Text: "messages"}, {Text: "!tools.0.function"}},
	},
	Window:  transcript.WindowUser,
	Members: anthropicMembers,
	Strip: []Trace{
		"@this if type=reasoning and encrypted_content",
		"reasoning_details if role=assistant",
	},
	Driver: anthropicMessages{anthropicBlocks},
}

// anthropicMessages are messages of the API, also in the sessions of Cline CLI.
type anthropicMessages struct{ *BlocksDriver }

// WriteResult implements Writer. Cline CLI 3.0.65 sends no request with a result that does not name its
// tool ("The messages do not match the ModelMessage[] schema").
func (d anthropicMessages) WriteResult(r NewResult) []Field {
	out := d.BlocksDriver.WriteResult(r)
	if out != nil && r.Name != "" && Lens("modelInfo.provider").Leads(r.Message) {
		out = slices.Insert(out, len(out)-2, Field{"name", r.Name})
	}
	return out
}

// anthropicEvidence weighs messages of the API, bare or in logs.
var anthropicEvidence = &evidence.Table{Rows: []string{
	"none if !role:string",
	"none if !content",
	"decisive if any content has type=tool_use|server_tool_use|mcp_tool_use and id|name|input",
	"decisive if any content has type=tool_result|*_tool_result and tool_use_id|content",
	"none if role=tool|function",
	"weak if role:string and @tools",
	"weak if role:string and any content has !@this:object",
	"weak if role:string and any content has !type",
	"weak if role:string and any content has type!=text|thinking|redacted_thinking|image|document|search_result and @tools",
	"shared if role:string and any content has type=thinking|redacted_thinking",
	"shared if role:string and any content has type=image|document and source.type=base64|url|file",
	"plain if role:string",
}}

var anthropicBlocks = NewBlocks(&Blocks{
	Role: "role", Content: "content", MessageID: "id", Tag: "type",
	Parts: []Part{
		{Is: PartText, Tag: "text", Text: "text"},
		{
			Is: PartCall, Tag: "tool_use", ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject,
			Answer: `{"type":"tool_result","tool_use_id":"$id","content":"$text","is_error":true}`,
		},
		{
			Is: PartResult, Tag: "tool_result", ID: "tool_use_id", Payload: "content",
			Error: []*evidence.Cond{{Text: "is_error=true"}},
		},
		{Is: PartServerCall, Tag: "server_tool_use", ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject},
		{Is: PartServerCall, Tag: "mcp_tool_use", Kind: transcript.KindMCP, ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject},
		{
			Is: PartServerResult, Tag: "mcp_tool_result", Kind: transcript.KindMCP, ID: "tool_use_id", Payload: "content",
			Error: []*evidence.Cond{{Text: "is_error=true"}},
		},
		{
			Is: PartServerResult, Tag: "*_tool_result", ID: "tool_use_id", Payload: "content",
			Error: []*evidence.Cond{{Text: "is_error=true"}},
		},
		{Is: PartReasoning, Tag: "thinking", Signature: "signature", Signs: true},
		{Is: PartReasoning, Tag: "redacted_thinking", Signature: "data", Signs: true},
		{Is: PartMedia, Tag: "image"},
		{Is: PartMedia, Tag: "document"},
		{Is: PartMedia, Tag: "search_result"},
	},
	// Roo and Cline keep messages that they have summarized or truncated.
	Hidden: []*evidence.Cond{{Text: "condenseParent"}, {Text: "truncationParent"}},
	// A message of the system sets the effort from there on, as Claude Code 2.1.330 sends it.
	Says: []*evidence.Cond{{Text: "output_config"}},
	// Roo stores the reasoning of other providers in elements of their own.
	Skip:      []*evidence.Cond{{Text: "type=reasoning"}, {Text: "ts"}, {Text: "!role"}},
	Message:   []Stencil{{JSON: `{"role":"user","content":"$blocks"}`}},
	TextBlock: []Stencil{{JSON: `{"type":"text","text":"$text"}`}},
})

var anthropicMembers = Members{
	transcript.MemberRole: "role", transcript.MemberCallName: "name", transcript.MemberArguments: "input", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content", transcript.MemberCacheMark: "cache_control", transcript.MemberImage: "source.data", transcript.MemberThinking: "thinking.type",
}
