package engine

import (
	"fmt"
	"maps"
	"slices"
)

// A frame describes how the records of a log hold the messages of a history.
type frame struct {
	in         string // the member with the message; "" where the record is it
	id, parent string // "" where records do not name each other
	events     bool   // records have no content that could be left empty
	short      bool   // ids are eight hex digits
	// scope returns the thread of a record, if each thread has links of its own; nil if every
	// record has the previous one as its parent.
	scope func(record object) string
	// wrap puts messages into records.
	wrap func(b breaker, history []object) []object
	// marks are records by which an agent tells something of those around them.
	marks []object
	// spoils breaks a record as the agent itself does; nil if it is not known to.
	spoils func(record object)
}

func (f *frame) mark(b breaker) object { return copied(pick(b, f.marks...)) }

// records returns the records in a fixture's values: the values, or the elements of a list.
// Mere messages are not records.
func (f *frame) records(values []any) (out []object) {
	wraps := f.in == ""
	for _, v := range values {
		r := member(v)
		if lines := list(r["loglines"]); lines != nil {
			return f.records(lines)
		}
		if r != nil {
			out = append(out, copied(r))
			wraps = wraps || r[f.in] != nil
		}
	}
	if !wraps {
		return nil
	}
	return out
}

// message returns the message in a record.
func (w *wire) message(record object) object {
	if w.frame == nil || w.frame.in == "" {
		return record
	}
	if m, is := record[w.frame.in].(object); is {
		return m
	}
	return object{}
}

// thread returns the thread of its log that a record belongs to.
func (f *frame) thread(r object) string {
	if f.scope == nil {
		return ""
	}
	return f.scope(r)
}

// link gives the records of a log new ids, and the previous record of their thread as parent.
// The parent of a result is the record of its call if only records of their turn are between
// them.
func (b breaker) link(records []object) {
	f := b.wire.frame
	if f.parent == "" {
		return
	}
	last := map[string]string{}
	named := map[string]string{} // by the old id
	for n, r := range records {
		parent, linked := r[f.parent]
		if !linked {
			continue
		}
		scope := f.thread(r)
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", n+1)
		if f.short {
			id = id[:8]
		}
		if old, is := r[f.id].(string); is {
			if _, known := named[old]; !known {
				named[old] = id
			}
		}
		r[f.id], r[f.parent] = id, nil
		if on, has := last[scope]; has {
			r[f.parent] = on
		} else if s, is := parent.(string); is && f.scope != nil && scope != f.scope(object{}) {
			r[f.parent] = named[s] // where a thread branches off
		}
		last[scope] = id
	}
	for _, r := range records {
		for key, v := range r {
			if old, is := v.(string); is && key != f.id && key != f.parent && named[old] != "" {
				r[key] = named[old]
			}
		}
		if r[f.parent] == "" {
			r[f.parent] = nil
		}
	}
}

// unlink breaks the links of a log.
func (b breaker) unlink(records []object) {
	f := b.wire.frame
	for range 1 + b.IntN(3) {
		r, other := pick(b, records...), pick(b, records...)
		if _, linked := r[f.parent]; !linked {
			continue
		}
		switch b.IntN(5) {
		case 0:
			r[f.parent] = other[f.id]
		case 1:
			// If two records have one id, removing one makes readers use the other, but
			// emptying it does not.
			if !f.events {
				r[f.id] = other[f.id]
			}
		case 2:
			r[f.parent] = "gone"
		case 3:
			r[f.parent] = nil
		case 4:
			delete(r, f.parent)
		}
	}
}

// loose returns the fault in the links of a repaired log. Ids must be unique, parents must
// come before their children, and each thread must be one chain or, if results are children
// of their calls, one tree.
func (w *wire) loose(text []byte) string {
	f := w.frame
	if f == nil || f.parent == "" {
		return ""
	}
	known := map[any]bool{}
	last := map[string]any{}
	for _, r := range decoded(text) {
		parent, linked := r[f.parent]
		if !linked {
			continue
		}
		scope := f.thread(r)
		before, follows := last[scope]
		switch id := r[f.id]; {
		case known[id]:
			return fmt.Sprint("two records are ", id)
		case parent != nil && !known[parent]:
			return fmt.Sprint("no record before ", id, " is its parent ", parent)
		case parent == nil && follows:
			return fmt.Sprint(id, " begins a second chain")
		case f.scope == nil && parent != before:
			return fmt.Sprint(id, " does not follow the record before it")
		}
		known[r[f.id]] = true
		last[scope] = r[f.id]
	}
	return ""
}

