package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// gooseBlocks reads Goose messages.
var gooseBlocks = gooseMessages{NewBlocks(&Blocks{
	Role: "role", Content: "content", MessageID: "id", Tag: "type",
	Parts: []Part{
		{Is: PartText, Tag: "text", Text: "text"},
		gooseCall("toolRequest"), gooseCall("frontendToolRequest"),
		{
			Is: PartResult, Tag: "toolResponse", ID: "id", Payload: "toolResult.value|toolResult.error|toolResult|content", Inner: "toolResult.value.content",
			Error: []*evidence.Cond{{Text: "toolResult.status=error"}, {Text: "toolResult.value.isError=true"}},
		},
		{Is: PartReasoning, Tag: "thinking", Signature: "signature"},
		{Is: PartReasoning, Tag: "redactedThinking", Signature: "data"},
		{Is: PartMedia, Tag: "image"},
		{Is: PartState, Tag: "toolConfirmationRequest", ID: "id", State: transcript.CallWaiting},
		{
			Is: PartState, Tag: "actionRequired", With: []*evidence.Cond{{Text: "data.actionType=toolConfirmation"}},
			ID: "data.id", State: transcript.CallWaiting,
		},
		{Is: PartAside, Tag: "actionRequired"},
		{Is: PartAside, Tag: "systemNotification"},
	},
	Hidden:    []*evidence.Cond{{Text: "metadata.agentVisible=false"}},
	Message:   []Stencil{{JSON: `{"role":"user","content":"$blocks"}`, Copy: []string{"created"}}},
	TextBlock: []Stencil{{JSON: `{"type":"text","text":"$text"}`}},
})}

// gooseMessages are messages with calls that Goose could not parse.
type gooseMessages struct{ *BlocksDriver }

// Reader implements Driver.
func (d gooseMessages) Reader(b *transcript.Builder) Reader { return hook(&gooseReader{d.reader(b)}) }

type gooseReader struct{ blocksReader }

// onCall marks a call that Goose could not parse. It has no name and no arguments.
func (r *gooseReader) onCall(block source.Value, call transcript.Call) (transcript.Call, bool) {
	if block.Get("toolCall").Get("status").Is("error") {
		call.Unread, call.Form, call.Want = true, transcript.ArgsText, transcript.ArgsWantAny
		call.Args = source.Span{}
		call.SetBad(source.Span{})
	}
	return call, true
}

// gooseEvidence weighs messages, bare or in printed events.
var gooseEvidence = &evidence.Table{Rows: []string{
	"none if !role:string",
	"none if !content",
	"decisive if any content has type=toolRequest|frontendToolRequest and id|toolCall.value.name|toolCall.name|toolCall.value.arguments|toolCall.arguments",
	"decisive if any content has type=toolResponse and id|toolResult|content",
	"none if role=tool|function",
	"weak if role:string and @tools, alike",
	"weak if role:string and any content has !@this:object, alike",
	"weak if role:string and any content has !type, alike",
	"weak if role:string and any content has type!=text|thinking|redactedThinking|image|toolConfirmationRequest|actionRequired|systemNotification and @tools, alike",
	"shared if role:string and any content has type=thinking|redactedThinking, alike",
	"plain if role:string and any content has type=toolConfirmationRequest|actionRequired|systemNotification",
	"plain if role:string, alike",
}}

// Goose is the dialect of Goose messages.
var Goose = &Dialect{
	Name:    "goose",
	Title:   "Goose messages",
	Summary: "Messages with content blocks. A toolRequest is answered by a toolResponse in the next user message.",
	Where:   "goose session export, and ~/.local/share/goose/sessions/*.jsonl of old versions",
	Example: `{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"r1","toolCall":{"status":"success","value":{"name":"ls","arguments":{}}}}]}
{"role":"user","created":2,"content":[{"type":"toolResponse","id":"r1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"a.txt"}],"isError":false}}}]}`,
	Provider: "neutral",
	Window:   transcript.WindowUser,
	Evidence: gooseEvidence,
	Members: Members{
		transcript.MemberImage: "data", transcript.MemberResultBlocks: "toolResult.value.content",
		transcript.MemberCallName:  "toolCall.value.name|toolCall.name",
		transcript.MemberArguments: "toolCall.value.arguments|toolCall.arguments",
		transcript.MemberContent:   "content", transcript.MemberLastText: "content.-1.text",
	},
	Strip: []Trace{
		"content.# if type=reasoning",
		"content.#.metadata.thoughtSignature/thought_signature/reasoning",
		"content.#.thoughtSignature",
	},
	Driver:     gooseBlocks,
	Holder:     &Holder{Members: []string{"working_dir", "conversation"}},
	NewSession: []*evidence.Cond{{Text: "working_dir"}, {Text: "conversation"}},
}

func gooseCall(tag string) Part {
	return Part{
		Is: PartCall, Tag: tag, ID: "id", Name: "toolCall.value.name|toolCall.name", Args: "toolCall.value.arguments|toolCall.arguments",
		Want:   transcript.ArgsWantObject,
		Answer: `{"type":"toolResponse","id":"$id","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"$text"}],"isError":true}}}`,
	}
}

// GooseStreamJSON is the output of Goose with output format stream-json.
var GooseStreamJSON = &Dialect{
	Name:    "goose-stream-json",
	Title:   "Goose stream-json",
	Summary: "A log of printed events, some of which wrap a Goose message.",
	Where:   "output of goose run --output-format stream-json",
	Example: `{"type":"message","message":{"role":"assistant","created":1,"content":[{"type":"toolRequest","id":"r1","toolCall":{"status":"success","value":{"name":"ls","arguments":{}}}}]}}
{"type":"message","message":{"role":"user","created":2,"content":[{"type":"toolResponse","id":"r1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"a.txt"}],"isError":false}}}]}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is a copy of printed output, and no program resumes from it",
	Evidence:  gooseEvidence,
	Members:   Goose.Members,
	Driver:    gooseBlocks,
	Log: &Log{
		Type: "type", Speaks: []string{"message"}, Payload: "message",
		Kinds: []string{"notification", "complete"}, Lacks: []string{"id", "timestamp", "parentId"},
		Time: "timestamp",
	},
}
