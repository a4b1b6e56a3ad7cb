package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/transcript"
)

// PydanticAI is the dialect of Pydantic AI message histories.
var PydanticAI = &Dialect{
	Name:    "pydantic-ai",
	Title:   "Pydantic AI messages",
	Summary: "Requests and responses with parts. A tool-call is answered by a tool-return or retry-prompt in the next request.",
	Where:   "all_messages_json() of a run, histories that apps save",
	Example: `{"kind":"response","parts":[{"part_kind":"tool-call","tool_name":"ls","args":"{}","tool_call_id":"c1"}]}
{"kind":"request","parts":[{"part_kind":"tool-return","tool_name":"ls","content":"a.txt","tool_call_id":"c1"}]}`,
	Provider: "pydantic-ai",
	Window:   transcript.WindowUser,
	Evidence: &evidence.Table{Rows: []string{
		"none if !kind:string",
		"none if !parts",
		"decisive if any parts has part_kind=tool-call|builtin-tool-call and tool_call_id|tool_name|args",
		"decisive if any parts has part_kind=tool-return|builtin-tool-return and tool_call_id|content",
		// Without a tool, the prompt is about the whole answer.
		"decisive if any parts has part_kind=retry-prompt and tool_name and tool_call_id|content",
		"none if kind!=request|response",
		"weak if kind:string and any parts has !@this:object, alike",
		"weak if kind:string and any parts has !part_kind, alike",
		"weak if kind:string and any parts has part_kind!=text|user-prompt|system-prompt|retry-prompt|thinking|file and @tools, alike",
		"weak if kind:string and any parts has part_kind=retry-prompt and tool_name, alike",
		"shared if kind:string and any parts has part_kind=thinking, alike",
		"plain if kind:string, alike",
	}},
	Members: Members{
		transcript.MemberCallName: "tool_name", transcript.MemberArguments: "args", transcript.MemberResultName: "tool_name",
		transcript.MemberContent: "parts", transcript.MemberLastText: "parts.-1.content",
	},
	Strip: []Trace{
		"parts.#.provider_details.thought_signature/signature/encrypted_content",
		"parts.#.id if part_kind=text|tool-call",
	},
	Driver: NewBlocks(&Blocks{
		Role: "kind", Roles: []RoleName{{"request", transcript.RoleUser}, {"response", transcript.RoleAssistant}},
		Content: "parts", Tag: "part_kind",
		Parts: []Part{
			{
				Is: PartCall, Tag: "tool-call", ID: "tool_call_id", Name: "tool_name", Args: "args",
				Answer: `{"tool_name":"$name","content":"$text","tool_call_id":"$id","part_kind":"tool-return"}`,
			},
			{
				Is: PartResult, Tag: "tool-return", ID: "tool_call_id", Name: "tool_name", Payload: "content",
				Error: []*evidence.Cond{{Text: "outcome=failed|denied|interrupted"}},
			},
			// Without a tool, the prompt is about the whole answer.
			{
				Is: PartResult, Tag: "retry-prompt", With: []*evidence.Cond{{Text: "tool_name"}}, ID: "tool_call_id", Name: "tool_name", Payload: "content",
				Error: []*evidence.Cond{{Text: "part_kind"}},
			},
			{Is: PartServerCall, Tag: "builtin-tool-call", ID: "tool_call_id", Name: "tool_name", Args: "args"},
			{Is: PartServerResult, Tag: "builtin-tool-return", ID: "tool_call_id", Name: "tool_name", Payload: "content"},
			{Is: PartText, Tag: "text", Text: "content"},
			{Is: PartText, Tag: "user-prompt", Text: "content"},
			{Is: PartText, Tag: "system-prompt", Text: "content"},
			{Is: PartText, Tag: "retry-prompt", Text: "content"},
			{Is: PartReasoning, Tag: "thinking", Signature: "signature"},
			{Is: PartMedia, Tag: "file"},
		},
		Message:   []Stencil{{JSON: `{"parts":"$blocks","kind":"request"}`}},
		TextBlock: []Stencil{{If: "args", JSON: `{"content":"$text","part_kind":"text"}`}, {JSON: `{"content":"$text","part_kind":"user-prompt"}`}},
	}),
}
