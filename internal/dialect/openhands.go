package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenHands is the dialect of OpenHands events, in both versions.
var OpenHands = &Dialect{
	Name:    "openhands",
	Title:   "OpenHands events",
	Summary: "Actions and observations that each name the tool call they belong to.",
	Where:   "trajectories, output.jsonl of evaluations, events of the agent SDK",
	Example: `{"id":1,"source":"agent","action":"run","args":{"command":"ls"},"tool_call_metadata":{"function_name":"bash","tool_call_id":"c1"}}
{"id":2,"source":"agent","observation":"run","cause":1,"content":"a.txt","tool_call_metadata":{"function_name":"bash","tool_call_id":"c1"}}`,
	Provider:  "neutral",
	Window:    transcript.WindowLog,
	CheckOnly: "its events are numbered and refer to each other by number",
	Evidence: &evidence.Table{Rows: []string{
		"none if !tool_call_metadata|tool_call_id|kind|observation|action",
		// A list of words, such as the vocabulary of a tokenizer, may have all of these keys.
		"none if source and !source:string",
		"none if kind and !kind:string",
		"decisive if tool_call_metadata.tool_call_id and tool_call_metadata.function_name and args",
		"decisive if kind=ActionEvent|ACPToolCallEvent and tool_call_id",
		"decisive if observation|rejection_reason|error and kind|source|tool_call_metadata and tool_call_metadata.tool_call_id|tool_call_id, shown as observation",
		"decisive if action and args and source and id",
		"decisive if observation and cause|extras and source and id",
		"decisive if kind and source and llm_message|system_prompt",
	}},
	Driver: &Combined{
		Role:  "source",
		Roles: []RoleName{{"environment", transcript.RoleTool}},
		Records: []Records{
			{
				In: "", ID: "tool_call_metadata.tool_call_id", Name: "tool_call_metadata.function_name", Args: "args", Apart: true,
			},
			{
				In: "", Tag: "kind", Calls: []string{"ActionEvent"},
				ID: "tool_call_id", Name: "tool_name", Args: "tool_call.arguments|tool_call.function.arguments|action", Apart: true,
			},
			{
				In: "", Tag: "kind", Calls: []string{"ACPToolCallEvent"},
				ID: "tool_call_id", Name: "title", Args: "raw_input",
				State: "status", States: []StateName{
					{Written: "pending", State: transcript.CallOpen},
					{Written: "in_progress", State: transcript.CallOpen},
					{Written: "completed", State: transcript.CallDone},
					{Written: "failed", State: transcript.CallFailed},
				},
				Result: "raw_output|content",
			},
		},
		Results: ResultList{
			Has: "observation|rejection_reason|error", ID: "tool_call_metadata.tool_call_id|tool_call_id", Name: "tool_call_metadata.function_name|tool_name",
			Payload: "content|observation|rejection_reason|error", Unnamed: true,
		},
		NoResultTools: []string{"finish"},
	},
}
