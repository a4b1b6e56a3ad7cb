package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AgentScope is the dialect of AgentScope messages.
var AgentScope = &Dialect{
	Name:    "agentscope",
	Title:   "AgentScope messages",
	Summary: "Named messages with content blocks. A tool_use or tool_call is answered by a tool_result with the same id.",
	Where:   "session files and memories of AgentScope 1 and 2 and of QwenPaw; toolguard checks version 2 but inserts no results into it (not verified against a real file)",
	Example: `{"id":"m1","name":"Friday","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}
{"id":"m2","name":"system","role":"system","content":[{"type":"tool_result","id":"c1","name":"ls","output":[{"type":"text","text":"a.txt"}]}]}`,
	Provider: "neutral",
	Window:   transcript.WindowNext,
	Evidence: &evidence.Table{Rows: []string{
		// Every message names its speaker and has an id or a time. Messages with
		// the same blocks in other formats lack them. An inserted result has the
		// time of its call, if the call has one.
		"none if !name:string",
		"none if type=message",
		"none if !role:string",
		"none if !content",
		"none if !id|timestamp|created_at and role!=system",
		"decisive if any content has type=tool_use|tool_call and input",
		"decisive if any content has type=tool_result and !tool_use_id and id|output",
		"none if !id|timestamp|created_at",
		"none if role=tool|function",
		"weak if role:string and @tools, alike",
		"weak if role:string and any content has !@this:object, alike",
		"weak if role:string and any content has !type, alike",
		"weak if role:string and any content has type!=text|thinking|image|audio|video|data|hint and @tools, alike",
		"shared if role:string and any content has type=thinking, alike",
		"plain if role:string, alike",
	}},
	MessagePaths: []Lens{"0"},
	Members: Members{
		transcript.MemberImage: "source.data|source.url|url",
		transcript.MemberRole:  "role", transcript.MemberCallName: "name", transcript.MemberArguments: "input", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content",
	},
	Driver: &agentScope{NewBlocks(&Blocks{
		Role: "role", Content: "content", Tag: "type",
		Parts: []Part{
			{Is: PartText, Tag: "text", Text: "text"},
			{
				Is: PartCall, Tag: "tool_use", With: []*evidence.Cond{{Text: "input"}}, ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantObject,
				Answer: `{"type":"tool_result","id":"$id","name":"$name","output":[{"type":"text","text":"$text"}]}`,
			},
			// Version 2 stores the result in the message of the call.
			{Is: PartCall, Tag: "tool_call", With: []*evidence.Cond{{Text: "input"}}, ID: "id", Name: "name", Args: "input", Want: transcript.ArgsWantString},
			{
				Is: PartResult, Tag: "tool_result", With: []*evidence.Cond{{Text: "!tool_use_id"}}, ID: "id", Name: "name", Payload: "output",
				Error: []*evidence.Cond{{Text: "state=error|interrupted|denied"}},
			},
			{Is: PartReasoning, Tag: "thinking"},
			{Is: PartMedia, Tag: "image"},
			{Is: PartMedia, Tag: "audio"},
			{Is: PartMedia, Tag: "video"},
			{Is: PartMedia, Tag: "data"},
			{Is: PartOther, Tag: "hint"},
		},
		Message:   []Stencil{{JSON: `{"name":"system","role":"system","content":"$blocks"}`, Copy: []string{"timestamp"}}},
		TextBlock: []Stencil{{JSON: `{"type":"text","text":"$text"}`}},
	})},
}

// agentScope reads results in system messages and in the messages of their calls.
type agentScope struct{ *BlocksDriver }

// Reader implements Driver.
func (d *agentScope) Reader(b *transcript.Builder) Reader {
	return hook(&agentScopeReader{d.reader(b)})
}

type agentScopeReader struct{ blocksReader }

func (r *agentScopeReader) onCall(block source.Value, call transcript.Call) (transcript.Call, bool) {
	if block.Get("state").Is("asking") {
		call.State = transcript.CallWaiting
	}
	return call, true
}

// onEnd accepts the results of a message, whatever its role.
func (r *agentScopeReader) onEnd(source.Value) {
	c, m := r.b.Conv, r.b.Message()
	for i := len(c.Results) - 1; i >= 0 && c.Results[i].Message == int32(len(c.Messages)-1); i-- {
		c.Results[i].WrongRole = false
		if m.Role == transcript.RoleSystem {
			m.Role = transcript.RoleTool
		}
	}
}

// WriteMessage implements Writer.
func (d *agentScope) WriteMessage(content string, near source.Value) []Field {
	return append(d.BlocksDriver.WriteMessage(content, near), emptyFields(near, "metadata")...)
}

// WriteText implements Writer. The text of a result must not remain a system
// message.
func (d *agentScope) WriteText(t NewText) Text {
	out := d.BlocksDriver.WriteText(t)
	if t.Call || out.Blocks == nil || !d.Role.In(t.Message).Is("system") {
		return out
	}
	if !alone(d.Content.In(t.Message)) {
		return Text{} // the message has other results
	}
	return Text{Message: setFields(t.Message, Field{"role", `"user"`}, Field{"content", list(out.Blocks)})}
}
