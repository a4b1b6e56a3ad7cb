package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// CodexExec is the dialect of the output of codex exec --json.
var CodexExec = &Dialect{
	Name:    "codex-exec",
	Title:   "codex exec --json output",
	Summary: "Events about items. A work item holds its status and output, and only its last event counts.",
	Where:   "standard output of codex exec --json",
	Example: `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a.txt","exit_code":0,"status":"completed"}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "it is program output, and no program reads it back",
	Evidence: &evidence.Table{Rows: []string{
		"none if !item",
		"none if type!=item.*",
		"decisive if any item.? has type=command_execution|mcp_tool_call|file_change and id",
		"decisive if item.id and item.type",
	}},
	NewSession: []*evidence.Cond{{Text: "type=thread.started"}, {Text: "thread_id"}},
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

// codexExecFolding returns the effect of an event. Events of a thread or a turn are
// not about an item.
func codexExecFolding(v source.Value) Folding {
	return Folding{Silent: tagged([]string{"thread.*", "turn.*"}, v.Get("type"))}
}
