package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// AutoGen is the dialect of model contexts and team events of AutoGen.
var AutoGen = &Dialect{
	Name:    "autogen",
	Title:   "AutoGen messages",
	Summary: "Messages with a type. The calls of an AssistantMessage are answered by a FunctionExecutionResultMessage.",
	Where:   "saved states of agents and teams, event logs of teams",
	Example: `{"content":[{"id":"c1","arguments":"{}","name":"ls"}],"source":"agent","type":"AssistantMessage"}
{"content":[{"content":"a.txt","name":"ls","call_id":"c1","is_error":false}],"type":"FunctionExecutionResultMessage"}`,
	Provider: "neutral",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if type!=UserMessage|SystemMessage|AssistantMessage|FunctionExecutionResultMessage|TextMessage|MultiModalMessage|ToolCallSummaryMessage|ToolCallRequestEvent|ToolCallExecutionEvent",
		"none if !content",
		"decisive if any content has call_id and call_id|content",
		"decisive if any content has arguments and name",
		"none if type=FunctionExecutionResultMessage|ToolCallExecutionEvent",
		"weak if type:string and any content has !@this:object",
		"weak if type:string and any content has *:any",
		"plain if type:string",
	}},
	Members: Members{transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberResultName: "name", transcript.MemberContent: "content"},
	Driver: NewBlocks(&Blocks{
		Role: "type", Content: "content", ResultsAlone: true,
		Roles: []RoleName{
			{"UserMessage", transcript.RoleUser},
			{"SystemMessage", transcript.RoleSystem},
			{"AssistantMessage", transcript.RoleAssistant},
			{"FunctionExecutionResultMessage", transcript.RoleTool},
			{"TextMessage", transcript.RoleUser},
			{"MultiModalMessage", transcript.RoleUser},
			{"ToolCallSummaryMessage", transcript.RoleAssistant},
			{"ToolCallRequestEvent", transcript.RoleAssistant},
			{"ToolCallExecutionEvent", transcript.RoleTool},
		},
		Parts: []Part{
			{Is: PartResult, Key: "call_id", ID: "call_id", Name: "name", Payload: "content", Error: []*evidence.Cond{{Text: "is_error=true"}}},
			{
				Is: PartCall, Key: "arguments", With: []*evidence.Cond{{Text: "name"}}, ID: "id", Name: "name", Args: "arguments",
				Answer: `{"content":"$text","name":"$name","call_id":"$id","is_error":true}`,
			},
		},
		Message: []Stencil{{JSON: `{"content":"$blocks","type":"FunctionExecutionResultMessage"}`}},
	}),
}
