package dialect

import (
	"strconv"

	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// OpenAIChat is the dialect of OpenAI Chat Completions, which most other providers
// and programs copy.
var OpenAIChat = &Dialect{
	Name:    "openai-chat",
	Title:   "OpenAI Chat Completions",
	Summary: "Messages with tool_calls. Each call is answered by a message with role tool.",
	Where:   "request bodies, saved histories, fine-tuning and batch files, logs of most agents",
	Example: `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"call_1","content":"a.txt"}`,
	Provider: "openai",
	Body:     &Body{Lists: []string{"messages"}},
	Evidence: &evidence.Table{Rows: []string{
		"none if !role:string",
		// The names of roles in protocol buffers; their results have no ids.
		"none if role=ROLE_*",
		"decisive if any tool_calls|toolCalls.* has name:string and arguments|args:any, shown by list",
		"decisive if any tool_calls|toolCalls.* has function|custom:object, shown by list",
		"decisive if any tool_calls|toolCalls.* has type=function and id|call_id:any and !name, shown by list",
		// A call without arguments still counts, unless an unknown key may hold
		// them.
		"decisive if any tool_calls|toolCalls.* has id|call_id:any and name:string and !input|parameters|params|kwargs, shown by list",
		// A program that writes calls another way still writes its other messages
		// this way.
		"none if tool_calls.0|tool_calls.*|toolCalls.0|toolCalls.*:object",
		"decisive if role=function and content:any and !tool_call_id|toolCallId|call_id|tool_call_ids",
		"decisive if tool_call_id|toolCallId|call_id|tool_call_ids and role=tool|function",
		// A result without the id of its call may have another key for it.
		"none if role=tool|function and @tools",
		"decisive if role=tool|function and content:any and !content.0:object",
		"decisive if role=tool|function and content.0.type:any and content.0.type!=*tool*",
		"none if role=tool|function",
		"decisive if function_call:object and function_call.name|function_call.arguments:string",
		"weak if role:string and any content has @tools",
		"shared if role=assistant and tool_calls|toolCalls:array",
		"shared if role=assistant and refusal:any",
		"plain if role:string and content:any",
		"plain if role:string and tool_calls|toolCalls:array",
		// Some programs store bookkeeping records among their messages.
		"plain if role=_*",
	}, Knows: []string{"tool_name"}},
	Request: [][]*evidence.Cond{{{Text: "tools.0.function"}}},
	Window:  transcript.WindowTool,
	// A call with its name beside the id has no function and needs no type.
	Members: Members{
		transcript.MemberRole: "role", transcript.MemberCallType: "type|name", transcript.MemberCallName: "function.name|name", transcript.MemberArguments: "function.arguments|arguments|args", transcript.MemberResultName: "name", transcript.MemberResultID: "tool_call_id|toolCallId|call_id",
		transcript.MemberResultContent: "content", transcript.MemberContent: "content", transcript.MemberLastText: "content.-1.text|content", transcript.MemberReasoning: "reasoning_content", transcript.MemberImage: "image_url.url|image_url",
		transcript.MemberSignature: "extra_content.google.thought_signature", transcript.MemberThinking: "thinking.type|reasoning_effort",
	},
	Beside: []string{"tool_plan"},
	Unsent: consolidated,
	Strip: []Trace{
		"reasoning/reasoning_details/reasoning_text/reasoning_opaque/thinking_blocks/reasoning_signature/codex_reasoning_items/codex_message_items if role=assistant",
		"content.# if type=reasoning",
		"extra_content.google.thought_signature",
		"provider_specific_fields.thought_signatures/thought_signature/thinking_blocks/reasoning_items",
		"tool_calls.#.extra_content.google.thought_signature",
		"tool_calls.#.provider_specific_fields.thought_signature",
		"tool_calls.#.thought_signature",
		"tool_calls.#.function.thought_signature",
		"tool_calls.#.function.provider_specific_fields.thought_signature",
	},
	Driver: &chat{&kwargs{&SideListDriver{SideList: &SideList{
		Role: "role", User: "user", Assistant: "assistant", Tool: "tool",
		Content: "content", MessageID: "id",
		Calls: "tool_calls|toolCalls", ID: "id|call_id", Function: "function|custom",
		Name: "name", Args: "arguments|args", Want: transcript.ArgsWantString,
		ResultID: "tool_call_id|toolCallId|call_id|tool_call_ids", ResultName: "name|tool_name",
		CallTag: hermesCall, ResultTag: hermesResult,
		Reasoning: "reasoning_content",
		Thoughts:  []string{"think", "thinking", "redacted_thinking"}, Signature: []string{"signature", "data", "encrypted"},
		Other: []Lens{"refusal", "audio", "additional_kwargs.tool_calls"},
	}, extra: sideExtra{
		more: "function_call", number: "index", also: []Lens{"tool_calls", "toolCalls", "additional_kwargs"},
	}}, []copyList{{list: "content", tags: []string{"tool_use"}, id: "id", name: "name"}}, providerCall}},
}

// chat are messages that may make a single call in function_call, as in the first
// version of the API. Ollama writes calls and results in its own way.
type chat struct{ *kwargs }

// Reader implements Driver.
func (d *chat) Reader(b *transcript.Builder) Reader {
	r := &chatReader{}
	r.begin(d, b)
	return r
}

type chatReader struct {
	kwargsReader
	chat     *chat
	bareness bareness
}

// begin resets the reader for a conversation.
func (r *chatReader) begin(d *chat, b *transcript.Builder) {
	*r = chatReader{kwargsReader: d.reader(b), chat: d}
	r.use(r)
}

// Renew implements Renewer.
func (r *chatReader) Renew() { r.begin(r.chat, r.b) }

// A bareness says whether the fields that calls lack identify a conversation of
// Ollama.
type bareness uint8

const (
	bareUnseen   bareness = iota
	bareSoFar             // all calls so far lack them, and nothing else shows the provider
	bareRuledOut          // some call has them
)

// onEnd reads the call in function_call.
func (r *chatReader) onEnd(v source.Value) {
	if call := r.vals[slotMore]; call.Kind() == source.Object {
		f := r.lenses.called.Read(r.b, call)
		r.legacy(call, f[0], f[1], r.now.wrong())
	}
	r.kwargsReader.onEnd(v)
}

// onCall inspects a call of the list. Ollama numbers functions, or writes calls
// with an arguments object and without id and type.
func (r *chatReader) onCall(v source.Value, call transcript.Call) (transcript.Call, bool) {
	call, custom := customCall(v, call)
	if r.numbered && r.undecided() && isSet(v.Get("function")) {
		r.ollama()
	}
	if !custom && r.bareness != bareRuledOut {
		r.noteBare(call.Form == transcript.ArgsObject && !isSet(r.row.ID.In(v)) && isSet(v.Get("function")) && !isSet(v.Get("type")))
	}
	return call, true
}

// onResult inspects a result. Ollama writes the name of the function instead of an
// id.
func (r *chatReader) onResult(v source.Value, res transcript.Result) transcript.Result {
	res = r.kwargsReader.onResult(v, res)
	id := r.vals[slotResultID]
	if id.Kind() == source.Array && id.First().Exists() {
		return res
	}
	if r.undecided() && isSet(v.Get("tool_name")) && !isSet(v.Get("tool_call_id")) {
		r.ollama()
	}
	if isSet(id) {
		r.noteBare(false)
	}
	return res
}

// undecided reports whether later messages may still decide the provider.
func (r *chatReader) undecided() bool { return r.b.Conv.Provider == "" || r.bareness == bareSoFar }

// ollama sets Ollama as the provider.
func (r *chatReader) ollama() { r.b.Conv.Provider, r.bareness = "ollama", bareRuledOut }

// noteBare notes whether a call lacks the fields that only Ollama leaves out. That
// shows the provider only if all calls lack them, and a result with an id rules it
// out.
func (r *chatReader) noteBare(is bool) {
	switch conv := r.b.Conv; {
	case r.bareness == bareRuledOut:
	case !is && r.bareness == bareSoFar:
		conv.Provider, r.bareness = "", bareRuledOut
	case !is:
		r.bareness = bareRuledOut
	case conv.Provider == "":
		conv.Provider, r.bareness = "ollama", bareSoFar
	}
}

// consolidated returns how many messages are already in the summary, according to
// the first record of a nanobot session. It returns 0 if that value is not a
// number.
func consolidated(v source.Value) (n int, says bool) {
	if !v.Get("_type").Is("metadata") {
		return 0, false
	}
	n, _ = strconv.Atoi(string(v.Get("last_consolidated").Raw()))
	return n, true
}
