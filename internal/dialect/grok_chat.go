package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// GrokChat is the chat history of Grok's command line.
var GrokChat = &Dialect{
	Name:    "grok-chat",
	Title:   "Grok chat history",
	Summary: "Lines of type assistant with tool_calls, answered by lines of type tool_result.",
	Where:   "chat_history.jsonl of a session",
	Example: `{"type":"assistant","content":"","tool_calls":[{"id":"call_1","name":"ls","arguments":"{}"}]}
{"type":"tool_result","tool_call_id":"call_1","content":"a.txt"}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: evidence.NewTable(
		evidence.None.If("type!=system|user|assistant|tool_result"),
		evidence.None.If("role"),
		evidence.None.If("message:object"),
		evidence.Decisive.If().Any("tool_calls", "name:string", "arguments:any").ByList(),
		evidence.Decisive.If().Any("tool_calls", "name:string", "id:any", "!args|input|parameters|params|kwargs").ByList(),
		evidence.None.If("tool_calls.0:object"),
		evidence.None.If("type=tool_result", "!tool_call_id"),
		evidence.Decisive.If("tool_call_id", "type=tool_result"),
		evidence.None.If("type=tool_result"),
		evidence.Weak.If("type:string", "content:any"),
		evidence.Weak.If("type:string", "tool_calls:array"),
	),
	Members: map[transcript.Member]Lens{transcript.MemberCallName: "name", transcript.MemberArguments: "arguments"},
	Driver: NewSideList(SideList{
		Role: "type", User: "user", Assistant: "assistant", Tool: "tool_result",
		Roles: []RoleName{
			{"system", transcript.RoleSystem},
			{"user", transcript.RoleUser},
			{"assistant", transcript.RoleAssistant},
			{"tool_result", transcript.RoleTool},
		},
		Controls: []string{"reasoning", "backend_tool_call"},
		Content:  "content",
		Calls:    "tool_calls", ID: "id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
		ResultID: "tool_call_id",
	}),
}
