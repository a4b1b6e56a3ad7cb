package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AmazonQ is the dialect of conversations of the Amazon Q command line.
var AmazonQ = &Dialect{
	Name:    "amazon-q",
	Title:   "Amazon Q CLI conversations",
	Summary: "Pairs of messages. The tool_uses of a ToolUse message are answered by the ToolUseResults of the next user message.",
	Where:   "files that /save or /chat save writes, and conversations in the program's database, including those of early Kiro CLI",
	Example: `{"ToolUse":{"message_id":"m1","content":"","tool_uses":[{"id":"t1","name":"fs_read","orig_name":"fs_read","args":{},"orig_args":{}}]}}
{"additional_context":"","content":{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"t1","content":[{"Text":"a.txt"}],"status":"Success"}]}},"images":null}`,
	Provider:  "neutral",
	Window:    transcript.WindowNext,
	CheckOnly: "Amazon Q repairs a history itself before it sends it",
	Evidence: &evidence.Table{Rows: []string{
		"none if role|type",
		"decisive if any ToolUse.tool_uses.? has id and name and args, shown by list",
		"decisive if any content.ToolUseResults.tool_use_results|content.CancelledToolUses.tool_use_results.? has tool_use_id",
		"decisive if content.Prompt.prompt",
		"decisive if content.ToolUseResults.tool_use_results|content.CancelledToolUses.tool_use_results",
		"decisive if ToolUse.tool_uses",
		"decisive if Response.message_id and Response.content",
	}},
	MessagePaths: []Lens{"user|0", "assistant|1"},
	Holder:       &Holder{Members: []string{"conversation_id", "next_message", "history"}, ReadFrom: []string{"history"}, Waits: true},
	Driver: &amazonQ{&Combined{
		Text:    "content.Prompt.prompt|content.CancelledToolUses.prompt|ToolUse.content|Response.content",
		Records: []Records{{In: "ToolUse.tool_uses", ID: "id", Name: "name", Args: "args", Want: transcript.ArgsWantObject, Apart: true}},
		Results: ResultList{
			In: "content.ToolUseResults.tool_use_results|content.CancelledToolUses.tool_use_results", Has: "tool_use_id", ID: "tool_use_id", Payload: "content",
		},
	}},
}

// amazonQ reads messages whose fields imply the role.
type amazonQ struct{ *Combined }

// Reader implements Driver.
func (d *amazonQ) Reader(b *transcript.Builder) Reader {
	return hook(&amazonQReader{d.reader(b)})
}

type amazonQReader struct{ combinedReader }

// onEnd sets the role of the message.
func (r *amazonQReader) onEnd(v source.Value) {
	if m := r.b.Message(); v.Get("content").Exists() {
		if m.Role = transcript.RoleUser; !v.Get("content").Get("ToolUseResults").Exists() {
			m.Flags |= transcript.MessageTyped
		}
	}
}
