package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// CopilotCLI is the session log of GitHub Copilot CLI: events, each of which
// names the one before it.
var CopilotCLI = &Dialect{
	Name:    "copilot-cli",
	Title:   "GitHub Copilot CLI events",
	Summary: "A log of linked events: tool requests of an assistant.message, each answered by a tool.execution_complete.",
	Where:   "~/.copilot/session-state/<session>/events.jsonl, transcripts of Copilot Chat in VS Code",
	Example: `{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"call_1","name":"ls","arguments":{}}]},"id":"e1","timestamp":"2026-01-02T03:04:05Z","parentId":null}
{"type":"tool.execution_complete","data":{"toolCallId":"call_1","success":true,"result":{"content":"a.txt"}},"id":"e2","timestamp":"2026-01-02T03:04:06Z","parentId":"e1"}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Driver: &Events{
		Type: "type",
		Says: []Saying{
			{
				Type: "assistant.message", Role: transcript.RoleAssistant, Text: "data.content", Turn: "data.messageId", Calls: "data.toolRequests",
				Call: &CallEvent{
					ID: "toolCallId", Name: "name", Args: "arguments",
					Answer: copilotAnswer,
				},
			},
			{Type: "user.message", Role: transcript.RoleUser, Text: "data.content"},
			{Type: "system.message", Role: transcript.RoleSystem, Text: "data.content"},
		},
		// A sub-agent's calls, or those before a compaction, may have been requested elsewhere.
		Calls: []CallEvent{{Type: "tool.execution_start", ID: "data.toolCallId", Name: "data.toolName", Again: true, Answer: copilotAnswer}},
		Results: []ResultEvent{{
			Type: "tool.execution_complete", ID: "data.toolCallId", Payload: "data.result|data.error",
			Error: []Cond{{At: "data.success", Is: []string{"false"}}},
		}},
	},
	Log: &Log{
		Type: "type", Speaks: []string{"assistant.message", "user.message", "system.message", "tool.execution_start", "tool.execution_complete"},
		Kinds:  []string{"session.*", "assistant.*", "user.message", "system.*", "tool.execution_*", "tool.user_requested", "subagent.*", "hook.*", "abort"},
		Header: "session.start", HeaderHas: []string{"data"},
		Evidence: []string{"parentId"},
		ID:       "id", Parent: "parentId", Time: "timestamp",
		Agent:    "agentId|data.parentToolCallId",
		Boundary: []string{"session.compaction_complete"}, Success: "data.success",
		Aborts:   []string{"abort"},
		Envelope: []string{"agentId", "timestamp"},
		Copied:   []Lens{"data.parentToolCallId", "data.interactionId"},
		CallRefs: []Lens{"data.toolCallId", "data.parentToolCallId"},
		Follows:  []string{"tool.execution_start", "tool.execution_partial_result", "tool.execution_progress", "hook.start", "hook.end"},
	},
}

// copilotAnswer is how a call is answered, whichever event tells of it.
const copilotAnswer = `{"type":"tool.execution_complete","data":{"toolCallId":"$id","success":false,"error":{"message":"$text"}}}`