// claudeScope returns the thread of a record of Claude Code.
func claudeScope(r object) string { return fmt.Sprint(r["isSidechain"] == true, r["agentId"]) }

// claudeRecord wraps a part of a message.
func claudeRecord(typ string, message object) object {
	return object{
		"type": typ, "uuid": "", "parentUuid": nil, "isSidechain": false, "sessionId": "s", "version": "2.1.33",
		"timestamp": "2026-02-08T17:00:00.000Z", "message": message,
	}
}

// claudeRecords writes messages as Claude Code does: usually one block a record, and
// sometimes the thread of a sub-agent among them.
func claudeRecords(b breaker, history []object) []object {
	var out []object
	for _, m := range history {
		id := fmt.Sprintf("msg_%x", b.Uint32())
		role, _ := m["role"].(string)
		blocks := list(m["content"])
		if len(blocks) == 0 || b.IntN(4) == 0 {
			blocks = []any{nil}
		}
		for _, block := range blocks {
			part := copied(m)
			if block != nil {
				part["content"] = []any{block}
			}
			r := claudeRecord(role, part)
			if role == "assistant" {
				part["id"], part["type"], r["requestId"] = id, "message", "req_"+id
			}
			out = append(out, r)
		}
	}
	if len(history) > 1 && b.IntN(4) == 0 {
		at := 0
		for _, r := range claudeRecords(b, b.said()) {
			if r["isSidechain"] = true; r["agentId"] == nil {
				r["agentId"] = "a1"
			}
			at += b.IntN(2) * b.IntN(max(1, len(out)-at))
			out = slices.Insert(out, at, r)
			at++
		}
	}
	return out
}

// aMinuteLater is the time of records that are not messages.
const aMinuteLater = "2026-02-08T17:01:00.000Z"

// copilotRecords writes events as Copilot CLI does.
func copilotRecords(b breaker, history []object) []object {
	out := []object{}
	if len(history) > 1 {
		out = append(out, object{"type": "session.start", "data": object{"sessionId": "s"}, "id": "", "parentId": nil, "timestamp": aMinuteLater})
	}
	for _, m := range history {
		r := copied(m)
		if r["id"], r["parentId"], r["timestamp"] = "", nil, aMinuteLater; r["type"] == "assistant.message" {
			member(r["data"])["messageId"] = fmt.Sprintf("m%x", b.Uint32())
		}
		out = append(out, r)
	}
	return out
}

// codexRecords writes items as Codex does.
func codexRecords(_ breaker, history []object) []object {
	out := []object{}
	if len(history) > 1 {
		out = append(out, object{"timestamp": aMinuteLater, "type": "session_meta", "payload": object{"id": "s", "cwd": "/w"}})
	}
	for _, m := range history {
		out = append(out, object{"timestamp": aMinuteLater, "type": "response_item", "payload": m})
	}
	return out
}

// qwenRecords writes contents as Qwen Code does.
func qwenRecords(_ breaker, history []object) []object {
	out := []object{}
	for _, m := range history {
		for _, p := range list(m["parts"]) {
			typ := map[any]string{"model": "assistant", "user": "user"}[m["role"]]
			r := object{"uuid": "", "parentUuid": nil, "sessionId": "s", "timestamp": aMinuteLater, "cwd": "/w", "version": "0.21.4"}
			part := copied(m)
			if member(p)["functionResponse"] != nil { // each is a record of its own
				typ, part["parts"] = "tool_result", []any{p}
			}
			r["type"], r["message"] = typ, part
			out = append(out, r)
			if typ != "tool_result" {
				break
			}
		}
	}
	return out
}

