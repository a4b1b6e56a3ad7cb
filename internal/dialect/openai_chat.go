package dialect

import "github.com/toolguard/toolguard/internal/transcript"

// OpenAIChat is the dialect of OpenAI Chat Completions, which most other
// providers and stacks copy.
var OpenAIChat = &Dialect{
	Name:    "openai-chat",
	Title:   "OpenAI Chat Completions",
	Summary: "Messages with tool_calls, answered by messages of role tool.",
	Where:   "request bodies, saved histories, fine-tuning and batch files, most agents' own logs",
	Example: `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.txt"}`,
	Provider: "openai",
	Window:   transcript.WindowTool,
	Driver: &SideList{
		Role: "role", Content: "content", MessageID: "id",
		Calls: "tool_calls", ID: "id", Function: "function", Custom: "custom",
		Name: "name", Args: "arguments", Input: "input",
		ResultID: "tool_call_id", ResultIDs: "tool_call_ids", ResultName: "name",
		LegacyCall: "function_call", LegacyRole: "function",
		Reasoning: "reasoning_content",
		Other:     []string{"refusal", "audio"},
		Want:      transcript.ArgsWantString,
		Control:   "_",
	},
}
