package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenCode is the dialect of opencode and its forks.
var OpenCode = &Dialect{
	Name:    "opencode",
	Title:   "opencode sessions",
	Summary: "Messages of parts: a tool part holds the call, a status and the output.",
	Where:   "opencode export, opencode run --format json, part files below ~/.local/share/opencode/storage",
	Example: `{"id":"p1","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"running","input":{}}}
{"id":"p1","sessionID":"s","messageID":"m","type":"tool","callID":"c1","tool":"ls","state":{"status":"completed","input":{},"output":"a.txt"}}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Fold:     &Fold{ID: "part.id|id"},
	Driver: &Combined{
		Members: []string{"parts", "part", "sessionID"},
		Marks:   [][]Lens{{"info.role", "parts"}, {"part.sessionID", "part.type"}, {"sessionID", "messageID", "type"}},
		Role:    "info.role|role",
		Turn:    "part.messageID|messageID",
		Aborted: []Cond{{At: "info.error.name"}},
		Records: []Records{{
			In: "parts|part|", Tag: "type", Calls: []string{"tool"}, Text: "text", Reasoning: "reasoning", Step: "step-start",
			AsText: Form{JSON: `{"type":"text","text":"$text"}`, Copy: []string{"id", "sessionID", "messageID"}},
			ID:     "callID", Name: "tool", Args: "state.input",
			State: "state.status", States: []StateName{
				{Written: "pending", State: transcript.CallOpen},
				{Written: "running", State: transcript.CallOpen},
				{Written: "completed", State: transcript.CallDone},
				{Written: "error", State: transcript.CallFailed},
			},
			Result: "state.output", Failure: "state.error",
			Answer: []Setting{
				{To: "state.status", Raw: `"error"`},
				{To: "state.error", Raw: `"$text"`},
				{To: "state.time.start", From: "info.time.created|timestamp", Keep: true},
				{To: "state.time.end", From: "state.time.start|info.time.completed|info.time.created|timestamp"},
			},
		}},
	},
}
