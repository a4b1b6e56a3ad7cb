package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// QwenCode is the session log of Qwen Code: Gemini contents in the envelope of
// Claude Code.
var QwenCode = &Dialect{
	Name:    "qwen-code",
	Title:   "Qwen Code session log",
	Summary: "A log of linked records that each wrap a Gemini content.",
	Where:   "~/.qwen/projects/<directory>/chats/<session>.jsonl",
	Example: `{"uuid":"a1","parentUuid":null,"sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"ls","args":{}}}]}}
{"uuid":"t1","parentUuid":"a1","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"ls","response":{"output":"a.txt"}}}]}}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Evidence: geminiEvidence,
	Members:  geminiMembers,
	Strip:    geminiStrip,
	Driver:   geminiBlocks,
	Log: &Log{
		Type: "type", Subtype: "subtype", Speaks: []string{"user", "assistant", "tool_result"}, Payload: "message",
		Evidence: []string{"uuid", "parentUuid", "sessionId"},
		ID:       "uuid", Parent: "parentUuid", Time: "timestamp",
		Side: "isSidechain", Agent: "agentId",
		Boundary: []string{"chat_compression"}, History: "systemPayload.compressedHistory",
		ResultType: "tool_result",
		Envelope:   []string{"isSidechain", "agentId", "sessionId", "cwd", "version", "gitBranch", "timestamp"},
	},
}
