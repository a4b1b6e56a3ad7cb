package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Trae is the dialect of Trae Agent trajectories.
var Trae = &Dialect{
	Name:    "trae",
	Title:   "Trae Agent trajectories",
	Summary: "Steps with tool_calls and tool_results. A result names its call by call_id.",
	Where:   "trajectories/trajectory_*.json of Trae Agent",
	Example: `{"step_number":1,"state":"completed","llm_response":{"content":""},"tool_calls":[{"call_id":"call_1","name":"bash","arguments":{"command":"ls"}}],"tool_results":null}
{"step_number":1,"state":"completed","llm_response":{"content":""},"tool_calls":[{"call_id":"call_1","name":"bash","arguments":{"command":"ls"}}],"tool_results":[{"call_id":"call_1","success":true,"result":"a.txt","error":null}]}`,
	Provider:  "neutral",
	Window:    transcript.WindowOwn,
	CheckOnly: "it records a run and holds each message twice",
	Evidence: &evidence.Table{Rows: []string{
		"none if !step_number",
		"decisive if any steps.tool_calls|tool_calls.? has call_id and name and arguments, shown by list",
		"decisive if step_number and state and llm_response",
		"decisive if step_number and steps.llm_response",
	}},
	Holder: &Holder{Members: []string{"task", "agent_steps", "llm_interactions"}, ReadFrom: []string{"agent_steps"}},
	Driver: &Combined{
		Text: "llm_response.content|steps.llm_response.content",
		Records: []Records{{
			In: "steps.tool_calls|tool_calls", ID: "call_id", Name: "name", Args: "arguments", Want: transcript.ArgsWantObject, Apart: true,
		}},
		Results: ResultList{
			In: "steps.tool_results|tool_results", ID: "call_id", Payload: "result|error", Error: "error",
		},
		Aborted:       []*evidence.Cond{{Text: "error"}, {Text: "steps.error"}},
		NoResultTools: []string{"task_done"},
	},
}
