package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// MSSwift is the dialect of ms-swift fine-tuning data for agents.
var MSSwift = &Dialect{
	Name:    "ms-swift",
	Title:   "ms-swift rows",
	Summary: "Messages with role tool_call whose content is JSON text. The tool_response messages that follow answer them.",
	Where:   "fine-tuning data (not verified against a real file)",
	Example: `{"role":"tool_call","content":"{\"name\":\"ls\",\"arguments\":{}}"}
{"role":"tool_response","content":"a.txt"}`,
	Provider:  "chat-template",
	Window:    transcript.WindowNext,
	Dataset:   true,
	CheckOnly: "toolguard does not make up training data",
	Evidence: &evidence.Table{Rows: []string{
		// Some sets have other words for the roles, such as those of LLaMA-Factory, which reads any keys
		// (data/README.md there: role_tag, content_tag).
		"none if role!=system|user|assistant|answer|tool_call|function_call|tool_response|tool_output|observation|tool",
		"none if tool_calls|tool_call_id",
		"none if role=tool and @tools and !function_call:string",
		"decisive if role=tool_response|tool_output|observation and content:any and !content.0:object",
		"decisive if role=tool and content:any and !content.0:object, alike",
		"decisive if role=tool_response|tool_output|observation and content.0.type:any and content.0.type!=*tool*",
		"decisive if role=tool and content.0.type:any and content.0.type!=*tool*, alike",
		"none if role=tool_response|tool_output|observation|tool",
		"decisive if role=tool_call|function_call and content:any",
		"weak if role:string and content:any, alike",
		"weak if role:string and @tools, alike",
	}},
	Driver: &msSwift{&textCalls{NewSideList(&SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool_response",
		Roles: []RoleName{
			{"system", transcript.RoleSystem},
			{"user", transcript.RoleUser},
			{"assistant", transcript.RoleAssistant},
			{"answer", transcript.RoleAssistant},
			{"tool_call", transcript.RoleAssistant},
			{"function_call", transcript.RoleAssistant},
			{"tool_response", transcript.RoleTool},
			{"tool_output", transcript.RoleTool},
			{"observation", transcript.RoleTool},
			{"tool", transcript.RoleTool},
		},
		Content: "content", Name: "name", Args: "arguments",
		CallTag: hermesCall, ResultTag: hermesResult,
	}), []string{"tool_call", "function_call"}}},
}

// msSwift is a side list in which a turn may have several messages.
type msSwift struct{ *textCalls }

// Reader implements Driver.
func (d *msSwift) Reader(b *transcript.Builder) Reader {
	return hook(&msSwiftReader{textCallsReader: d.reader(b)})
}

type msSwiftReader struct {
	textCallsReader
	model bool // the previous message was the assistant's
	turn  int  // the first call of the turn
	lo    int  // the first call of the message
}

// onElement begins a message.
func (r *msSwiftReader) onElement(v source.Value) source.Value {
	r.lo = len(r.b.Conv.Calls)
	return r.textCallsReader.onElement(v)
}

// onEnd joins turns. Each call is a separate message. Consecutive calls and the text before
// them are one turn.
func (r *msSwiftReader) onEnd(v source.Value) {
	r.textCallsReader.onEnd(v)
	calls := contains(r.roles, r.row.Role.In(v))
	if content := r.row.Content.In(v); calls && content.Kind() != source.String {
		r.readJSONCalls(content)
	}
	if calls && r.model {
		r.b.SameTurn()
		r.list = r.b.Conv.Calls[r.turn:]
	} else if calls {
		r.turn = r.lo
	}
	if !calls {
		r.turn = len(r.b.Conv.Calls)
	}
	r.model = r.b.Message().Role == transcript.RoleAssistant
}

// readJSONCalls reads calls that are JSON values instead of text.
func (r *msSwiftReader) readJSONCalls(content source.Value) {
	if content.Kind() == source.Array {
		for _, e := range content.Present() {
			r.readJSONCalls(e)
		}
		return
	}
	if content.Kind() != source.Object {
		return
	}
	call := transcript.Call{
		ID: transcript.Token{Span: content.Span()}, Name: transcript.TokenOf(r.row.Name.In(content), content.Span()), Answer: transcript.AnswerByPosition,
	}
	setArgs(r.b, &call, r.row.Args.In(content), transcript.ArgsWantAny)
	r.b.Call(content, call, 0)
}
