package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// MuseCode is the session log of Muse Code.
var MuseCode = &Dialect{
	Name:    "muse-code",
	Title:   "Muse Code session log",
	Summary: "A log of run events. Committed tool calls are answered by a committed batch of results.",
	Where:   "~/.local/share/muse/sessions/**/session.jsonl",
	Example: `{"id":"r1","sequence":1,"payload_type":"runtime.session","payload":{"kind":"run","run_id":"u","event":{"kind":"assistant_tool_calls_committed","message_id":"m1","tool_calls":[{"id":"fc_1","call_id":"call_1","name":"ls","args":"{}"}]}}}
{"id":"r2","sequence":2,"payload_type":"runtime.session","payload":{"kind":"run","run_id":"u","event":{"kind":"tool_result_batch_committed","batch_id":"m1","results":[{"tool_call_index":0,"tool_call_id":"call_1","text":"a.txt"}]}}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "its records are numbered, and a batch of results also refers to its calls by index",
	Evidence: &evidence.Table{Rows: []string{
		"decisive if kind=tool_result_batch_committed and results.0.tool_call_id:any",
		"decisive if tool_calls:array and kind=assistant_tool_calls_committed",
		"plain if kind=assistant_message_committed|assistant_tool_calls_committed and text:any",
		"plain if kind=started and prompt:any",
	}},
	Driver: &Events{
		Type: "kind",
		Messages: []MessageEvent{
			{Type: "started", Role: transcript.RoleUser, Text: "prompt"},
			{Type: "assistant_message_committed", Role: transcript.RoleAssistant, Text: "text"},
			{
				Type: "assistant_tool_calls_committed", Role: transcript.RoleAssistant, Text: "text", Turn: "message_id", Calls: "tool_calls",
				Call: &CallEvent{ID: "call_id", Name: "name", Args: "args", Want: transcript.ArgsWantString},
			},
		},
		Results: []ResultEvent{{Type: "tool_result_batch_committed", In: "results", ID: "tool_call_id", Payload: "text"}},
	},
	Log: &Log{
		Type: "payload.event.kind", Payload: "payload.event", Subtype: "payload.event.terminal",
		Speaks:   []string{"started", "assistant_message_committed", "assistant_tool_calls_committed", "tool_result_batch_committed"},
		Evidence: []string{"payload_type"},
		Kinds:    []string{"model_*", "reasoning_*", "terminal", "user_prompt_display"},
		Time:     "recorded_at",
		Aborts:   []string{"cancelled", "failed", "interrupted"},
	},
}
