package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// Codex is the session log of OpenAI Codex: records that wrap items of the
// Responses API, and events that repeat them.
var Codex = &Dialect{
	Name:    "codex",
	Title:   "Codex rollout",
	Summary: "A log in which each response_item record wraps a Responses item. The other records hold no calls or results of their own.",
	Where:   "~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl, ~/.codex/archived_sessions",
	Example: `{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"function_call","call_id":"call_1","name":"ls","arguments":"{}"}}
{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"a.txt"}}`,
	Provider: "openai-responses",
	Window:   transcript.WindowLog,
	// Its recorder warns of a line that it cannot parse, and goes on
	// (https://github.com/openai/codex/blob/main/codex-rs/core/src/rollout/recorder.rs).
	DamagedLine: DamagedSkipped,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=web_search_call|image_generation_call and @keys.#!=1",
		"shared if type=reasoning and !role:string and summary|encrypted_content:any",
		"decisive if type=function_call|local_shell_call|custom_tool_call|tool_search_call and !role:string and call_id|name",
		"decisive if type=function_call_output|custom_tool_call_output and !role:string and call_id|output",
		"decisive if type=tool_search_output and !role:string and call_id|tools",
		"none if type:string and type!=message",
		"none if !role:string",
		"none if !content",
		"none if role=tool|function",
		"none if !type and @tools",
		"none if role:string and any content has @tools",
		"decisive if content.0.type=input_text|output_text|input_image|input_file",
		"plain if role:string",
	}},
	Members: responsesMembers,
	Strip:   responsesStrip,
	Driver:  codexItems{codexRow},
	Log: &Log{
		Type: "type", Subtype: "payload.type", Speaks: []string{"response_item"}, Payload: "payload",
		Kinds:  []string{"event_msg", "turn_context", "compacted", "world_state", "session_meta", "inter_agent_communication*"},
		Header: "session_meta", HeaderHas: []string{"payload"},
		Evidence: []string{"timestamp", "ordinal"},
		Time:     "timestamp", Envelope: []string{"timestamp"},
		Ordinal: "ordinal", OnResume: `Codex answers it with "aborted" when it resumes the session`,
		Boundary: []string{"compacted"}, History: "payload.replacement_history",
		Notes:    []Noted{{"compacted", "payload.message"}},
		Rollback: []string{"thread_rolled_back"}, Turns: "payload.num_turns",
		Aborts: []string{"turn_aborted"},
		Hooks: LogHooks{
			Sessions: func(header source.Value) (names []source.Value) {
				for _, key := range []string{"id", "session_id", "forked_from_id"} { // one that was forked has the names of the other, too
					names = append(names, header.Get("payload").Get(key))
				}
				return names
			},
			Session: func(echo source.Value) source.Value { return echo.Get("payload").Get("thread_id") },
		},
		Echoes: []Echo{
			{
				Type: "item_completed", When: []*evidence.Cond{{Text: "payload.item.type=CommandExecution"}, {Text: codexDone}}, ID: "payload.item.id",
				Text: "payload.item.formatted_output|payload.item.aggregated_output", Code: "payload.item.exit_code", Wording: "Process exited with code $code\nOutput:\n$text",
				Tools: []string{"exec_command", "write_stdin"},
			},
			{
				Type: "item_completed", When: []*evidence.Cond{{Text: "payload.item.type=McpToolCall"}, {Text: codexDone}}, ID: "payload.item.id",
				Text: "payload.item.result.structured_content|payload.item.result.content|payload.item.error.message",
			},
			{
				Type: "item_completed", When: []*evidence.Cond{{Text: "payload.item.type=FileChange"}, {Text: codexDone}}, ID: "payload.item.id",
				Text: "payload.item.stdout|payload.item.stderr",
			},
			{
				Type: "exec_command_end", When: []*evidence.Cond{{Text: codexDone}}, ID: "payload.call_id",
				Text: "payload.formatted_output|payload.aggregated_output", Code: "payload.exit_code", Wording: "Exit code: $code\nOutput:\n$text",
				Tools: []string{"shell", "shell_command", "container.exec"},
			},
			{
				Type: "mcp_tool_call_end", When: []*evidence.Cond{{Text: codexDone}}, ID: "payload.call_id",
				Text: "payload.result.Ok.structuredContent|payload.result.Ok.content|payload.result.Err",
			},
			{Type: "patch_apply_end", When: []*evidence.Cond{{Text: codexDone}}, ID: "payload.call_id", Text: "payload.stdout|payload.stderr"},
		},
	},
}

// codexDone says that an event is not about a call that still runs.
const codexDone = "payload.item.status|payload.status!=inProgress|in_progress"

// codexRow describes the Responses items that Codex records. A call always has a
// call_id.
var codexRow = &Items{
	Type: "type", Role: "role", Text: "content", Messages: []string{"message"},
	ID: []string{"call_id"}, Item: "id", Name: "name",
	Reasoning: "reasoning", Sealed: "encrypted_content", Execution: "execution",
	TextTypes: []string{"input_text", "output_text", "input_image", "input_file"}, Typed: true,
	ProviderCalls: []string{"web_search_call", "image_generation_call"},
	Pairs: []ItemPair{
		{Call: "function_call", Outputs: []string{"function_call_output"}, Kind: transcript.KindFunction, Args: "arguments"},
		{Call: "local_shell_call", Outputs: []string{"function_call_output"}, Kind: transcript.KindLocalShell, Answer: "function_call_output"},
		{Call: "custom_tool_call", Outputs: []string{"custom_tool_call_output"}, Kind: transcript.KindCustom, Args: "input", Free: true},
		{Call: "tool_search_call", Outputs: []string{"tool_search_output"}, Kind: transcript.KindToolSearch, Payload: "tools"},
	},
}

// codexItems are items in which one type of output answers both functions and local
// shells.
type codexItems struct{ *Items }

// Reader implements Driver.
func (d codexItems) Reader(b *transcript.Builder) Reader {
	return hook(&codexReader{d.reader(b), map[string]transcript.CallKind{}})
}

type codexReader struct {
	itemsReader
	kinds map[string]transcript.CallKind // of those calls, by raw id
}

func (r *codexReader) onCall(_ source.Value, call transcript.Call) (transcript.Call, bool) {
	if call.Kind == transcript.KindLocalShell || call.Kind == transcript.KindFunction && !call.Answer.ByProvider() {
		r.kinds[call.ID.Raw] = call.Kind
	}
	return call, true
}

func (r *codexReader) onResult(_ source.Value, res transcript.Result) transcript.Result {
	if kind, known := r.kinds[res.ID.Raw]; known && res.Kind == transcript.KindFunction {
		res.Kind = kind
	}
	return res
}
