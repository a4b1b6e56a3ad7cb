package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// ShareGPT is the dialect of fine-tuning data in the ShareGPT format, with the
// calls that LLaMA-Factory adds.
var ShareGPT = &Dialect{
	Name:    "sharegpt",
	Title:   "ShareGPT rows",
	Summary: "Turns with from and value. A function_call is JSON text, and the next observation answers it.",
	Where:   "fine-tuning data",
	Example: `{"from":"function_call","value":"{\"name\":\"ls\",\"arguments\":{}}"}
{"from":"observation","value":"a.txt"}`,
	Provider:  "chat-template",
	Window:    transcript.WindowTool,
	Dataset:   true,
	CheckOnly: "toolguard does not make up training data, and calls and results are plain text",
	Evidence: &evidence.Table{Rows: []string{
		"none if from!=human|user|gpt|assistant|model|chatgpt|bing|bard|system|function_call|tool_call|observation|tool|tool_response|function_response",
		"none if role|content",
		"decisive if from=observation|tool|tool_response|function_response and value:any and !value.0:object",
		"decisive if from=observation|tool|tool_response|function_response and value.0.type:any and value.0.type!=*tool*",
		"none if from=observation|tool|tool_response|function_response",
		"decisive if from:string and value:any",
	}},
	Driver: &textCalls{NewSideList(&SideList{
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
	}), []string{"function_call", "tool_call"}},
}

// Tags of calls and results in the text of models of the Hermes family, and of
// models trained like them.
const (
	hermesCall   = "<tool_call>"
	hermesResult = "<tool_response>"
)
