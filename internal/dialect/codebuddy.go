package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CodeBuddy is the session log of CodeBuddy Code and WorkBuddy: items of the Agents
// SDK, linked by id and parentId.
var CodeBuddy = &Dialect{
	Name:    "codebuddy",
	Title:   "CodeBuddy session log",
	Summary: "A log of linked items. A function_call is answered by a function_call_result with the same callId.",
	Where:   "~/.codebuddy/projects/<directory>/<session>.jsonl and ~/.workbuddy/projects, according to other programs that read them",
	Example: `{"id":"c1","timestamp":1784000001200,"type":"function_call","callId":"call_1","name":"Bash","arguments":"{}","sessionId":"s","cwd":"/w"}
{"id":"r1","parentId":"c1","timestamp":1784000001800,"type":"function_call_result","callId":"call_1","name":"Bash","status":"completed","output":{"type":"text","text":"a.txt"},"sessionId":"s","cwd":"/w"}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	Evidence: &evidence.Table{Rows: []string{
		// Items have a time. Items of the SDK itself have none.
		"none if !timestamp",
		"none if !id",
		"shared if rawContent:any and type=reasoning",
		"shared if type=hosted_tool_call and @keys.#!=1",
		"shared if type=reasoning and !role:string and summary|encrypted_content:any",
		"decisive if type=function_call and !role:string and callId",
		"decisive if type=function_call_result and !role:string and callId",
		// Items of the SDK may have a time too, but only items of the log have a
		// session.
		"shared if type=function_call and !role:string and call_id|name|sessionId",
		"shared if type=function_call_output|function_call_result and !role:string and call_id|output|sessionId",
		"none if type:string and type!=message",
		"none if !role:string",
		"none if !content",
		"none if role=tool|function",
		"none if !type and @tools",
		"none if role:string and any content has @tools",
		"shared if content.0.type=input_text|output_text|input_image|input_file",
		"plain if role:string",
	}},
	Members: responsesMembers,
	Strip: []Trace{
		"providerData.reasoning/reasoning_content/encrypted_content",
	},
	Driver: codeBuddyItems{&Items{
		Type: "type", Role: "role", Text: "content", Messages: []string{"message"},
		ID: []string{"callId", "call_id"}, Item: "id", Name: "name",
		Reasoning: "reasoning", Sealed: "encrypted_content",
		TextTypes: []string{"input_text", "output_text", "input_image", "input_file"}, Typed: true,
		ProviderCalls: []string{"hosted_tool_call"},
		Pairs: []ItemPair{
			{Call: "function_call", Outputs: []string{"function_call_output", "function_call_result"}, Kind: transcript.KindFunction, Args: "arguments"},
		},
	}},
	Log: &Log{
		Type: "type", Speaks: []string{"message", "function_call", "function_call_result", "reasoning", "hosted_tool_call"},
		Kinds:    []string{"file-history-snapshot", "topic", "ai-title", "custom-title", "summary"},
		Evidence: []string{"sessionId"},
		ID:       "id", Parent: "parentId", Time: "timestamp",
		Envelope: []string{"timestamp", "sessionId", "cwd"},
	},
}

// codeBuddyItems are items of the Agents SDK with a time and a session.
type codeBuddyItems struct{ *Items }

// WriteResult implements Writer.
func (d codeBuddyItems) WriteResult(r NewResult) []Field {
	if fields := agentsSDKResult(r); fields != nil {
		return fields
	}
	return d.Items.WriteResult(r)
}

// WriteText implements Writer. It keeps all fields of the record except those that
// only calls and results have.
func (d codeBuddyItems) WriteText(t NewText) Text {
	only := append([]string{d.Name, "arguments", "output"}, d.ID...)
	t.whole = true
	return Text{Message: replaceFields(t.Message, d.Items.WriteText(t).Message, func(key, _ source.Value) bool { return contains(only, key) })}
}
