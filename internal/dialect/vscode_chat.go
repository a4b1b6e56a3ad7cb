package dialect

import (
	"github.com/toolguard/toolguard/internal/transcript"
)

// VSCodeChat is the dialect of the chats that VS Code keeps, most of them with
// GitHub Copilot: documents, and logs of what changed in one.
var VSCodeChat = &Dialect{
	Name:    "vscode-chat",
	Title:   "VS Code chat sessions",
	Summary: "Requests with toolCallRounds and toolCallResults by id, in a document or a log of changes to one.",
	Where:   "chatSessions/*.json and *.jsonl of VS Code's workspaceStorage (GitHub Copilot Chat)",
	Example: `{"requestId":"r1","message":{"text":"List the files."},"response":[],"result":{"metadata":{"toolCallRounds":[{"id":"t1","response":"","toolCalls":[{"id":"call_1","name":"list_dir","arguments":"{}"}]}],"toolCallResults":{}}}}
{"requestId":"r1","message":{"text":"List the files."},"response":[],"result":{"metadata":{"toolCallRounds":[{"id":"t1","response":"","toolCalls":[{"id":"call_1","name":"list_dir","arguments":"{}"}]}],"toolCallResults":{"call_1":{"content":[{"value":"a.txt"}]}}}}}`,
	Provider:  "neutral",
	Window:    transcript.WindowOwn,
	CheckOnly: "VS Code keeps the session in memory and writes it anew, and a log of changes is replayed by place",
	Marks:     []string{"requestId"},
	Begun:     []Cond{{At: "requests"}, {At: "sessionId"}, {At: "responderUsername"}},
	Patch: &Patch{
		Kind: "kind", Start: "0", Set: "1", Push: "2", Delete: "3", At: "k", Value: "v", Length: "i",
		List: "requests", Has: []Lens{"sessionId", "requests"},
	},
	Driver: &Combined{
		Members: []string{"requestId"},
		Marks: [][]Lens{
			{"requestId", "message.text", "response"},
			{"requestId", "message.parts", "response"},
			{"requestId", "result.metadata.toolCallRounds"},
		},
		Prompt: "message.text|message",
		Rounds: Rounds{
			In: "result.metadata.toolCallRounds", Text: "response", Reasoning: "thinking",
			Records: Records{
				In: "toolCalls", ID: "id", Name: "name", Args: "arguments", Want: transcript.ArgsWantString,
				ByID: "result.metadata.toolCallResults",
			},
		},
		Records: []Records{{
			In: "response", Tag: "kind", Calls: []string{"toolInvocationSerialized"}, Reasoning: "thinking",
			ID: "toolCallId", Name: "toolId", Free: true,
			State: "isComplete", States: []StateName{
				{Written: "true", State: transcript.CallDone},
				{Written: "false", State: transcript.CallInterrupted},
			},
		}},
		Aborted: []Cond{
			{At: "isCanceled", Is: []string{"true"}},
			{At: "modelState.value", Is: []string{"2", "3"}},
			{At: "result.errorDetails"},
			{At: "result.metadata.maxToolCallsExceeded", Is: []string{"true"}},
		},
		Hidden: []Cond{
			{At: "isHidden", Is: []string{"true"}},
			{At: "shouldBeRemovedOnSend"},
		},
	},
}
