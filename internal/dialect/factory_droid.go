package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// FactoryDroid is the session log of Factory's droid: records that wrap Anthropic
// messages.
var FactoryDroid = &Dialect{
	Name:    "factory-droid",
	Title:   "Factory droid session log",
	Summary: "A log whose message records each wrap an Anthropic message.",
	Where:   "~/.factory/sessions/<directory>/<session>.jsonl",
	Example: `{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-02T03:04:05Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}}
{"type":"message","id":"m2","parentId":"m1","timestamp":"2026-01-02T03:04:06Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a.txt"}]}}`,
	Provider: "anthropic",
	Window:   transcript.WindowLog,
	Evidence: anthropicEvidence,
	Members:  anthropicMembers,
	// Beside the content, it keeps what other APIs answered.
	Strip: []Trace{
		"openaiEncryptedContent/openaiReasoningId/openaiReasoningSummary/openaiMessageId/geminiThoughtSignature/chatCompletionReasoningContent/chatCompletionReasoningField",
	},
	Driver: anthropicBlocks,
	Log: &Log{
		Type: "type", Speaks: []string{"message"}, Payload: "message",
		Kinds:  []string{"session_start", "session_end", "todo_state", "compaction_state"},
		Header: "session_start", HeaderHas: []string{"id", "title", "cwd"},
		ID: "id", Parent: "parentId", Time: "timestamp", Numbered: []string{"messageIndex"}, Envelope: []string{"timestamp"},
		Interrupt: "[Request interrupted by user",
		// 0.229.0 writes the summary with its kind, the last message that it stands for (anchorMessage) and their number.
		Notes: []Noted{{"compaction_state", "summaryText"}},
	},
}

// DroidStreamJSON is the output of Factory's droid with output format stream-json.
var DroidStreamJSON = &Dialect{
	Name:    "droid-stream-json",
	Title:   "Factory droid stream-json",
	Summary: "A log of printed events. A tool_call is answered by a tool_result with the same id.",
	Where:   "output of droid exec --output-format stream-json",
	Example: `{"type":"tool_call","session_id":"s","toolCallId":"call_1","toolName":"ls","parameters":{}}
{"type":"tool_result","session_id":"s","toolCallId":"call_1","value":"a.txt"}`,
	Provider: "anthropic",
	Window:   transcript.WindowLog,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=tool_call and toolName",
		"decisive if type=tool_call and toolCallId|id and parameters",
		"decisive if type=tool_result and toolCallId|value|error",
		// A list of products may have results with ids too.
		"decisive if type=tool_result and id and session_id|messageId|toolId|toolName|isError",
		"plain if type=message and role:string and text:any",
	}},
	Beside:    []string{"toolId", "toolName"},
	CheckOnly: "it is a copy of printed output, and no program resumes from it",
	Driver: &Events{
		Type:     "type",
		Messages: []MessageEvent{{Type: "message", RoleAt: "role", Text: "text"}},
		Calls: []CallEvent{
			{Type: "tool_call", ID: "toolCallId|id", Name: "toolName", Args: "parameters", Want: transcript.ArgsWantObject},
		},
		Results: []ResultEvent{
			{Type: "tool_result", ID: "toolCallId|id", Payload: "value|error", Error: []*evidence.Cond{{Text: "isError=true"}}},
		},
	},
	Log: &Log{
		Type: "type", Speaks: []string{"message", "tool_call", "tool_result"},
		Kinds: []string{"completion"}, Lacks: []string{"message"},
		Time: "timestamp",
	},
}
