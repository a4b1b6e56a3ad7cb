package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// qwenBlocks are the contents of a log, in which each answer of the model is a record. So two
// answers in a row are two turns, and a call of the first one has lost its result.
var qwenBlocks = NewBlocks(&Blocks{
	Role: geminiBlocks.Role, NoRole: geminiBlocks.NoRole, Content: geminiBlocks.Content, Positional: true, Inline: true,
	Parts: geminiBlocks.Parts, Message: geminiBlocks.Message, TextBlock: geminiBlocks.TextBlock,
})

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
	// Its loader skips what it cannot parse of a line (gh:QwenLM/qwen-code#3656).
	DamagedLine: DamagedSkipped,
	Evidence:    geminiEvidence,
	Members:     geminiMembers,
	Driver:      qwenBlocks,
	Strip:       geminiStrip,
	Log: &Log{
		Type: "type", Subtype: "subtype", Speaks: []string{"user", "assistant", "tool_result"}, Payload: "message",
		Evidence: []string{"uuid", "parentUuid", "sessionId"},
		ID:       "uuid", Parent: "parentUuid", Time: "timestamp",
		// A walk from the last record stops at a lost parent (gh:QwenLM/qwen-code#6501).
		Straight: true,
		// Results are looked up in what follows up to the next answer (scanModelTurn of 0.24.4).
		Closes: []string{"assistant"},
		Side:   "isSidechain", Agent: "agentId",
		Boundary: []string{"chat_compression"}, History: "systemPayload.compressedHistory",
		ResultType: "tool_result",
		Envelope:   []string{"isSidechain", "agentId", "sessionId", "cwd", "version", "gitBranch", "timestamp"},
	},
}
