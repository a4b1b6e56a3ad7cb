package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Zed is the dialect of the threads of Zed's agent, since version 0.3.0 of their format.
var Zed = &Dialect{
	Name:      "zed",
	Title:     "Zed threads",
	Summary:   "Messages under the name of who wrote them. The results of an agent's calls are in the message, by their ids.",
	Where:     "the database ~/.local/share/zed/threads/threads.db, compressed",
	Example:   `{"Agent":{"content":[{"ToolUse":{"id":"c1","name":"list_directory","raw_input":"{}","input":{},"is_input_complete":true}}],"tool_results":{"c1":{"tool_use_id":"c1","tool_name":"list_directory","is_error":false,"content":[{"Text":"a.txt"}],"output":null}}}}`,
	Provider:  "neutral",
	Window:    transcript.WindowOwn,
	CheckOnly: "Zed keeps its threads in a database",
	Evidence: &evidence.Table{Rows: []string{
		"none if !Agent:object and !User:object",
		"decisive if Agent.content:array and Agent.tool_results:object",
		"plain if User.id and User.content:array",
	}},
	Beside: []string{"tool_results"},
	Driver: zedMessages{
		NewBlocks(&Blocks{
			Role: "role", NoRole: "assistant", Content: "content",
			Skip: []*evidence.Cond{{Text: "@this=Resume"}},
			Parts: []Part{
				{Is: PartText, Key: "Text", Text: "Text"},
				{Is: PartCall, Key: "ToolUse", ID: "ToolUse.id", Name: "ToolUse.name", Args: "ToolUse.input", Want: transcript.ArgsWantObject},
				{Is: PartReasoning, Key: "Thinking", Signature: "Thinking.signature"},
				{Is: PartReasoning, Key: "RedactedThinking", Signature: "RedactedThinking"},
			},
			ResultRole: "tool",
			ResultMessage: &Part{
				Is: PartResult, ID: "tool_use_id", Name: "tool_name", Payload: "content", Error: []*evidence.Cond{{Text: "is_error=true"}},
			},
		}),
		NewBlocks(&Blocks{
			Role: "role", NoRole: "user", Content: "content",
			Parts: []Part{
				{Is: PartText, Key: "Text", Text: "Text"},
				{Is: PartOther, Key: "Mention"},
				{Is: PartMedia, Key: "Image"},
			},
		}),
	},
}

// zedMessages reads the messages of the agent, and with user those of a human.
type zedMessages struct {
	*BlocksDriver
	user *BlocksDriver
}

// Reader implements Driver.
func (d zedMessages) Reader(b *transcript.Builder) Reader {
	r := &zedReader{d.reader(b), d.user.reader(b)}
	r.user.use(&r.user)
	return hook(r)
}

type zedReader struct {
	blocksReader
	user blocksReader
}

// onElement returns the message of the agent that is in an element.
func (r *zedReader) onElement(v source.Value) source.Value {
	if said := v.Get("User"); said.Exists() {
		r.user.Read(said)
	}
	return v.Get("Agent")
}

// onEnd reads the results.
func (r *zedReader) onEnd(v source.Value) {
	for _, res := range v.Get("tool_results").Members() {
		if !res.Get("tool_use_id").Exists() && !res.Get("content").Exists() {
			continue // another field
		}
		r.result(res, &r.row.parts[len(r.row.Parts)], transcript.RoleTool)
	}
}
