package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TanStackAI is the dialect of messages that the hooks of TanStack AI keep.
var TanStackAI = &Dialect{
	Name:    "tanstack-ai",
	Title:   "TanStack AI messages",
	Summary: "Messages with parts. A tool-call part holds its output, or a tool-result part of the same message answers it.",
	Where:   "chat histories of apps that use useChat of TanStack AI",
	Example: `{"id":"m1","role":"assistant","parts":[{"type":"tool-call","id":"c1","name":"ls","arguments":"{}","state":"input-complete"}]}
{"id":"m1","role":"assistant","parts":[{"type":"tool-call","id":"c1","name":"ls","arguments":"{}","state":"input-complete"},{"type":"tool-result","toolCallId":"c1","content":"a.txt","state":"complete"}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowOwn,
	CheckOnly: "it is a copy for the screen, from which the app makes its requests",
	Evidence: &evidence.Table{Rows: []string{
		"none if !parts",
		"decisive if any parts has type=tool-call and name:string and arguments:string",
		"decisive if any parts has type=tool-result and toolCallId and content:any and !toolName",
		"shared if any parts has type=thinking|text and content:string and role",
	}},
	Driver: &Combined{
		Role: "role",
		Records: []Records{{
			In: "parts", Tag: "type", Calls: []string{"tool-call"}, Text: "text", Reasoning: "thinking",
			ID: "id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString, Apart: true,
			Result: "output",
		}},
		Results: ResultList{In: "parts", Has: "toolCallId", ID: "toolCallId", Payload: "content", Error: "error"},
	},
}
