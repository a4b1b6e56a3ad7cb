package dialect

import (
	"github.com/toolguard/toolguard/internal/evidence"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// KimiWire is the event log of Kimi Code and, in an older spelling, of Kimi CLI.
var KimiWire = &Dialect{
	Name:    "kimi-wire",
	Title:   "Kimi Code wire log",
	Summary: "A log of loop events. A tool.call is answered by a tool.result with the same toolCallId.",
	Where:   "~/.kimi/sessions/**/wire.jsonl, ~/.kimi-code/sessions/**/wire.jsonl",
	Example: `{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"call_1","name":"ls","args":{}}}
{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"call_1","result":{"output":"a.txt","isError":false}}}`,
	Provider: "neutral",
	Window:   transcript.WindowLog,
	// Its journal stops at the first line that is not JSON, and then rewrites the file without
	// that line and those behind it (parseLine and repairWireJournal of @moonshot-ai/kimi-code
	// 2.1.0). The same holds for a last line without a line feed.
	DamagedLine: DamagedEnds,
	Evidence: &evidence.Table{Rows: []string{
		"decisive if type=tool.call and toolCallId|name",
		"decisive if type=ToolCall and payload.id|payload.function.name",
		"decisive if type=tool.result and toolCallId|result:any",
		"decisive if type=ToolResult and payload.tool_call_id|payload.return_value:any",
		"plain if type=content.part and part:any",
		"plain if type=TurnBegin and payload.user_input:any",
		"plain if type=ContentPart and payload:any",
		"plain if type=user|assistant|system and role:string and content:any",
		"plain if role=user|assistant|system and !type and content:any, shown as type",
	}},
	Strip: []Trace{
		"@this if type=content.part and part.type=think",
		"@this if type=ContentPart and payload.type=think",
		"content.# if type=think",
	},
	Driver: kimiEvents{&Events{
		Type: "type|role",
		Messages: []MessageEvent{
			{Type: "user", RoleAt: "role", Text: "content"},
			{Type: "assistant", RoleAt: "role", Text: "content"},
			{Type: "system", RoleAt: "role", Text: "content"},
			{Type: "content.part", Role: transcript.RoleAssistant, Text: "part", Turn: "stepUuid"},
			{Type: "TurnBegin", Role: transcript.RoleUser, Text: "payload.user_input"},
			{Type: "ContentPart", Role: transcript.RoleAssistant, Text: "payload"},
		},
		Calls: []CallEvent{
			{
				Type: "tool.call", ID: "toolCallId", Name: "name", Turn: "stepUuid",
				Answer: `{"type":"tool.result","toolCallId":"$id","result":{"output":"$text"}}`,
			},
			// Arguments may arrive in parts. Kimi CLI resumes from another file, so nothing is
			// inserted here.
			{Type: "ToolCall", ID: "payload.id", Name: "payload.function.name"},
		},
		Results: []ResultEvent{
			{Type: "tool.result", ID: "toolCallId", Payload: "result", Error: []*evidence.Cond{{Text: "result.isError=true"}}},
			{
				Type: "ToolResult", ID: "payload.tool_call_id", Payload: "payload.return_value",
				Error: []*evidence.Cond{{Text: "payload.return_value.is_error=true"}},
			},
		},
	}},
	Log: &Log{
		Type:    "type|message.type",
		Payload: "event|message",
		Speaks:  []string{"context.append_loop_event", "context.append_message", "ToolCall", "ToolResult", "TurnBegin", "ContentPart"},
		Kinds:   []string{"context.*", "metadata", "StepBegin", "StatusUpdate", "ToolCallPart", "SubagentEvent", "ApprovalRequest", "ApprovalResponse", "TurnEnd", "StepInterrupted"},
		Header:  "metadata", HeaderHas: []string{"protocol_version"},
		Evidence: []string{"event"},
		// Each step closes the calls of the one before it (createLoopEventFold of
		// @moonshot-ai/kimi-code 2.1.0).
		Closes: []string{"context.append_loop_event"},
		Hooks: LogHooks{
			Once: Lens("event.uuid|message.id").In,
			// The agent sends such a record as it is, but behind the results of calls that are open
			// there (appendMessage of @moonshot-ai/kimi-code 2.1.0).
			TextRecord: func() (typ, payload string) { return "context.append_message", "message" },
		},
		Time: "timestamp", Envelope: []string{"agentId", "time", "timestamp"},
		Boundary: []string{"context.clear", "context.apply_compaction"},
		Rollback: []string{"context.undo"}, Turns: "count",
		Aborts: []string{"StepInterrupted", "turn.cancelled"},
		Echoes: []Echo{{
			Type: "agent.message.appended", When: []*evidence.Cond{{Text: "message.message.role=tool"}}, ID: "message.message.toolCallId",
			Text: "message.message.content", Joined: true,
		}},
	},
}

// kimiEvents are the events of Kimi Code. Other records hold texts.
type kimiEvents struct{ *Events }

// WriteText implements Writer. A result becomes a message of the user. Kimi CLI resumes from
// another file, so its results do not.
func (d kimiEvents) WriteText(t NewText) Text {
	if t.Call || !d.Type.In(t.Element).Is("tool.result") {
		return Text{}
	}
	output := t.Content
	if t.Content.Kind() == source.Object {
		output = t.Content.Get("output")
	}
	t.keep(t.Element, anyKey, output)
	content := list(t.blocks([]source.Value{output}, hasType, textBlock))
	return Text{Message: []Field{{"role", `"user"`}, {"content", content}, {"toolCalls", "[]"}}}
}
