package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ManagedAgents is the dialect of the events of a session of Claude Managed Agents. An event is
// known by its own id, which its result names
// (https://platform.claude.com/docs/en/managed-agents/events-and-streaming).
var ManagedAgents = &Dialect{
	Name:    "managed-agents",
	Title:   "Claude Managed Agents events",
	Summary: "A list of events. A tool_use of the agent is answered by a tool_result event with its id.",
	Where:   "events of a session, as the API lists and streams them (not verified against a real file)",
	Example: `{"type":"agent.tool_use","id":"sevt_1","name":"bash","input":{"command":"ls"},"processed_at":"2026-01-02T03:04:05Z"}
{"type":"agent.tool_result","id":"sevt_2","tool_use_id":"sevt_1","content":[{"type":"text","text":"a.txt"}],"processed_at":"2026-01-02T03:04:06Z"}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is a copy of events that the API keeps",
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=agent.tool_use|agent.mcp_tool_use|agent.custom_tool_use and id|name|input",
		"decisive if type=agent.tool_result|user.tool_result and tool_use_id|content",
		"decisive if type=agent.mcp_tool_result and mcp_tool_use_id|content",
		"decisive if type=user.custom_tool_result and custom_tool_use_id|content",
		"shared if type=user.message|agent.message and content:any",
	}},
	Driver: &Events{
		Type: "type",
		Messages: []MessageEvent{
			{Type: "user.message", Role: transcript.RoleUser, Text: "content"},
			{Type: "agent.message", Role: transcript.RoleAssistant, Text: "content"},
		},
		Calls: []CallEvent{
			{Type: "agent.tool_use", ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject},
			{Type: "agent.mcp_tool_use", ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject},
			{Type: "agent.custom_tool_use", ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject},
		},
		Results: []ResultEvent{
			{Type: "agent.tool_result", ID: "tool_use_id", Payload: "content", Error: []*evidence.Cond{{Text: "is_error=true"}}},
			{Type: "user.tool_result", ID: "tool_use_id", Payload: "content", Error: []*evidence.Cond{{Text: "is_error=true"}}},
			{Type: "agent.mcp_tool_result", ID: "mcp_tool_use_id", Payload: "content", Error: []*evidence.Cond{{Text: "is_error=true"}}},
			{Type: "user.custom_tool_result", ID: "custom_tool_use_id", Payload: "content", Error: []*evidence.Cond{{Text: "is_error=true"}}},
		},
	},
	Log: &Log{
		Type: "type", Time: "processed_at",
		Speaks: []string{
			"user.message", "agent.message", "agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use",
			"agent.tool_result", "user.tool_result", "agent.mcp_tool_result", "user.custom_tool_result",
		},
		Kinds: []string{"session.*", "span.*", "agent.*", "user.*"},
	},
}