// keptWires are the files that agents keep.
var keptWires = []wire{
	{
		dialect: "claude-code", takes: claudeCode.takes, id: numbered,
		says: spoken, call: messagesCall, answer: messagesAnswer, calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "tool_use", "tool_result"},
		frame: &frame{
			in: "message", id: "uuid", parent: "parentUuid", scope: claudeScope, wrap: claudeRecords,
			marks: []object{
				claudeRecord("user", object{"role": "user", "content": "[Request interrupted by user]"}),
				claudeRecord("user", object{"role": "user", "content": "<task-notification>x</task-notification>"}),
				{"type": "system", "subtype": "compact_boundary", "uuid": "", "parentUuid": nil, "sessionId": "s", "timestamp": aMinuteLater, "isSidechain": false},
				{"type": "system", "subtype": "turn_duration", "uuid": "", "parentUuid": nil, "sessionId": "s", "timestamp": aMinuteLater, "isSidechain": false},
			},
		},
	},
	{
		dialect: "pi", takes: piLog.takes, id: numbered,
		says: spoken,
		call: func(id string) object {
			return object{"type": "toolCall", "id": id, "name": "f", "arguments": object{}}
		},
		answer: func(id string, text any) object {
			return object{"role": "toolResult", "toolCallId": id, "toolName": "f", "content": []any{object{"type": "text", "text": text}}, "isError": false}
		},
		calls: blocksOf("assistant", "content"), answers: itself,
		lists: []string{"content"}, kinds: []string{"text", "toolCall"},
		frame: &frame{
			in: "message", id: "id", parent: "parentId", short: true,
			wrap: alone("session", func(m object) object {
				return object{"type": "message", "id": "", "parentId": nil, "timestamp": aMinuteLater, "message": m}
			}),
			marks: []object{
				{"type": "message", "id": "", "parentId": nil, "timestamp": aMinuteLater, "message": object{
					"role": "assistant", "stopReason": "aborted", "content": []any{object{"type": "toolCall", "id": "broken", "name": "f", "arguments": object{}}},
				}},
				{"type": "label", "id": "", "parentId": nil, "timestamp": aMinuteLater, "targetId": "x", "label": "here"},
			},
		},
	},
	{
		dialect: "copilot-cli", takes: copilotCLI.takes, id: numbered,
		says: func(role, text string) object {
			return object{"type": role + ".message", "data": object{"content": text}}
		},
		call: func(id string) object {
			return object{"toolCallId": id, "name": "f", "arguments": object{}, "type": "function"}
		},
		answer: func(id string, text any) object {
			return object{"type": "tool.execution_complete", "data": object{"toolCallId": id, "success": true, "result": object{"content": text}}}
		},
		calls: func(c []object) []object {
			out := []object{{"type": "assistant.message", "data": object{"content": "", "toolRequests": anys(c)}}}
			for _, call := range c {
				out = append(out, object{"type": "tool.execution_start", "data": object{"toolCallId": call["toolCallId"], "toolName": "f", "arguments": object{}}})
			}
			return out
		},
		answers: itself, lists: []string{"toolRequests"},
		frame: &frame{
			in: "data", id: "id", parent: "parentId", events: true, wrap: copilotRecords,
			marks: []object{
				{"type": "abort", "data": object{"reason": "user"}, "id": "", "parentId": nil, "timestamp": aMinuteLater},
				{"type": "assistant.turn_end", "data": object{"turnId": "0"}, "id": "", "parentId": nil, "timestamp": aMinuteLater},
				{"type": "session.compaction_complete", "data": object{"success": true}, "id": "", "parentId": nil, "timestamp": aMinuteLater},
				{"type": "session.compaction_complete", "data": object{"success": false}, "id": "", "parentId": nil, "timestamp": aMinuteLater},
			},
		},
	},
	{
		dialect: "codex", takes: codexRollout.takes, id: numbered,
		says: func(role, text string) object {
			typ := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
			return object{"type": "message", "role": role, "content": []any{object{"type": typ, "text": text}}}
		},
		call: itemCall, answer: itemAnswer, calls: itself, answers: itself,
		lists: []string{"content"}, kinds: []string{"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"},
		frame: &frame{
			in: "payload", wrap: codexRecords,
			marks: []object{
				{"timestamp": aMinuteLater, "type": "event_msg", "payload": object{"type": "turn_aborted", "reason": "interrupted"}},
				{"timestamp": aMinuteLater, "type": "event_msg", "payload": object{"type": "token_count", "info": nil}},
				{"timestamp": aMinuteLater, "type": "compacted", "payload": object{"message": "", "replacement_history": []any{
					object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": "in short"}}},
				}}},
			},
		},
	},
	{
		dialect: "qwen-code", takes: qwenCode.takes, id: numbered,
		says: contentsText, call: contentsCall, answer: contentsAnswer, calls: blocksOf("model", "parts"), answers: blocksOf("user", "parts"),
		lists: []string{"parts"}, kinds: []string{"text", "functionCall", "functionResponse"},
		frame: &frame{
			in: "message", id: "uuid", parent: "parentUuid", wrap: qwenRecords,
			marks: []object{
				{"type": "system", "subtype": "attribution_snapshot", "uuid": "", "parentUuid": nil, "sessionId": "s", "timestamp": aMinuteLater, "systemPayload": object{}},
			},
		},
	},
	{
		dialect: "factory-droid", takes: factoryDroid.takes, id: numbered,
		says: spoken, call: messagesCall, answer: messagesAnswer, calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "tool_use", "tool_result"},
		frame: &frame{
			in: "message", id: "id", parent: "parentId",
			wrap: alone("session_start", func(m object) object {
				return object{"type": "message", "id": "", "parentId": nil, "timestamp": aMinuteLater, "message": m}
			}),
			marks: []object{
				{"type": "message", "id": "", "parentId": nil, "timestamp": aMinuteLater, "message": object{"role": "user", "content": "[Request interrupted by user]"}},
				{"type": "todo_state", "id": "", "parentId": nil, "timestamp": aMinuteLater},
			},
		},
	},
	{
		dialect: "claude-stream-json", takes: streamJSON.takes, id: numbered,
		says: spoken, call: messagesCall, answer: messagesAnswer, calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "tool_use", "tool_result"},
		frame: &frame{
			in: "message",
			wrap: alone("", func(m object) object {
				return object{"type": m["role"], "session_id": "s", "parent_tool_use_id": nil, "message": m}
			}),
			marks: []object{
				{"type": "user", "session_id": "s", "parent_tool_use_id": nil, "message": object{"role": "user", "content": "[Request interrupted by user]"}},
				{"type": "system", "subtype": "compact_boundary", "session_id": "s", "parent_tool_use_id": nil},
				{"type": "result", "subtype": "success", "session_id": "s"},
			},
		},
	},
	{
		dialect: "kimi-wire", takes: kimiWire.takes, id: numbered,
		says: func(role, text string) object {
			return object{"type": "context.append_message", "message": object{"role": role, "content": text}}
		},
		call: func(id string) object {
			return object{"type": "context.append_loop_event", "event": object{"type": "tool.call", "toolCallId": id, "name": "f", "args": object{}}}
		},
		answer: func(id string, text any) object {
			return object{"type": "context.append_loop_event", "event": object{"type": "tool.result", "toolCallId": id, "result": object{"output": text}}}
		},
		calls: itself, answers: itself,
		frame: &frame{
			in: "event", wrap: kimiRecords,
			marks: []object{{"type": "context.clear"}, {"type": "StepInterrupted"}, {"type": "metadata", "protocol_version": "1"}},
		},
	},
	{
		dialect: "goose", takes: gooseMessages.takes, id: numbered,
		says: func(role, text string) object {
			return object{"role": role, "created": 1, "content": []any{object{"type": "text", "text": text}}}
		},
		call: func(id string) object {
			return object{"type": "toolRequest", "id": id, "toolCall": object{"status": "success", "value": object{"name": "f", "arguments": object{}}}}
		},
		answer: func(id string, text any) object {
			value := object{"content": []any{object{"type": "text", "text": text}}, "isError": false}
			return object{"type": "toolResponse", "id": id, "toolResult": object{"status": "success", "value": value}}
		},
		calls: blocksOf("assistant", "content"), answers: blocksOf("user", "content"),
		lists: []string{"content"}, kinds: []string{"text", "toolRequest", "toolResponse"},
	},
	{
		dialect: "ai-sdk-ui", takes: uiMessages.takes, id: numbered,
		says: func(role, text string) object {
			return object{"role": role, "parts": []any{object{"type": "text", "text": text}}}
		},
		call:   func(id string) object { return object{"type": "tool-f", "toolCallId": id, "input": object{}} },
		answer: func(_ string, text any) object { return object{"state": "output-available", "output": text} },
		joined: both, calls: blocksOf("assistant", "parts"),
		state: []string{"state"}, states: []any{"input-streaming", "input-available", "approval-requested", "output-available", "output-error"},
		lists: []string{"parts"}, kinds: []string{"text", "tool-f", "step-start"},
	},
	{
		dialect: "opencode", takes: openCode.takes, id: numbered,
		says: func(role, text string) object {
			return object{"info": object{"role": role}, "parts": []any{object{"type": "text", "text": text}}}
		},
		call: func(id string) object {
			return object{"type": "tool", "callID": id, "tool": "f", "state": object{"status": "running", "input": object{}}}
		},
		answer: func(_ string, text any) object {
			return object{"state": object{"status": "completed", "input": object{}, "output": text}}
		},
		joined: both,
		calls:  func(c []object) []object { return []object{{"info": object{"role": "assistant"}, "parts": anys(c)}} },
		state:  []string{"state", "status"}, states: []any{"pending", "running", "completed", "error"},
		lists: []string{"parts"}, kinds: []string{"text", "tool", "step-start"},
	},
	{
		dialect: "gemini-cli", takes: geminiCLI, id: numbered,
		says: func(role, text string) object {
			return object{"type": map[string]string{"user": "user", "assistant": "gemini"}[role], "content": text}
		},
		call: func(id string) object { return object{"id": id, "name": "f", "args": object{}, "status": "executing"} },
		answer: func(id string, text any) object {
			return object{"status": "success", "result": []any{contentsAnswer(id, text)}}
		},
		joined: both,
		calls:  func(c []object) []object { return []object{{"type": "gemini", "content": "", "toolCalls": anys(c)}} },
		state:  []string{"status"}, states: []any{"scheduled", "executing", "awaiting_approval", "success", "error", "cancelled"},
		lists: []string{"toolCalls"},
		frame: &frame{
			wrap: geminiRecords,
			marks: []object{
				{"$set": object{"lastUpdated": aMinuteLater}},
				{"id": "i1", "timestamp": aMinuteLater, "type": "info", "content": "Request retried."},
			},
			spoils: sharedResults,
		},
	},
}

