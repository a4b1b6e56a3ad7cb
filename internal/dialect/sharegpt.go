package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ShareGPT is the dialect of fine-tuning rows in the manner of ShareGPT, with
// the calls that LLaMA-Factory adds to it.
var ShareGPT = &Dialect{
	Name:    "sharegpt",
	Title:   "ShareGPT rows",
	Summary: "Turns of from and value: a function_call is JSON as text, answered by the observation behind it.",
	Where:   "fine-tuning data",
	Example: `{"from":"function_call","value":"{\"name\":\"ls\",\"arguments\":{}}"}
{"from":"observation","value":"a.txt"}`,
	Provider:  "neutral",
	Window:    transcript.WindowTool,
	Dataset:   true,
	CheckOnly: "what a model is trained on is not made up, and a value is text",
	Evidence: evidence.NewTable(
		"none if from!=human|user|gpt|assistant|model|chatgpt|bing|bard|system|function_call|tool_call|observation|tool|tool_response|function_response",
		"none if role|content",
		"decisive if from=observation|tool|tool_response|function_response and value:any and !value.0:object",
		"decisive if from=observation|tool|tool_response|function_response and value.0.type:any and value.0.type!=*tool*",
		"none if from=observation|tool|tool_response|function_response",
		"decisive if from:string and value:any",
	),
	Driver: &spoken{&SideList{
		Role: "from", User: "human", Assistant: "gpt", Tool: "observation",
		Roles: []RoleName{
			{"human", transcript.RoleUser},
			{"user", transcript.RoleUser},
			{"gpt", transcript.RoleAssistant},
			{"assistant", transcript.RoleAssistant},
			{"model", transcript.RoleAssistant},
			{"chatgpt", transcript.RoleAssistant},
			{"bing", transcript.RoleAssistant},
			{"bard", transcript.RoleAssistant},
			{"system", transcript.RoleSystem},
			{"function_call", transcript.RoleAssistant},
			{"tool_call", transcript.RoleAssistant},
			{"observation", transcript.RoleTool},
			{"tool", transcript.RoleTool},
			{"tool_response", transcript.RoleTool},
			{"function_response", transcript.RoleTool},
		},
		Content: "value", Name: "name", Args: "arguments",
		CallTag: hermesCall, ResultTag: hermesResult,
	}, []string{"function_call", "tool_call"}},
}

// The tags in which models of the Hermes family, and those that are trained like
// them, write calls, and are told what they were answered with.
const (
	hermesCall   = "<tool_call>"
	hermesResult = "<tool_response>"
)
