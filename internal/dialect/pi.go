package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// piBlocks reads the messages of pi and of OpenClaw, which wrote some members
// under other names.
var piBlocks = &pi{NewBlocks(Blocks{
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
		Error: []Cond{{At: "isError", Is: []string{"true"}}},
	},
	Aborted:   []Cond{{At: "stopReason", Is: []string{"aborted", "error"}}},
	TextBlock: []Form{{JSON: `{"type":"text","text":"$text"}`}},
})}

// pi are messages of which each of the model says whence it came.
type pi struct{ *Blocks }

// Claim implements Driver. Such a message is known though it holds no call.
func (d *pi) Claim(v source.Value) (Claim, Sign) {
	claim, sign := d.Blocks.Claim(v)
	if (claim == ClaimPlain || claim == ClaimShared) && hasMembers(v, "stopReason", "api", "provider") {
		return ClaimDecisive, Sign{Member: "stopReason"}
	}
	return claim, sign
}

// hasMembers reports whether v has all members of these names.
func hasMembers(v source.Value, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !there(v.Get(name)) })
}

var piMembers = map[transcript.Member]Lens{
	transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberResultName: "toolName", transcript.MemberContent: "content",
	transcript.MemberLastText: "content.-1.text|content",
}

func piCall(tag string) Part {
	return Part{
		Is: PartCall, Tag: tag, ID: "id|toolCallId", Name: "name", Args: "arguments|input", Want: transcript.ArgsWantObject,
		Answer: `{"role":"toolResult","toolCallId":"$id","toolName":"$name","content":[{"type":"text","text":"$text"}],"isError":true}`,
	}
}

// Pi is the dialect of the messages of pi and OpenClaw, and of their session
// logs: first without ids, later a tree of records.
var Pi = &Dialect{
	Name:    "pi",
	Title:   "pi and OpenClaw",
	Summary: "Messages of content blocks, alone or in the records of a session log: toolCall, answered by messages of role toolResult.",
	Where:   "~/.pi/agent/sessions, ~/.openclaw/agents, contexts that programs save",
	Example: `{"role":"assistant","content":[{"type":"toolCall","id":"call_1","name":"ls","arguments":{}}],"stopReason":"toolUse"}
{"role":"toolResult","toolCallId":"call_1","toolName":"ls","content":[{"type":"text","text":"a.txt"}],"isError":false}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Keywords: []string{"toolCall", "toolResult", "toolUse", "functionCall", "stopReason"},
	Members:  piMembers,
	Driver:   piBlocks,
	Log: &Log{
		Type: "type", Speaks: []string{"message"}, Payload: "message",
		Kinds: []string{
			"session", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message",
			"label", "session_info",
		},
		Header: "session", HeaderHas: []string{"cwd", "version", "timestamp"},
		Bare: true,
		ID:   "id", Parent: "parentId", Time: "timestamp", ShortIDs: true,
		Boundary: []string{"compaction"}, KeptFrom: "firstKeptEntryId", KeptIndex: "firstKeptEntryIndex",
		Copied: []Lens{"message.timestamp"}, Envelope: []string{"timestamp"},
		Refs: []string{"firstKeptEntryId", "targetId", "fromId"},
	},
}
