package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Retell is the dialect of transcripts of Retell calls.
var Retell = &Dialect{
	Name:    "retell",
	Title:   "Retell calls",
	Summary: "A list of utterances. One with role tool_call_invocation is answered by one with role tool_call_result.",
	Where:   "transcript_with_tool_calls of calls and chats from the Retell API",
	Example: `{"role":"tool_call_invocation","tool_call_id":"t1","name":"ls","arguments":"{}"}
{"role":"tool_call_result","tool_call_id":"t1","content":"a.txt"}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: voiceCheckOnly,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if role=tool_call_invocation and name",
		"decisive if role=tool_call_invocation and tool_call_id and arguments",
		"decisive if role=tool_call_result and tool_call_id|content:any",
		"plain if role=user|agent and content:any, alike",
	}},
	Driver: &Events{
		Type: "role",
		Messages: []MessageEvent{
			{Type: "user", Role: transcript.RoleUser, Text: "content"},
			{Type: "agent", Role: transcript.RoleAssistant, Text: "content"},
		},
		Calls:   []CallEvent{{Type: "tool_call_invocation", ID: "tool_call_id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString}},
		Results: []ResultEvent{{Type: "tool_call_result", ID: "tool_call_id", Payload: "content", Error: []*evidence.Cond{{Text: "successful=false"}}}},
	},
}
