package dialect

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

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
	Request:  [][]Cond{{{At: "tools.0.function"}}},
	Window:   transcript.WindowTool,
	// A call with its name beside the id has no function, and needs no type.
	Members: map[transcript.Member]Lens{
		transcript.MemberRole: "role", transcript.MemberCallType: "type|name", transcript.MemberCallName: "function.name|name", transcript.MemberArguments: "function.arguments|arguments|args", transcript.MemberResultName: "name",
		transcript.MemberResultContent: "content", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content", transcript.MemberReasoning: "reasoning_content",
	},
	Past: consolidated,
	Driver: withKwargs(SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool", Control: "_",
		Content: "content", MessageID: "id",
		Calls: "tool_calls|toolCalls", ID: "id|call_id", Function: "function", Custom: "custom",
		Name: "name", Args: "arguments|args", Input: "input", Want: transcript.ArgsWantString,
		ResultID: "tool_call_id|toolCallId|call_id", ResultIDs: "tool_call_ids", ResultName: "name|tool_name",
		// Ollama numbers functions, and names them where others have ids.
		Foreign:       "ollama",
		ForeignCall:   []Cond{{At: "function.index"}},
		ForeignResult: []Cond{{At: "tool_name"}, {At: "tool_call_id", Not: true}},
		ForeignBare:   true,
		LegacyCall:    "function_call", LegacyRole: "function",
		Reasoning: "reasoning_content",
		Thoughts:  []string{"think", "thinking", "redacted_thinking"}, Signature: []string{"signature", "data", "encrypted"},
		Other:  []Lens{"refusal", "audio", "additional_kwargs.tool_calls"},
		Copies: []CopyList{{List: "content", Tags: []string{"tool_use"}, ID: "id", Name: "name"}},
	}),
}

// consolidated returns how many messages the first record of a session of nanobot
// says to be in its summary. What is no number counts nothing.
func consolidated(v source.Value) (n int, says bool) {
	if !v.Get("_type").Is("metadata") {
		return 0, false
	}
	n, _ = strconv.Atoi(string(v.Get("last_consolidated").Raw()))
	return n, true
}
