package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// ACP are the session updates of the Agent Client Protocol, as agents and
// editors log them.
var ACP = &Dialect{
	Name:    "acp",
	Title:   "Agent Client Protocol updates",
	Summary: "A log of session/update notifications: tool_call, and tool_call_update that says when it has come to its end.",
	Where:   "logs of agents and editors that speak the protocol, Grok CLI sessions",
	Example: `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"ls","status":"pending","rawInput":{}}}}
{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":"a.txt"}}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is a record of what went over the wire, and nothing is ever resumed from it",
	Driver: &Events{
		Type: "sessionUpdate",
		Says: []Saying{
			{Type: "user_message_chunk", Role: transcript.RoleUser, Text: "content"},
			{Type: "agent_message_chunk", Role: transcript.RoleAssistant, Text: "content"},
			{Type: "agent_thought_chunk", Role: transcript.RoleAssistant, Text: "content"},
		},
		Calls: []CallEvent{{
			Type: "tool_call", ID: "toolCallId", Name: "title",
			Done: []Cond{{At: "status", Is: []string{"completed", "failed"}}}, Payload: "rawOutput|content",
			Aborted: []Cond{{At: "status", Is: []string{"cancelled"}}},
		}},
		Results: []ResultEvent{{
			Type: "tool_call_update", ID: "toolCallId", Payload: "rawOutput|content",
			Done:  []Cond{{At: "status", Is: []string{"completed", "failed", "cancelled"}}},
			Error: []Cond{{At: "status", Is: []string{"failed", "cancelled"}}},
		}},
	},
	Log: &Log{
		Type:     "params.update.sessionUpdate|update.sessionUpdate|sessionUpdate",
		Payload:  "params.update|update",
		Speaks:   []string{"tool_call", "tool_call_update", "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"},
		Kinds:    []string{"plan", "available_commands_update", "current_mode_update", "config_option_update", "usage_update", "session_info_update"},
		Evidence: []string{"method", "update"}, Agent: "params.sessionId|sessionId", Time: "timestamp",
	},
}