// sharedResults gives each call of a message the results of all, as Gemini CLI does when it resumes a
// session.
func sharedResults(m object) {
	all := []any{}
	for _, c := range list(m["toolCalls"]) {
		all = append(all, list(member(c)["result"])...)
	}
	for _, c := range list(m["toolCalls"]) {
		if call := member(c); list(call["result"]) != nil {
			call["result"] = copiedAny(all)
		}
	}
}

// both makes one record of a call and its result.
func both(call, answer object) object {
	out := maps.Clone(call)
	maps.Copy(out, answer)
	return out
}

// alone wraps each message alone, after a header of a type.
func alone(header string, record func(m object) object) func(breaker, []object) []object {
	return func(_ breaker, history []object) (out []object) {
		if header != "" && len(history) > 1 {
			out = append(out, object{"type": header, "id": "s", "timestamp": aMinuteLater, "cwd": "/w"})
		}
		for _, m := range history {
			out = append(out, record(m))
		}
		return out
	}
}

// kimiRecords writes events as Kimi Code does: successive actions of the model form a step.
func kimiRecords(b breaker, history []object) (out []object) {
	step := ""
	for _, m := range history {
		r := copied(m)
		switch event := member(r["event"]); {
		case event["type"] != "tool.call":
			step = ""
		case step == "":
			step = fmt.Sprintf("s%x", b.Uint32())
			fallthrough
		default:
			event["stepUuid"] = step
		}
		out = append(out, r)
	}
	return out
}

// geminiRecords writes messages as Gemini CLI does: a message is written again whenever it
// changes.
func geminiRecords(b breaker, history []object) (out []object) {
	if len(history) > 1 {
		out = append(out, object{"sessionId": "s", "projectHash": "p", "startTime": aMinuteLater, "lastUpdated": aMinuteLater})
	}
	for _, m := range history {
		r := copied(m)
		r["id"], r["timestamp"] = fmt.Sprintf("g%x", b.Uint32()), aMinuteLater
		if calls := list(r["toolCalls"]); calls != nil && b.IntN(2) == 0 {
			before := copied(r)
			for _, c := range list(before["toolCalls"]) {
				call := member(c)
				call["status"] = "executing"
				delete(call, "result")
			}
			out = append(out, before)
		}
		out = append(out, r)
	}
	return out
}
