package dialect

import "github.com/toolguard/toolguard/internal/transcript"

// Anthropic is the dialect of the Anthropic Messages API.
var Anthropic = &Dialect{
	Name:    "anthropic",
	Title:   "Anthropic Messages",
	Summary: "Messages of content blocks: tool_use, answered by tool_result in the next user message.",
	Where:   "request bodies, saved histories, Cline and Roo tasks, recorded fixtures",
	Example: `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]}`,
	Provider: "anthropic",
	Window:   transcript.WindowUser,
	Members:  anthropicMembers,
	Driver:   anthropicBlocks,
}

var anthropicBlocks = &Blocks{
	Role: "role", Content: "content", MessageID: "id", Tag: "type", Text: "text",
	Call: "tool_use", ID: "id", Name: "name", Args: "input",
	Result: "tool_result", ResultID: []string{"tool_use_id", "toolUseID"}, Payload: []string{"content", "run"},
	Error:       "is_error",
	ServerCalls: []string{"server_tool_use", "mcp_tool_use"}, ServerResult: "_tool_result",
	Reasoning: []string{"thinking", "redacted_thinking"}, Signature: []string{"signature", "data"},
	Media: []string{"image", "document", "search_result"},
	Want:  transcript.ArgsWantObject,
}

var anthropicMembers = map[transcript.Member]Path{
	transcript.MemberArguments: "input", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content", transcript.MemberCacheMark: "cache_control",
}
