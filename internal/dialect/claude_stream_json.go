package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// ClaudeStreamJSON is the output of Claude Code and its SDK with output format
// stream-json: the messages of a session and of its subagents, without links.
var ClaudeStreamJSON = &Dialect{
	Name:    "claude-stream-json",
	Title:   "Claude Code stream-json",
	Summary: "A log of printed events that each wrap part of an Anthropic message.",
	Where:   "output of claude -p --output-format stream-json, logs of programs that run it",
	Example: `{"type":"assistant","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]},"parent_tool_use_id":null,"session_id":"s"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]},"parent_tool_use_id":null,"session_id":"s"}`,
	Provider:  "anthropic",
	Window:    transcript.WindowLog,
	Evidence:  anthropicEvidence,
	Members:   anthropicMembers,
	Driver:    anthropicBlocks,
	CheckOnly: "it is a copy of printed output, and no program resumes from it",
	Log: &Log{
		Type: "type", Subtype: "subtype", Speaks: []string{"user", "assistant"}, Payload: "message",
		Kinds:    []string{"system", "result", "stream_event", "control_request", "control_response", "rate_limit_event"},
		Evidence: []string{"session_id", "parent_tool_use_id"}, Lacks: []string{"parentUuid", "sessionId"},
		Time: "timestamp", Agent: "parent_tool_use_id",
		Interrupt: "[Request interrupted by user", Boundary: []string{"compact_boundary"},
	},
}
