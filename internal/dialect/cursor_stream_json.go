package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CursorStreamJSON is the output of the Cursor command line. The tool of a call is
// the key of the object that holds the call.
var CursorStreamJSON = &Dialect{
	Name:    "cursor-stream-json",
	Title:   "Cursor stream-json",
	Summary: "A log of printed events. A tool_call with subtype started is answered by one with subtype completed and the same call_id.",
	Where:   "output of cursor-agent -p --output-format stream-json",
	Example: `{"type":"tool_call","subtype":"started","call_id":"call_1","tool_call":{"readToolCall":{"args":{"path":"a.txt"}}},"session_id":"s"}
{"type":"tool_call","subtype":"completed","call_id":"call_1","tool_call":{"readToolCall":{"args":{"path":"a.txt"},"result":{"success":{"content":"a"}}}},"session_id":"s"}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is a copy of printed output, and no program resumes from it",
	Evidence: &evidence.Table{Rows: []string{
		"decisive if subtype=started and call_id|tool_call.function.name",
		"decisive if subtype=completed and call_id|tool_call:any",
		"plain if type=user|assistant and !subtype and message.content:any, shown as subtype",
	}},
	Driver: cursorEvents{&Events{
		Type: "subtype|type",
		Messages: []MessageEvent{
			{Type: "user", Role: transcript.RoleUser, Text: "message.content"},
			{Type: "assistant", Role: transcript.RoleAssistant, Text: "message.content"},
		},
		Calls:   []CallEvent{{Type: "started", ID: "call_id", Name: "tool_call.function.name"}},
		Results: []ResultEvent{{Type: "completed", ID: "call_id", Payload: "tool_call"}},
	}},
	Log: &Log{
		Type: "type", Subtype: "subtype", Speaks: []string{"tool_call", "user", "assistant"},
		Kinds: []string{"system", "result", "thinking"},
		// Claude Code could print messages alone too, and comes first in All.
		Evidence: []string{"tool_call", "session_id"}, Lacks: []string{"uuid", "parent_tool_use_id", "toolCallId"},
		Time: "timestamp_ms",
	},
}

// cursorEvents are events in which a call is an object with a single key, the name
// of the tool.
type cursorEvents struct{ *Events }

// Reader implements Driver.
func (d cursorEvents) Reader(b *transcript.Builder) Reader {
	return hook(&cursorReader{d.reader(b)})
}

type cursorReader struct{ eventsReader }

func (r *cursorReader) onCall(v source.Value, call transcript.Call) (transcript.Call, bool) {
	for k, val := range v.Get("tool_call").Members() {
		if !call.Name.Present() && val.Kind() == source.Object {
			call.Name, call.NameInTag = transcript.TokenOf(k, v.Span()), true
		}
	}
	return call, true
}
