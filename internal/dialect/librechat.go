package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// LibreChat is the dialect of LibreChat conversations, as stored and as exported.
var LibreChat = &Dialect{
	Name:    "librechat",
	Title:   "LibreChat conversations",
	Summary: "Messages with parts. A tool_call part holds the call and its output.",
	Where:   "conversations that LibreChat exports as JSON, flat or as a tree, and dumps of its messages",
	Example: `{"messageId":"m1","parentMessageId":"m0","isCreatedByUser":false,"text":"","content":[{"type":"tool_call","tool_call":{"id":"call_1","name":"ls","args":"{}","type":"tool_call","progress":0.1}}]}
{"messageId":"m1","parentMessageId":"m0","isCreatedByUser":false,"text":"","content":[{"type":"tool_call","tool_call":{"id":"call_1","name":"ls","args":"{}","type":"tool_call","progress":1,"output":"a.txt"}}]}`,
	Provider:  "neutral",
	CheckOnly: "each message names the one before it, so removing a message would cut off the rest",
	Window:    transcript.WindowOwn,
	Evidence: &evidence.Table{Rows: []string{
		"none if !isCreatedByUser:bool",
		"decisive if any content.? has type=tool_call and tool_call.id",
		"decisive if isCreatedByUser and messageId",
	}},
	Driver: libreChatMessages{&Combined{
		Role:    "isCreatedByUser",
		Roles:   []RoleName{{"true", transcript.RoleUser}, {"false", transcript.RoleAssistant}},
		Text:    "text",
		Aborted: []*evidence.Cond{{Text: "unfinished=true"}},
		Records: []Records{{
			In: "content", Tag: "type", Calls: []string{"tool_call"}, Record: "tool_call",
			Text: "text", Reasoning: "think", AsText: Stencil{JSON: `{"type":"text","text":"$text"}`},
			ID: "id", Name: "name|function.name|type",
			Args: "args|function.arguments|code_interpreter|retrieval|file_search",
			// Assistants of OpenAI store the output beside the arguments, and have
			// tools of their own.
			State: "type", States: []StateName{
				{Written: "function", State: transcript.CallOpen, Answer: []Setting{{To: "function.output", Raw: `"$text"`}}},
				{Written: "code_interpreter", State: transcript.CallDone},
				{Written: "retrieval", State: transcript.CallDone},
				{Written: "file_search", State: transcript.CallDone},
			},
			Result: "output|function.output|code_interpreter|retrieval|file_search", Answered: true,
			Answer: []Setting{{To: "output", Raw: `"$text"`}},
		}},
	}},
}

// libreChatMessages are messages whose replies are in children, in a conversation
// exported as a tree.
type libreChatMessages struct{ *Combined }

// Reader implements Driver.
func (d libreChatMessages) Reader(b *transcript.Builder) Reader {
	return hook(&libreChatReader{d.reader(b)})
}

type libreChatReader struct{ combinedReader }

func (r *libreChatReader) onElement(v source.Value) source.Value { return v.Indexed() }

// onEnd reads the replies.
func (r *libreChatReader) onEnd(v source.Value) {
	for _, child := range v.Get("children").Present() {
		r.Read(child)
	}
}
