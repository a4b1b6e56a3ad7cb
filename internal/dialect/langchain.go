package dialect

import (
	"slices"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// LangChain is the dialect of messages that LangChain and LangGraph dump: bare, as
// a stored message below data, or as a constructor with kwargs.
var LangChain = &Dialect{
	Name:    "langchain",
	Title:   "LangChain messages",
	Summary: "Messages of type ai with tool_calls. Each call is answered by a message of type tool.",
	Where:   "LangGraph thread states, chat history files, LangSmith runs",
	Example: `{"type":"ai","content":"","tool_calls":[{"name":"ls","args":{},"id":"call_1","type":"tool_call"}]}
{"type":"tool","content":"a.txt","name":"ls","tool_call_id":"call_1","status":"success"}`,
	Provider: "langgraph",
	Window:   transcript.WindowTool,
	Evidence: &evidence.Table{Rows: []string{
		"none if !" + langChainRoles,
		"none if role and !data|kwargs:object",
		"decisive if any data.tool_calls|kwargs.tool_calls|tool_calls has name:string and args:any, shown by list",
		"decisive if data.tool_calls.0|kwargs.tool_calls.0|tool_calls.0:object and data.tool_calls.0.id|kwargs.tool_calls.0.id|tool_calls.0.id:string and " + langChainOwn,
		"none if data.tool_calls.0|kwargs.tool_calls.0|tool_calls.0:object",
		"decisive if data.invalid_tool_calls.0|kwargs.invalid_tool_calls.0|invalid_tool_calls.0:object",
		"decisive if type|id.-1=function and data.content|kwargs.content|content and !data.tool_call_id|kwargs.tool_call_id|tool_call_id, shown as type",
		"decisive if data.tool_call_id|kwargs.tool_call_id|tool_call_id and " + langChainTool,
		"decisive if " + langChainTool + " and data.content|kwargs.content|content and !data.content.0|kwargs.content.0|content.0:object, shown as type",
		"decisive if " + langChainTool + " and data.content.0.type|kwargs.content.0.type|content.0.type:any and data.content.0.type|kwargs.content.0.type|content.0.type!=*tool*, shown as type",
		"none if " + langChainTool,
		"decisive if " + langChainRoles + " and data.content|kwargs.content:any, shown as type",
		"decisive if " + langChainOwn + " and content:any, shown as type",
		// Any dialect may write a system message this way.
		"weak if " + langChainRoles + " and content:any",
		"weak if " + langChainRoles + " and data.tool_calls|kwargs.tool_calls|tool_calls:array",
	}},
	Members: Members{transcript.MemberImage: "image_url.url|image_url|source.data|data|base64", transcript.MemberCallName: "name", transcript.MemberArguments: "args"},
	Strip: []Trace{
		"additional_kwargs.reasoning/reasoning_content/reasoning_details/thinking_blocks/signatures/__gemini_function_call_thought_signatures__/__openai_function_call_ids__",
		"response_metadata.output.# if type=reasoning",
		"content.#.thoughtSignature/thought_signature",
		"content.#.extras.signature",
		"content.#.id if type=text|output_text|function_call",
		"data.additional_kwargs.reasoning/reasoning_content/reasoning_details/thinking_blocks/signatures/__gemini_function_call_thought_signatures__/__openai_function_call_ids__",
		"data.response_metadata.output.# if type=reasoning",
		"data.content.#.thoughtSignature/thought_signature",
		"data.content.#.extras.signature",
		"data.content.#.id if type=text|output_text|function_call",
		"kwargs.additional_kwargs.reasoning/reasoning_content/reasoning_details/thinking_blocks/signatures/__gemini_function_call_thought_signatures__/__openai_function_call_ids__",
		"kwargs.response_metadata.output.# if type=reasoning",
		"kwargs.content.#.thoughtSignature/thought_signature",
		"kwargs.content.#.extras.signature",
		"kwargs.content.#.id if type=text|output_text|function_call",
	},
	Driver: &langChain{&kwargs{&SideListDriver{SideList: &SideList{
		Body: "data|kwargs", Role: "type|id.-1", Envelope: []string{"lc", "type", "id"},
		Roles: []RoleName{
			{"human", transcript.RoleUser},
			{"ai", transcript.RoleAssistant},
			{"tool", transcript.RoleTool},
			{"system", transcript.RoleSystem},
			{"developer", transcript.RoleSystem},
			{"function", transcript.RoleTool},
			{"chat", transcript.RoleOther},
			{"remove", transcript.RoleNone},
			{"HumanMessage", transcript.RoleUser},
			{"AIMessage", transcript.RoleAssistant},
			{"ToolMessage", transcript.RoleTool},
			{"SystemMessage", transcript.RoleSystem},
			{"FunctionMessage", transcript.RoleTool},
			{"ChatMessage", transcript.RoleOther},
			{"RemoveMessage", transcript.RoleNone},
			{"HumanMessageChunk", transcript.RoleUser},
			{"AIMessageChunk", transcript.RoleAssistant},
			{"ToolMessageChunk", transcript.RoleTool},
			{"SystemMessageChunk", transcript.RoleSystem},
		},
		User: "human|HumanMessage", Assistant: "ai|AIMessage", Tool: "tool|ToolMessage",
		Controls: []string{"remove", "RemoveMessage"},
		Content:  "content",
		Calls:    "tool_calls", ID: "id", Name: "name", Args: "args", Want: transcript.ArgsWantObject,
		ResultID: "tool_call_id", ResultName: "name",
		Error: "status", Failed: "error",
		Thoughts: []string{"thinking", "redacted_thinking", "reasoning", "reasoning_content"}, Signature: []string{"signature", "data", "encrypted_content"},
		CallTag: hermesCall, ResultTag: hermesResult,
		Other: []Lens{"additional_kwargs.function_call", "additional_kwargs.tool_calls", "additional_kwargs.refusal"},
	}, extra: sideExtra{
		more: "invalid_tool_calls", also: []Lens{"tool_calls", "invalid_tool_calls", "additional_kwargs"},
	}}, []copyList{
		{list: "additional_kwargs.tool_calls", id: "id", name: "function.name"},
		{list: "content", tags: []string{"tool_use", "tool_call"}, id: "id", name: "name"},
		{list: "content", tags: []string{"function_call", "custom_tool_call"}, id: "call_id", name: "name"},
		{list: "content", tags: []string{"functionCall"}, id: "functionCall.id", name: "functionCall.name"},
		{list: "tool_call_chunks", id: "id", name: "name"},
	}, providerCall}},
}

// Conditions on the role of a message for the evidence: any role, roles that only
// this dialect has, and roles of results. A constructor ends its id list with the
// name of the class.
const (
	langChainRoles = "type|id.-1=human|ai|tool|system|developer|function|chat|remove|HumanMessage|AIMessage|ToolMessage|SystemMessage|" +
		"FunctionMessage|ChatMessage|RemoveMessage|HumanMessageChunk|AIMessageChunk|ToolMessageChunk|SystemMessageChunk"
	langChainOwn = "type|id.-1=human|ai|HumanMessage|AIMessage|ToolMessage|SystemMessage|" +
		"HumanMessageChunk|AIMessageChunk|ToolMessageChunk|SystemMessageChunk"
	langChainTool = "type|id.-1=tool|function|ToolMessage|FunctionMessage|ToolMessageChunk"
)

// langChain are messages with a list of calls, which may be empty, and a list of
// calls with invalid arguments.
type langChain struct{ *kwargs }

// Reader implements Driver.
func (d *langChain) Reader(b *transcript.Builder) Reader { return hook(&langChainReader{d.reader(b)}) }

type langChainReader struct{ kwargsReader }

// onMessage ignores an empty list of calls.
func (r *langChainReader) onMessage() bool {
	if !firstCall(r.now.calls).Exists() {
		r.now.calls = source.Value{}
	}
	return false
}

// onEnd reads the calls with invalid arguments.
func (r *langChainReader) onEnd(v source.Value) {
	for _, c := range r.vals[slotMore].Present() {
		r.readCall(c, transcript.ArgsWantString, r.now.wrong())
	}
	r.kwargsReader.onEnd(v)
}

// WriteResult implements Writer. It adds the fields that every message has if the
// message of the call has them.
func (d *langChain) WriteResult(r NewResult) []Field {
	if r.Kind == transcript.KindLegacyFunction {
		return d.kwargs.WriteResult(r)
	}
	out := given(Field{"tool_call_id", r.ID}, Field{"name", r.Name}, Field{"status", `"error"`})
	body := d.body(r.Message)
	for _, key := range []string{"additional_kwargs", "response_metadata"} {
		if body.Get(key).Exists() {
			out = append(out, Field{key, "{}"})
		}
	}
	if body.Get("id").Exists() {
		out = append(out, Field{"id", r.Fresh()})
	}
	return d.message(r.Message, d.Tool, append(out, Field{"content", r.Text}))
}

// Keys implements Writer.
func (d *langChain) Keys(v source.Value) WriterKeys {
	k := d.kwargs.Keys(v)
	k.Calls, k.KeepCalls = slices.Insert(k.Calls, 1, "invalid_tool_calls"), true
	return k
}
