package dialect

import (
	"bytes"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// VSCodeChat is the dialect of chats that VS Code keeps, most of them with GitHub
// Copilot. They are documents, or logs of changes to one.
var VSCodeChat = &Dialect{
	Name:    "vscode-chat",
	Title:   "VS Code chat sessions",
	Summary: "Requests with toolCallRounds, and toolCallResults by call id. A file is a document or a log of changes to one.",
	Where:   "chatSessions/*.json and *.jsonl of VS Code's workspaceStorage (GitHub Copilot Chat)",
	Example: `{"requestId":"r1","message":{"text":"List the files."},"response":[],"result":{"metadata":{"toolCallRounds":[{"id":"t1","response":"","toolCalls":[{"id":"call_1","name":"list_dir","arguments":"{}"}]}],"toolCallResults":{}}}}
{"requestId":"r1","message":{"text":"List the files."},"response":[],"result":{"metadata":{"toolCallRounds":[{"id":"t1","response":"","toolCalls":[{"id":"call_1","name":"list_dir","arguments":"{}"}]}],"toolCallResults":{"call_1":{"content":[{"value":"a.txt"}]}}}}}`,
	Provider:  "neutral",
	Window:    transcript.WindowOwn,
	CheckOnly: "VS Code keeps the session in memory and rewrites the file, and a log of changes refers to values by index",
	Evidence: &evidence.Table{Rows: []string{
		"none if !requestId",
		"decisive if any response.? has kind=toolInvocationSerialized and toolCallId",
		"decisive if requestId and message.text|message.parts and response",
		"decisive if requestId and result.metadata.toolCallRounds",
	}},
	NewSession: []*evidence.Cond{{Text: "requests"}, {Text: "sessionId"}, {Text: "responderUsername"}},
	Patch:      &Patch{List: "v.requests", Effect: vsCodeChange},
	Driver: vsCodeRequests{&Combined{
		Records: []Records{{
			In: "response", Tag: "kind", Calls: []string{"toolInvocationSerialized"}, Reasoning: "thinking",
			ID: "toolCallId", Name: "toolId", Free: true,
			State: "isComplete", States: []StateName{
				{Written: "true", State: transcript.CallDone},
				{Written: "false", State: transcript.CallInterrupted},
			},
		}},
		Aborted: []*evidence.Cond{{Text: "isCanceled=true"}, {Text: "modelState.value=2|3"}, {Text: "result.errorDetails"}, {Text: "result.metadata.maxToolCallsExceeded=true"}},
	}},
}

// vsCodeRequests are elements that hold a human's prompt and the answer to it: the
// rounds of the assistant or, if there are none, the displayed response.
type vsCodeRequests struct{ *Combined }

// Reader implements Driver.
func (d vsCodeRequests) Reader(b *transcript.Builder) Reader {
	return hook(&vsCodeReader{d.reader(b)})
}

type vsCodeReader struct{ combinedReader }

// vsCodeHidden recognizes a request that is no longer sent. One condition is
// enough.
var vsCodeHidden = []*evidence.Cond{{Text: "isHidden=true"}, {Text: "shouldBeRemovedOnSend"}}

// onElement reads a request, of which the row only describes the displayed response.
func (r *vsCodeReader) onElement(v source.Value) source.Value {
	r.b.Fields(v, nil, nil)
	from := len(r.b.Conv.Messages)
	if prompt := Lens("message.text|message").In(v); prompt.Exists() {
		r.b.Begin(prompt, source.Value{}, transcript.RoleUser, "").Flags |= transcript.MessageTyped
		r.text(prompt)
	}
	did := v.Get("result").Get("metadata")
	if rounds := did.Get("toolCallRounds"); rounds.First().Exists() {
		r.rounds(rounds, did.Get("toolCallResults"))
	} else if !hollow(v.Get("response")) {
		r.message(v)
	}
	if evidence.AnyHolds(r.row.Aborted, v) {
		flagMessages(r.b.Conv, from, transcript.MessageAborted)
	}
	if evidence.AnyHolds(vsCodeHidden, v) {
		flagMessages(r.b.Conv, from, transcript.MessageSuperseded)
	}
	return source.Value{}
}

// rounds reads the turns of the assistant, whose calls have results by id, and the
// results that answer no call.
func (r *vsCodeReader) rounds(rounds, results source.Value) {
	b := r.b
	made := map[string]bool{}
	for _, round := range rounds.Present() {
		b.Begin(round, source.Value{}, transcript.RoleAssistant, "")
		if thought := round.Get("thinking"); !hollow(thought) {
			b.Block(transcript.BlockReasoning, thought, 0)
		}
		r.text(round.Get("response"))
		for e := range listed(round.Get("toolCalls")) {
			if e.Kind() != source.Object {
				continue
			}
			b.Fields(e, nil, nil)
			id := e.Get("id")
			made[string(id.Raw())] = true
			call := transcript.Call{ID: transcript.TokenOf(id, e.Span()), Name: transcript.TokenOf(e.Get("name"), e.Span()), Answer: transcript.AnswerOwnRecord}
			setArgs(b, &call, e.Get("arguments"), transcript.ArgsWantString)
			var res *transcript.Result
			if result := named(results, id); isSet(result) {
				call.State = transcript.CallDone
				res = &transcript.Result{ID: call.ID, Name: call.Name}
				res.Hold(result)
			}
			b.Combined(e, call, res)
		}
	}
	for id, result := range results.Members() {
		if made[string(id.Raw())] || !isSet(result) {
			continue
		}
		b.Begin(result, source.Value{}, transcript.RoleTool, "")
		res := transcript.Result{ID: transcript.TokenOf(id, id.Span()), Name: transcript.Token{Span: result.Span()}}
		res.Hold(result)
		b.Result(result, res)
	}
}

// named returns the value of the key whose raw text equals that of id.
func named(v, id source.Value) source.Value {
	for k, val := range v.Members() {
		if bytes.Equal(k.Raw(), id.Raw()) {
			return val
		}
	}
	return source.Value{}
}

// vsCodeChange returns the change that a record of a log makes to the chat.
func vsCodeChange(v source.Value) Change {
	kind := v.Get("kind")
	if !kind.Exists() {
		return Change{}
	}
	at, does := v.Get("k"), Change{Value: v.Get("v"), Length: v.Get("i")}
	if list := does.Value.Get("requests"); writes(kind, "0") && list.Kind() == source.Array && does.Value.Get("sessionId").Exists() {
		return Change{Kind: ChangeBegins, Value: list}
	}
	switch {
	case at.Kind() != source.Array:
		return Change{}
	case writes(kind, "1"):
		does.Kind = ChangeSets
	case writes(kind, "2"):
		does.Kind = ChangeExtends
	case writes(kind, "3"):
		does.Kind = ChangeDeletes
	default:
		return Change{}
	}
	for _, step := range at.Present() {
		does.At = append(does.At, step)
	}
	return does
}
