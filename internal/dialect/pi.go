package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// piBlocks reads messages of pi and of OpenClaw, which used other keys for some
// fields.
var piBlocks = NewBlocks(&Blocks{
	Role: "role", Content: "content", Tag: "type",
	Parts: []Part{
		{Is: PartText, Tag: "text", Text: "text"},
		piCall("toolCall"), piCall("toolUse"), piCall("functionCall"),
		{Is: PartReasoning, Tag: "thinking", Signature: "thinkingSignature"},
		{Is: PartMedia, Tag: "image"},
	},
	ResultRole: "toolResult",
	ResultMessage: &Part{
		Is: PartResult, ID: "toolCallId|toolUseId", Name: "toolName", Payload: "content",
		Error: []*evidence.Cond{{Text: "isError=true"}},
	},
	Aborted: []*evidence.Cond{{Text: "stopReason=aborted|error"}},
	// transformMessages of pi-ai skips such messages and keeps their results, from 0.49.3 to
	// 1.5.2 (gh:earendil-works/pi#1139, gh:openclaw/openclaw#14322).
	Omitted:   []*evidence.Cond{{Text: "stopReason=aborted|error"}},
	TextBlock: []Stencil{{JSON: `{"type":"text","text":"$text"}`}},
})

var piMembers = Members{
	transcript.MemberImage:    "data|source.data",
	transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberResultName: "toolName", transcript.MemberContent: "content",
	transcript.MemberLastText: "content.-1.text|content",
}

func piCall(tag string) Part {
	return Part{
		Is: PartCall, Tag: tag, ID: "id|toolCallId", Name: "name", Args: "arguments|input", Want: transcript.ArgsWantObject,
		Answer: `{"role":"toolResult","toolCallId":"$id","toolName":"$name","content":[{"type":"text","text":"$text"}],"isError":true}`,
	}
}

// Pi is the dialect of messages of pi and OpenClaw, and of their session logs.
// Early logs have no ids; later ones are a tree of records.
var Pi = &Dialect{
	Name:    "pi",
	Title:   "pi and OpenClaw",
	Summary: "Messages with content blocks, alone or in the records of a session log. A toolCall is answered by a message with role toolResult.",
	Where:   "~/.pi/agent/sessions, ~/.openclaw/agents, contexts that programs save",
	Example: `{"role":"assistant","content":[{"type":"toolCall","id":"call_1","name":"ls","arguments":{}}],"stopReason":"toolUse"}
{"role":"toolResult","toolCallId":"call_1","toolName":"ls","content":[{"type":"text","text":"a.txt"}],"isError":false}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if role=toolResult and toolCallId|toolUseId",
		"none if !role:string",
		"none if !content",
		"decisive if any content has type=toolCall|toolUse|functionCall and id|toolCallId|name|arguments|input",
		"none if role=tool|function",
		"weak if role:string and @tools, alike",
		"weak if role:string and any content has !@this:object, alike",
		"weak if role:string and any content has !type, alike",
		"weak if role:string and any content has type!=text|thinking|image and @tools, alike",
		// Each message of the assistant names its origin.
		"decisive if stopReason and api and provider",
		"shared if role:string and any content has type=thinking, alike",
		"plain if role:string, alike",
	}},
	// Its loader skips each line that is not JSON (gh:earendil-works/pi#8575).
	DamagedLine: DamagedSkipped,
	// A message of the system declares the tools that it adds, and names those that it removes.
	Beside:  []string{"toolsAdded", "toolsRemoved"},
	Members: piMembers,
	Strip: []Trace{
		"content.#.thoughtSignature/textSignature",
	},
	Driver: piBlocks,
	Log: &Log{
		Type: "type", Speaks: []string{"message"}, Payload: "message",
		Kinds: []string{
			"session", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message",
			"label", "session_info", "usage", "context_edit",
		},
		Header: "session", HeaderHas: []string{"cwd", "version", "timestamp"},
		Bare: true,
		ID:   "id", Parent: "parentId", Time: "timestamp", ShortIDs: true,
		Boundary: []string{"compaction"}, KeptFrom: "firstKeptEntryId", KeptIndex: "firstKeptEntryIndex",
		// buildSessionContext sends all three as messages of the user.
		Notes:  []Noted{{"compaction", "summary"}, {"branch_summary", "summary"}, {"custom_message", "content"}},
		Copied: []Lens{"message.timestamp"}, Envelope: []string{"timestamp"},
		Refs:  []string{"firstKeptEntryId", "targetId", "fromId"},
		Hooks: LogHooks{Edit: piEdit},
	},
}

// piEdit returns what a record replaces a message by: projectContextEntry in session-manager.js of
// 1.5.2, and docs/session-format.md there. A text in place of its content has no calls.
func piEdit(record source.Value) (e RecordEdit, is bool) {
	if !record.Get("type").Is("context_edit") {
		return e, false
	}
	e.Target, e.With = record.Get("targetId"), record.Get("replacement")
	for _, block := range e.With.Get("content").Present() {
		if block.Get("type").Is("toolCall") {
			e.Calls = append(e.Calls, string(block.Get("id").Raw()))
		}
	}
	return e, true
}
