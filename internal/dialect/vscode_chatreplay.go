package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// VSCodeChatReplay is the dialect of exports of the VS Code chat debug view: the
// requests that were sent, with numbers as roles and part types.
var VSCodeChatReplay = &Dialect{
	Name:    "vscode-chatreplay",
	Title:   "VS Code chat replays",
	Summary: "Requests that each hold all their messages. A toolCall is answered by a message with its toolCallId, and roles are numbers.",
	Where:   "*.chatreplay.json of the chat debug view (GitHub Copilot Chat)",
	Example: `{"role":2,"content":[{"type":1,"text":""}],"toolCalls":[{"function":{"name":"read_file","arguments":"{}"},"id":"call_1","type":"function"}]}
{"role":3,"content":[{"type":1,"text":"a.txt"}],"toolCallId":"call_1"}`,
	Provider:  "neutral",
	Window:    transcript.WindowTool,
	CheckOnly: "it records requests that were already sent",
	Evidence: &evidence.Table{Rows: []string{
		"none if role!=0|1|2|3",
		"decisive if any toolCalls.? has id and function.name and function.arguments, shown by list",
		"decisive if toolCallId",
		"plain if role and content.0.type",
	}},
	Driver: &Combined{
		Plain: []Lens{"role", "content.0.type"},
		Role:  "role",
		Roles: []RoleName{
			{"0", transcript.RoleSystem}, {"1", transcript.RoleUser}, {"2", transcript.RoleAssistant}, {"3", transcript.RoleTool},
		},
		Text: "content",
		Records: []Records{{
			In: "toolCalls", ID: "id", Name: "function.name", Args: "function.arguments", Want: transcript.ArgsWantString, Apart: true,
		}},
		Results: ResultList{Has: "toolCallId", ID: "toolCallId", Payload: "content"},
	},
}
