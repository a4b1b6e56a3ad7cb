package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ACP is the dialect of session updates of the Agent Client Protocol, as agents and
// editors log them.
var ACP = &Dialect{
	Name:    "acp",
	Title:   "Agent Client Protocol updates",
	Summary: "A log of session/update notifications. A tool_call update begins a call, and a tool_call_update with a final status ends it.",
	Where:   "logs of agents and editors that use the protocol, and Grok CLI sessions",
	Example: `{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"ls","status":"pending","rawInput":{}}}}
{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":"a.txt"}}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it records what was sent over the wire, and no program resumes from it",
	Evidence: &evidence.Table{Rows: []string{
		"decisive if sessionUpdate=tool_call and toolCallId|title",
		// An update names its call.
		"decisive if sessionUpdate=tool_call_update and toolCallId:any",
		"plain if sessionUpdate=user_message_chunk|agent_message_chunk|agent_thought_chunk and content:any",
	}},
	Driver: acpUpdates{&Events{
		Type: "sessionUpdate",
		Messages: []MessageEvent{
			{Type: "user_message_chunk", Role: transcript.RoleUser, Text: "content"},
			{Type: "agent_message_chunk", Role: transcript.RoleAssistant, Text: "content"},
			{Type: "agent_thought_chunk", Role: transcript.RoleAssistant, Text: "content"},
		},
		Calls: []CallEvent{{Type: "tool_call", ID: "toolCallId", Name: "title"}},
		Results: []ResultEvent{{
			Type: "tool_call_update", ID: "toolCallId", Payload: "rawOutput|content",
			Error: []*evidence.Cond{{Text: "status=failed|cancelled"}},
		}},
	}},
	Log: &Log{
		Type:     "params.update.sessionUpdate|update.sessionUpdate|sessionUpdate",
		Payload:  "params.update|update",
		Speaks:   []string{"tool_call", "tool_call_update", "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"},
		Kinds:    []string{"plan", "available_commands_update", "current_mode_update", "config_option_update", "usage_update", "session_info_update"},
		Evidence: []string{"method", "update"}, Agent: "params.sessionId|sessionId", Time: "timestamp",
	},
}

// acpUpdates are events in which several updates report the progress of a call, and
// any of them may end it.
type acpUpdates struct{ *Events }

// Reader implements Driver.
func (d acpUpdates) Reader(b *transcript.Builder) Reader {
	return hook(&acpReader{d.reader(b), map[string]bool{}})
}

type acpReader struct {
	eventsReader
	ended map[string]bool // calls by raw id
}

func (r *acpReader) onCall(v source.Value, call transcript.Call) (transcript.Call, bool) {
	if v.Get("status").Is("cancelled") {
		call.State = transcript.CallInterrupted
	}
	return call, true
}

// ends reports whether an update says that its call is over.
func (r *acpReader) ends(v source.Value) bool {
	status := v.Get("status")
	return status.Is("completed") || status.Is("failed")
}

// onElement leaves out the updates that do not end a call.
func (r *acpReader) onElement(v source.Value) source.Value {
	if v.Get("sessionUpdate").Is("tool_call_update") {
		id := string(v.Get("toolCallId").Raw())
		if r.ended[id] || !r.ends(v) && !v.Get("status").Is("cancelled") {
			r.b.Fields(v, nil, nil) // not a message
			return source.Value{}
		}
		r.ended[id] = true
	}
	return v
}

// onEnd reads the result of a call that ends in the update that begins it.
func (r *acpReader) onEnd(v source.Value) {
	if v.Get("sessionUpdate").Is("tool_call") {
		ends := r.ends(v)
		r.ended[string(v.Get("toolCallId").Raw())] = ends // a reused id belongs to a new call
		if ends {
			r.answer(v, "toolCallId", "rawOutput|content", false)
		}
	}
}
