package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CodexExec is the dialect of what codex exec --json prints.
var CodexExec = &Dialect{
	Name:    "codex-exec",
	Title:   "codex exec --json output",
	Summary: "Events about items; an item of work holds its status and output, and its last event counts.",
	Where:   "the standard output of codex exec --json",
	Example: `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a.txt","exit_code":0,"status":"completed"}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is the output of a program, which nothing reads back",
	Evidence: evidence.NewTable(
		"none if !item",
		"none if type!=item.*",
		"decisive if any item.? has type=command_execution|mcp_tool_call|file_change and id",
		"decisive if item.id and item.type",
	),
	NewSession: evidence.All("type=thread.started", "thread_id"),
	Fold:       &Fold{ID: "item.id", Effect: codexExecFolding},
	Driver: &Combined{
		Records: []Records{{
			In: "item", Tag: "type", Calls: []string{"command_execution", "mcp_tool_call", "file_change"},
			Text: "agent_message", Reasoning: "reasoning",
			ID: "id", Name: "tool|type", Args: "arguments|command|changes", Free: true,
			State: "status", States: []StateName{
				{Written: "in_progress", State: transcript.CallOpen},
				{Written: "completed", State: transcript.CallDone},
				{Written: "failed", State: transcript.CallFailed},
				{Written: "declined", State: transcript.CallFailed},
			},
			Result: "aggregated_output|result|changes", Failure: "error|aggregated_output",
		}},
	},
}

// codexExecFolding says what an event does: those of a thread and of a turn are about
// no item.
func codexExecFolding(v source.Value) Folding {
	return Folding{Silent: tagged([]string{"thread.*", "turn.*"}, v.Get("type"))}
}
