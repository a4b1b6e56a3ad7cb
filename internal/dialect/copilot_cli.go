package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CopilotCLI is the session log of GitHub Copilot CLI: events that each name the
// previous one.
var CopilotCLI = &Dialect{
	Name:    "copilot-cli",
	Title:   "GitHub Copilot CLI events",
	Summary: "A log of linked events. Each tool request of an assistant.message is answered by a tool.execution_complete.",
	Where:   "~/.copilot/session-state/<session>/events.jsonl, transcripts of Copilot Chat in VS Code",
	Example: `{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"call_1","name":"ls","arguments":{}}]},"id":"e1","timestamp":"2026-01-02T03:04:05Z","parentId":null}
{"type":"tool.execution_complete","data":{"toolCallId":"call_1","success":true,"result":{"content":"a.txt"}},"id":"e2","timestamp":"2026-01-02T03:04:06Z","parentId":"e1"}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=tool.execution_start and data.toolCallId|data.toolName",
		"decisive if type=tool.execution_complete and data.toolCallId|data.result|data.error:any",
		"decisive if data.toolRequests:array and type=assistant.message",
		"plain if type=assistant.message|user.message|system.message and data.content:any",
	}},
	Strip: []Trace{
		"data.reasoningText/reasoningOpaque/encryptedContent/reasoningId",
		"data.toolRequests.#.reasoningOpaque/thoughtSignature",
	},
	Driver: copilotEvents{&Events{
		Type: "type",
		Messages: []MessageEvent{
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
		Calls: []CallEvent{{Type: "tool.execution_start", ID: "data.toolCallId", Name: "data.toolName", Answer: copilotAnswer}},
		Results: []ResultEvent{{
			Type: "tool.execution_complete", ID: "data.toolCallId", Payload: "data.result|data.error",
			Error: []*evidence.Cond{{Text: "data.success=false"}},
		}},
	}},
	Log: &Log{
		Type: "type", Speaks: []string{"assistant.message", "user.message", "system.message", "tool.execution_start", "tool.execution_complete"},
		Kinds:  []string{"session.*", "assistant.*", "user.message", "system.*", "tool.execution_*", "tool.user_requested", "subagent.*", "hook.*", "abort"},
		Header: "session.start", HeaderHas: []string{"data"},
		Evidence: []string{"parentId"},
		ID:       "id", Parent: "parentId", Time: "timestamp",
		Agent:    "agentId|data.parentToolCallId",
		Boundary: []string{"session.compaction_complete"}, Success: "data.success",
		Notes:    []Noted{{"session.compaction_complete", "data.summaryContent"}},
		Aborts:   []string{"abort"},
		Envelope: []string{"agentId", "timestamp"},
		Copied:   []Lens{"data.parentToolCallId", "data.interactionId"},
		CallRefs: []Lens{"data.toolCallId", "data.parentToolCallId"},
		Follows:  []string{"tool.execution_start", "tool.execution_partial_result", "tool.execution_progress", "hook.start", "hook.end"},
	},
}

// copilotAnswer is the template for a result, for calls from either kind of event.
const copilotAnswer = `{"type":"tool.execution_complete","data":{"toolCallId":"$id","success":false,"error":{"message":"$text"}}}`

// copilotEvents are events in which the start of a call usually repeats a request
// of a message. The calls of a subagent, or those before a compaction, may have
// been requested elsewhere. The client sends no other call, and leaves out its result.
type copilotEvents struct{ *Events }

// Reader implements Driver.
func (d copilotEvents) Reader(b *transcript.Builder) Reader {
	return hook(&copilotReader{d.reader(b), map[string]bool{}, map[string]bool{}, map[string]bool{}})
}

// copilotText is what becomes of a result, with what the model sees of it.
var copilotText = Stencil{JSON: `{"type":"user.message","data":{"content":"$text"}}`, Copy: []string{"id", "timestamp", "parentId", "agentId"}}

// WriteText implements Writer.
func (d copilotEvents) WriteText(t NewText) Text {
	if t.Call || d.result(d.Type.In(t.Element)) == nil {
		return Text{}
	}
	if said := Lens("data.result.content|data.error.message").In(t.Element); said.Exists() {
		t.Content = said
	}
	return Text{Message: copilotText.write(t.Element, map[string]string{"$text": t.joined()})}
}

type copilotReader struct {
	eventsReader
	// made holds the calls by raw id, and begun those of them that no message has
	// requested yet.
	made, begun map[string]bool
	// asked holds the raw ids of the calls that a message has ever requested.
	asked map[string]bool
}

// Compacted implements Compactor. Earlier requests are no longer in the context.
func (r *copilotReader) Compacted() {
	r.eventsReader.Compacted()
	clear(r.made)
	clear(r.begun)
}

// onElement leaves out the start of a call that a message has requested.
func (r *copilotReader) onElement(v source.Value) source.Value {
	kind, call := v.Get("type"), Lens("data.toolCallId").In(v)
	id := string(call.Raw())
	switch {
	case kind.Is("tool.execution_start") && r.made[id]:
		r.b.Fields(v, nil, nil) // not a message
		return source.Value{}
	case kind.Is("tool.execution_complete"):
		delete(r.begun, id) // a later request is another call
		if noID(call) {
			clear(r.begun) // the result may answer any of them
		}
	}
	return v
}

// ofSubagent reports whether an event is of a subagent.
func ofSubagent(v source.Value) bool {
	return isSet(v.Get("agentId")) || isSet(Lens("data.parentToolCallId").In(v))
}

// onCall reports whether v is the first event of a call.
func (r *copilotReader) onCall(v source.Value, call transcript.Call) (transcript.Call, bool) {
	id := call.ID.Raw
	starts := v.Get("type").Is("tool.execution_start")
	r.asked[id] = r.asked[id] || !starts
	if r.begun[id] {
		r.begun[id] = false
		for i := range slices.Backward(r.b.Conv.Calls) {
			if c := &r.b.Conv.Calls[i]; c.ID.Raw == id {
				c.Unsent = false
				break
			}
		}
		return call, false
	}
	call.Unsent = starts && !r.asked[id] && call.ID.IsString() && call.ID.Text() != "" && !ofSubagent(v)
	r.made[id], r.begun[id] = true, starts
	return call, true
}
