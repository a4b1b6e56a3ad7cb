package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Letta is the dialect of messages that the Letta server lists.
var Letta = &Dialect{
	Name:    "letta",
	Title:   "Letta messages",
	Summary: "Messages with a message_type. A tool_call_message is answered by a tool_return_message.",
	Where:   "responses and message lists of the Letta API, oldest message first; if the newest message is first, results come before their calls and are reported",
	Example: `{"id":"message-1","date":"2026-01-02T03:04:05+00:00","message_type":"tool_call_message","tool_call":{"name":"ls","arguments":"{}","tool_call_id":"call_1"}}
{"id":"message-2","date":"2026-01-02T03:04:06+00:00","message_type":"tool_return_message","tool_return":"a.txt","status":"success","tool_call_id":"call_1"}`,
	Provider: "neutral",
	Window:   transcript.WindowNext,
	Evidence: &evidence.Table{Rows: []string{
		"none if message_type!=system_message|user_message|assistant_message|reasoning_message|hidden_reasoning_message|tool_call_message|tool_return_message|approval_request_message|approval_response_message",
		"decisive if any tool_calls.? has tool_call_id and name and arguments, shown by list",
		"decisive if any tool_call.? has tool_call_id and name and arguments, shown by list",
		"decisive if any tool_returns.? has tool_return and tool_call_id",
		"decisive if any approvals.? has tool_return and tool_call_id",
		"decisive if tool_return and tool_call_id and !tool_returns|approvals",
		"decisive if message_type and id and date",
		"plain if message_type:string and content",
	}},
	Beside:    []string{"tool_call", "tool_return", "tool_call_id"},
	CheckOnly: "it is a list of messages that the Letta server stores",
	Driver: &Combined{
		Plain: []Lens{"message_type", "content"},
		Role:  "message_type",
		Roles: []RoleName{
			{"system_message", transcript.RoleSystem},
			{"user_message", transcript.RoleUser},
			{"assistant_message", transcript.RoleAssistant},
			{"reasoning_message", transcript.RoleAssistant},
			{"hidden_reasoning_message", transcript.RoleAssistant},
			{"tool_call_message", transcript.RoleAssistant},
			{"approval_request_message", transcript.RoleAssistant},
			{"tool_return_message", transcript.RoleTool},
			{"approval_response_message", transcript.RoleTool},
		},
		Turn: "id", // shared by reasoning and calls of one message
		Text: "content",
		Records: []Records{
			{In: "tool_calls", ID: "tool_call_id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString, Apart: true},
			{In: "tool_call", ID: "tool_call_id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString, Apart: true},
		},
		// An approval is not a result, but a list of approvals may hold the result
		// of a tool that the client ran.
		Results: ResultList{In: "tool_returns|approvals|", Has: "tool_return", ID: "tool_call_id", Payload: "tool_return"},
	},
}
