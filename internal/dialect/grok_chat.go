package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// GrokChat is the chat history of the Grok command line.
var GrokChat = &Dialect{
	Name:    "grok-chat",
	Title:   "Grok chat history",
	Summary: "Lines of type assistant with tool_calls. Each call is answered by a line of type tool_result.",
	Where:   "chat_history.jsonl of a Grok CLI session",
	Example: `{"type":"assistant","content":"","tool_calls":[{"id":"call_1","name":"ls","arguments":"{}"}]}
{"type":"tool_result","tool_call_id":"call_1","content":"a.txt"}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if type!=system|user|assistant|tool_result",
		"none if role",
		"none if message:object",
		"decisive if any tool_calls has name:string and arguments:any, shown by list",
		"decisive if any tool_calls has name:string and id:any and !args|input|parameters|params|kwargs, shown by list",
		"none if tool_calls.0:object",
		"none if type=tool_result and !tool_call_id",
		"decisive if tool_call_id and type=tool_result",
		"none if type=tool_result",
		"weak if type:string and content:any",
		"weak if type:string and tool_calls:array",
	}},
	Members: Members{transcript.MemberImage: "image_url.url|image_url", transcript.MemberCallName: "name", transcript.MemberArguments: "arguments"},
	Strip: []Trace{
		"@this if type=reasoning",
		"encrypted_content/reasoning_content if type=assistant",
	},
	Driver: NewSideList(&SideList{
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
