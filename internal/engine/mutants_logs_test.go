package engine

import (
	"fmt"
	"slices"
)

// A frame says how the messages of a history stand in the records of a log.
type frame struct {
	in         string // the member with the message; "" where the record is it
	id, parent string // "" where records do not name each other
	short      bool   // ids are eight hex digits
	// scope tells threads apart that each have links of their own; nil where all
	// records hang on the one before.
	scope func(record object) string
	// wrap puts messages into records.
	wrap func(b breaker, history []object) []object
	// marks are records by which an agent tells something of those around them.
	marks []object
}

func (f *frame) mark(b breaker) object { return copied(pick(b, f.marks...)) }

// records returns what a fixture's values hold: records, or a list of them. What
// is only messages has none.
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

// link names the records of a log anew, and what each hangs on: the record
// before it in its thread. A result hangs on the record of its call where nothing
// stands between them but others of their turn.
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
		scope := ""
		if f.scope != nil {
			scope = f.scope(r)
		}
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
			r[f.id] = other[f.id]
		case 2:
			r[f.parent] = "gone"
		case 3:
			r[f.parent] = nil
		case 4:
			delete(r, f.parent)
		}
	}
}

// loose says what is wrong with the links of a repaired log: ids are unique,
// parents stand before their children, and each thread is one chain or, where
// results hang on their calls, one tree.
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
		scope := ""
		if f.scope != nil {
			scope = f.scope(r)
		}
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

// claudeScope tells the threads of a log of Claude Code apart.
func claudeScope(r object) string { return fmt.Sprint(r["isSidechain"] == true, r["agentId"]) }

// claudeRecord wraps a part of a message.
func claudeRecord(typ string, message object) object {
	return object{
		"type": typ, "uuid": "", "parentUuid": nil, "isSidechain": false, "sessionId": "s", "version": "2.1.33",
		"timestamp": "2026-02-08T17:00:00.000Z", "message": message,
	}
}

// claudeRecords writes messages as Claude Code does: a block a record mostly, and
// at times a sub-agent's thread among them.
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

// aMinuteLater is the time of what agents write beside messages.
const aMinuteLater = "2026-02-08T17:01:00.000Z"

// piRecords writes messages as pi does.
func piRecords(b breaker, history []object) []object {
	out := []object{}
	if len(history) > 1 {
		out = append(out, object{"type": "session", "version": 3, "id": "s", "timestamp": aMinuteLater, "cwd": "/w"})
	}
	for _, m := range history {
		out = append(out, object{"type": "message", "id": "", "parentId": nil, "timestamp": aMinuteLater, "message": m})
	}
	return out
}

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

// logWires are the files that agents keep.
var logWires = []wire{
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
			in: "message", id: "id", parent: "parentId", short: true, wrap: piRecords,
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
			in: "data", id: "id", parent: "parentId", wrap: copilotRecords,
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
		call: func(id string) object {
			return object{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}
		},
		answer: func(id string, text any) object {
			return object{"type": "function_call_output", "call_id": id, "output": text}
		},
		calls: itself, answers: itself,
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
}
