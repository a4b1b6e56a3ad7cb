package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ATIF is the dialect of the Agent Trajectory Interchange Format.
var ATIF = &Dialect{
	Name:    "atif",
	Title:   "ATIF trajectories",
	Summary: "Steps with tool_calls and an observation. The results in the observation name their calls.",
	Where:   "trajectory.json files of Harbor, terminal-bench and NeMo runs",
	Example: `{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"ls","arguments":{}}]}
{"step_id":1,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c1","function_name":"ls","arguments":{}}],"observation":{"results":[{"source_call_id":"c1","content":"a.txt"}]}}`,
	Provider:  "neutral",
	Window:    transcript.WindowOwn,
	CheckOnly: "it records a run that has already been scored",
	Evidence: &evidence.Table{Rows: []string{
		"none if !step_id",
		"decisive if any tool_calls.? has tool_call_id and function_name and arguments, shown by list",
		"decisive if step_id and source and message|tool_calls|observation",
	}},
	Driver: &Combined{
		Role: "source",
		Text: "message",
		Records: []Records{{
			In: "tool_calls", ID: "tool_call_id", Name: "function_name", Args: "arguments", Want: transcript.ArgsWantObject, Apart: true,
		}},
		Results:       ResultList{In: "observation.results", ID: "source_call_id", Payload: "content", Unnamed: true},
		NoResultTools: []string{"finish", "submit"},
	},
}
