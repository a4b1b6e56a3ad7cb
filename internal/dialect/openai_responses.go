package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenAIResponses is the dialect of the OpenAI Responses API, in the spellings of
// the API and of the Agents SDK.
var OpenAIResponses = &Dialect{
	Name:    "openai-responses",
	Title:   "OpenAI Responses items",
	Summary: "A flat list of items. A function_call or a similar item is answered by an output item with the same call_id.",
	Where:   "request bodies, Agents SDK sessions and the rows of their database table, batch files, rollouts",
	Example: `{"type":"function_call","call_id":"call_1","name":"ls","arguments":"{}"}
{"type":"function_call_output","call_id":"call_1","output":"a.txt"}`,
	Provider: "openai-responses",
	Body:     &Body{Lists: []string{"input"}, Text: true, Instead: []string{"prompt", "previous_response_id", "conversation"}},
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=web_search_call|file_search_call|code_interpreter_call|image_generation_call|mcp_call|mcp_list_tools|hosted_tool_call|item_reference and @keys.#!=1",
		"shared if type=reasoning and !role:string and summary|encrypted_content:any",
		"decisive if type=function_call|custom_tool_call|computer_call|local_shell_call|shell_call|apply_patch_call|tool_search_call|program|mcp_approval_request and !role:string and call_id|callId|name",
		"decisive if type=function_call_output|function_call_result|custom_tool_call_output|computer_call_output|computer_call_result|local_shell_call_output|shell_call_output|apply_patch_call_output|program_output and !role:string and call_id|callId|output|result",
		"decisive if type=local_shell_call|local_shell_call_output|mcp_approval_request and !role:string and id",
		"decisive if type=tool_search_output and !role:string and call_id|callId|tools",
		"decisive if type=mcp_approval_response and !role:string and call_id|callId|approval_request_id|approve",
		"none if type:string and type!=message",
		"none if !role:string",
		"none if !content",
		"none if role=tool|function",
		"none if !type and @tools",
		"none if role:string and any content has @tools",
		"decisive if content.0.type=input_text|output_text|input_image|input_file",
		"plain if role:string",
	}},
	Request: [][]*evidence.Cond{{{Text: "input.#.type|input.#.role"}, {Text: "!messages"}}},
	// Rows of datasets and traces have an answer too.
	Prompt:  []*evidence.Cond{{Text: "model:string"}, {Text: "input:string"}, {Text: "!messages"}, {Text: "!role"}, {Text: "!output"}, {Text: "!outputs"}, {Text: "!response"}, {Text: "!completion"}, {Text: "!choices"}, {Text: "!answer"}, {Text: "!expected"}, {Text: "!expected_output"}, {Text: "!reference"}, {Text: "!target"}, {Text: "!result"}, {Text: "!embedding"}},
	Window:  transcript.WindowNext,
	Members: responsesMembers,
	Strip:   responsesStrip,
	Driver: responsesItems{&Items{
		Type: "type", Role: "role", Text: "content", Messages: []string{"message"},
		ID: []string{"call_id", "callId"}, Item: "id", Name: "name",
		Reference: "item_reference", Reasoning: "reasoning", Sealed: "encrypted_content", Execution: "execution",
		TextTypes: []string{"input_text", "output_text", "input_image", "input_file"},
		ProviderCalls: []string{
			"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
			"mcp_call", "mcp_list_tools", "hosted_tool_call",
		},
		Pairs: []ItemPair{
			{Call: "function_call", Outputs: []string{"function_call_output", "function_call_result"}, Kind: transcript.KindFunction, Args: "arguments"},
			{Call: "custom_tool_call", Outputs: []string{"custom_tool_call_output"}, Kind: transcript.KindCustom, Args: "input", Free: true},
			{Call: "computer_call", Outputs: []string{"computer_call_output", "computer_call_result"}, Kind: transcript.KindComputer},
			// The API also accepts the output of a function for a local shell.
			{
				Call: "local_shell_call", Outputs: []string{"local_shell_call_output"}, Kind: transcript.KindLocalShell, CallID: "id", OutputID: "id",
				Answer: "function_call_output",
			},
			{Call: "shell_call", Outputs: []string{"shell_call_output"}, Kind: transcript.KindShell},
			{Call: "apply_patch_call", Outputs: []string{"apply_patch_call_output"}, Kind: transcript.KindApplyPatch},
			{Call: "tool_search_call", Outputs: []string{"tool_search_output"}, Kind: transcript.KindToolSearch, Payload: "tools"},
			// The SDK has the result of a program under another key (openai-agents-python, ProgramOutput).
			{Call: "program", Outputs: []string{"program_output"}, Kind: transcript.KindProgram, Payload: "result"},
			{Call: "mcp_approval_request", Outputs: []string{"mcp_approval_response"}, Kind: transcript.KindApproval, CallID: "id", OutputID: "approval_request_id", Payload: "approve"},
		},
	}},
}

