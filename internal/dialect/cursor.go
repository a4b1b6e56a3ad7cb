package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Cursor is the dialect of the chats in Cursor's database. Cursor documents none of it. The fields and the
// states are those that other programs read, such as michaeldhood/chatrxiv
// (docs/cursor/storage-reference.md) and pppp606/cursor-efficiency (docs/vscdbRelation.md).
var Cursor = &Dialect{
	Name:     "cursor",
	Title:    "Cursor chats",
	Summary:  "Bubbles of type 1 (the user) and 2 (the assistant). A call has its result beside it, in toolFormerData.",
	Where:    "the database ~/.config/Cursor/User/globalStorage/state.vscdb, according to other programs that read it",
	Example:  `{"bubbleId":"b1","type":2,"text":"","toolFormerData":{"toolCallId":"c1","name":"list_dir","rawArgs":"{}","status":"completed","result":"{\"files\":[]}"}}`,
	Provider: "neutral",
	Window:   transcript.WindowOwn,
	// The server of Cursor builds the messages, and nobody knows what it has. Ids can be those of two APIs, with
	// a line feed between them.
	Slice:     true,
	AnyIDs:    true,
	CheckOnly: "Cursor keeps its chats in a database",
	Evidence: &evidence.Table{Rows: []string{
		"none if !bubbleId",
		"decisive if toolFormerData.toolCallId|toolFormerData.name",
		"decisive if type=1|2 and text:string",
	}},
	Driver: &Combined{
		Role: "type", Roles: []RoleName{{"1", transcript.RoleUser}, {"2", transcript.RoleAssistant}},
		Text: "text",
		Records: []Records{{
			// A call without a name has only begun.
			In: "toolFormerData", Tag: "name", Calls: []string{"*"}, ID: "toolCallId", Name: "name", Args: "rawArgs|params",
			State: "status", States: []StateName{
				{Written: "loading", State: transcript.CallOpen},
				{Written: "completed", State: transcript.CallDone},
				{Written: "error", State: transcript.CallFailed},
				{Written: "cancelled", State: transcript.CallInterrupted, Ended: true},
			},
			Result: "result", Failure: "error",
		}},
	},
}
