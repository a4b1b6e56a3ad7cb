package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// LangChain is the dialect of messages as LangChain and LangGraph dump them: as
// they are, as a stored message below data, or as a constructor with kwargs.
var LangChain = &Dialect{
	Name:    "langchain",
	Title:   "LangChain messages",
	Summary: "Messages of type ai with tool_calls, answered by messages of type tool.",
	Where:   "LangGraph thread states, chat history files, LangSmith runs",
	Example: `{"type":"ai","content":"","tool_calls":[{"name":"ls","args":{},"id":"call_1","type":"tool_call"}]}
{"type":"tool","content":"a.txt","name":"ls","tool_call_id":"call_1","status":"success"}`,
	Provider: "langgraph",
	Window:   transcript.WindowTool,
	Marks: []string{
		"human", "ai", "tool", "system", "developer", "function", "chat", "remove", "constructor",
		"HumanMessageChunk", "AIMessageChunk", "ToolMessageChunk", "SystemMessageChunk",
	},
	Members: map[transcript.Member]Lens{transcript.MemberCallName: "name", transcript.MemberArguments: "args"},
	Driver: withKwargs(SideList{
		Body: "data|kwargs", Role: "type|id.-1", Envelope: []string{"lc", "type", "id"},
		Roles: []RoleName{
			{"human", transcript.RoleUser},
			{"ai", transcript.RoleAssistant},
			{"tool", transcript.RoleTool},
			{"system", transcript.RoleSystem},
			{"developer", transcript.RoleSystem},
			{"function", transcript.RoleTool},
			{"chat", transcript.RoleOther},
			{"remove", transcript.RoleNone},
			{"HumanMessage", transcript.RoleUser},
			{"AIMessage", transcript.RoleAssistant},
			{"ToolMessage", transcript.RoleTool},
			{"SystemMessage", transcript.RoleSystem},
			{"FunctionMessage", transcript.RoleTool},
			{"ChatMessage", transcript.RoleOther},
			{"RemoveMessage", transcript.RoleNone},
			{"HumanMessageChunk", transcript.RoleUser},
			{"AIMessageChunk", transcript.RoleAssistant},
			{"ToolMessageChunk", transcript.RoleTool},
			{"SystemMessageChunk", transcript.RoleSystem},
		},
		User: "human|HumanMessage", Assistant: "ai|AIMessage", Tool: "tool|ToolMessage",
		Own: []string{
			"human", "ai", "HumanMessage", "AIMessage", "ToolMessage", "SystemMessage",
			"HumanMessageChunk", "AIMessageChunk", "ToolMessageChunk", "SystemMessageChunk",
		},
		Never:    []string{"role"},
		Faint:    true, // a system message tells nothing
		Controls: []string{"remove", "RemoveMessage"},
		Content:  "content",
		Calls:    "tool_calls", Invalid: "invalid_tool_calls", Lists: true,
		ID: "id", Name: "name", Args: "args", Want: transcript.ArgsWantObject,
		ResultID: "tool_call_id", ResultName: "name", Named: true, LegacyRole: "function",
		Error: "status", Failed: "error",
		Thoughts: []string{"thinking", "redacted_thinking", "reasoning", "reasoning_content"}, Signature: []string{"signature", "data", "encrypted_content"},
		Extra: []Extra{{"additional_kwargs", "{}"}, {"response_metadata", "{}"}, {"id", ""}},
		Other: []Lens{"additional_kwargs.function_call", "additional_kwargs.tool_calls", "additional_kwargs.refusal"},
		Copies: []CopyList{
			{List: "additional_kwargs.tool_calls", ID: "id", Name: "function.name"},
			{List: "content", Tags: []string{"tool_use", "tool_call"}, ID: "id", Name: "name"},
			{List: "content", Tags: []string{"function_call", "custom_tool_call"}, ID: "call_id", Name: "name"},
			{List: "content", Tags: []string{"functionCall"}, ID: "functionCall.id", Name: "functionCall.name"},
			{List: "tool_call_chunks", ID: "id", Name: "name"},
		},
	}),
}