// responsesItems are items that may refer to items stored by OpenAI.
type responsesItems struct{ *Items }

// Reader implements Driver.
func (d responsesItems) Reader(b *transcript.Builder) Reader {
	return hook(&responsesReader{d.reader(b)})
}

type responsesReader struct{ itemsReader }

// onEnd notes approvals.
func (r *responsesReader) onEnd(v source.Value) {
	// The call of a server that a human has approved names the request for approval.
	if request := v.Get("approval_request_id"); v.Get("type").Is("mcp_call") && request.Kind() == source.String && len(r.b.Conv.Messages) > 0 {
		r.b.Conv.Mentions = append(r.b.Conv.Mentions, transcript.Mention{
			Message: int32(len(r.b.Conv.Messages) - 1), Call: transcript.TokenOf(request, v.Span()),
		})
	}
}

// WriteResult implements Writer. A local shell call that is identified by its item
// id has an output type of its own.
func (d responsesItems) WriteResult(r NewResult) []Field {
	if r.Kind == transcript.KindLocalShell && r.ID != "" && !d.keyed(r.Element) {
		return []Field{{"type", `"local_shell_call_output"`}, {"id", r.ID}, {"output", r.Text}}
	}
	if fields := agentsSDKResult(r); fields != nil {
		return fields
	}
	return d.Items.WriteResult(r)
}

// agentsSDKResult returns the fields of a function output as the JavaScript Agents
// SDK writes it, or nil if the call is not in its spelling.
func agentsSDKResult(r NewResult) []Field {
	if r.Kind != transcript.KindFunction || r.ID == "" || !isSet(r.Element.Get("callId")) {
		return nil
	}
	return []Field{
		{"type", `"function_call_result"`},
		{"name", r.Name},
		{"callId", r.ID},
		{"status", `"completed"`},
		{"output", `{"type":"text","text":` + r.Text + `}`},
	}
}

var responsesMembers = Members{
	transcript.MemberRole: "role", transcript.MemberCallName: "name", transcript.MemberArguments: "arguments", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content", transcript.MemberItemID: "id",
	transcript.MemberResultContent: "output", transcript.MemberImage: "image_url|image", transcript.MemberStore: "store",
}

// responsesStrip lists the items that only OpenAI can read, and the ids by which the API ties
// items to the reasoning before them: it rejects an item with a known id "without its
// required 'reasoning' item". The ids of other calls that the provider runs are required.
var responsesStrip = []Trace{
	"@this if type=compaction|compaction_summary|context_compaction",
	"@this if type=item_reference and id=rs_*",
	"id if type=function_call|custom_tool_call|tool_search_call|shell_call|apply_patch_call and call_id",
	"id if type=web_search_call",
	"id if type=message and role=assistant",
	"id if !type and role=assistant",
	"id if type=agent_message",
	"encrypted_content",
	"content/output.# if type=encrypted_content|reasoning_text",
}
