package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/provider"
)

// A call is a tool call in a request. Its id is "" if the request has none.
type call struct{ id, name, args string }

// A result is the result of a call.
type result struct{ id, name, text string }

// A message is what this package needs to know of a message or an item of a request.
type message struct {
	role    string
	calls   []call
	results []result
}

// An exchange is a call with its result, or one of them alone.
type exchange struct {
	call   *call
	result *result
}

// exchanges returns the calls of a request with their results, by ids and, if results have them,
// names, in the order of the calls. Results without a call come last. It is not how an API pairs
// them: those of Gemini are counted, and an API may take a result of another call.
func exchanges(messages []message) (out []exchange) {
	var alone []exchange
	for _, m := range messages {
		for _, r := range m.results {
			i := slices.IndexFunc(out, func(e exchange) bool {
				return e.result == nil && e.call.id == r.id && (e.call.name == r.name || r.name == "")
			})
			if i < 0 {
				alone = append(alone, exchange{result: &r})
				continue
			}
			out[i].result = &r
		}
		for _, c := range m.calls {
			out = append(out, exchange{call: &c})
		}
	}
	return append(out, alone...)
}

// String describes an exchange.
func (e exchange) String() string {
	if e.call == nil {
		return fmt.Sprintf("result %q has no call: %s", e.result.id, e.result.text)
	}
	called := fmt.Sprintf("%s %s %q", e.call.name, e.call.args, e.call.id)
	if e.result == nil {
		return called + " has no result"
	}
	return called + ": " + e.result.text
}

// A reply is what the model answers: a text, and the commands that it runs.
type reply struct {
	text     string
	commands []command
}

// A command is a shell command with the id of its call.
type command struct{ id, line string }

// A wire is an API of models. Its functions share no code with toolguard, and neither do the rules
// of package provider, so that the requests of agents are checked twice.
type wire struct {
	name string // as in package provider
	// path is a part of the paths of requests to a model.
	path string
	// read returns the messages of a request, and the names of the tools that it declares.
	read func(body []byte) ([]message, []string, error)
	// events returns the stream with a reply.
	events func(r reply, tool shell) []event
}

// An event is an event of a stream. Its name may be "", and its data a text that is not JSON.
type event struct {
	name string
	data any
}

// wires returns the APIs that agents use.
func wires() []*wire {
	return []*wire{
		{"anthropic", "/messages", readMessages, messagesEvents},
		{"openai-responses", "/responses", readResponses, responsesEvents},
		{"openai-chat", "/chat/completions", readChat, chatEvents},
		{"gemini", "enerateContent", readContents, contentsEvents},
	}
}

// wireOf returns the API with a name.
func wireOf(t *testing.T, name string) *wire {
	t.Helper()
	all := wires()
	i := slices.IndexFunc(all, func(w *wire) bool { return w.name == name })
	if i < 0 {
		t.Fatalf("expected one of %d model APIs, not %q", len(all), name)
	}
	return all[i]
}

// refusals returns why the API refuses a request.
func (w *wire) refusals(body []byte) (why []string) {
	rules, err := provider.Find(w.name)
	if err != nil {
		return []string{err.Error()}
	}
	for _, f := range rules.Faults(body) {
		why = append(why, f.Message)
	}
	return why
}

// A shell is a tool that runs a command, as an agent declares it.
type shell struct {
	name string
	args func(line string) map[string]any
}

// shells returns the tools of agents that run commands. Some agents declare several: the first
// is used.
func shells() []shell {
	said := func(field string) func(string) map[string]any {
		return func(line string) map[string]any {
			return map[string]any{field: line, "description": "Run a command"}
		}
	}
	return []shell{
		{"Bash", said("command")},
		{"bash", said("command")},
		{"run_shell_command", func(line string) map[string]any {
			// Qwen Code sometimes records no output of a command that ends at once.
			return map[string]any{"command": "trap 'sleep 0.3' EXIT; " + line, "description": "Run a command", "is_background": false}
		}},
		{"exec_command", func(line string) map[string]any { return map[string]any{"cmd": line} }},
		{"shell_command", func(line string) map[string]any { return map[string]any{"command": line} }},
		{"run_commands", func(line string) map[string]any { return map[string]any{"commands": []string{line}} }},
		{"shell", func(line string) map[string]any {
			return map[string]any{"command": []string{"bash", "-lc", line}}
		}},
		{"exec", func(line string) map[string]any { return map[string]any{"command": line} }},
	}
}

// text returns the texts of content that is a string, or a list of parts with texts, or
// anything else as JSON.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) == nil {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
		}
		return b.String()
	}
	return string(raw)
}

// encode returns a value as JSON. It is used for values of this package, which have an encoding.
func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func readMessages(body []byte) (out []message, tools []string, err error) {
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, nil, err
	}
	for _, m := range req.Messages {
		msg := message{role: m.Role}
		var blocks []struct {
			Type      string
			ID        string
			Name      string
			Input     json.RawMessage
			ToolUseID string `json:"tool_use_id"`
			Content   json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) == nil {
			for _, b := range blocks {
				switch b.Type {
				case "tool_use":
					msg.calls = append(msg.calls, call{b.ID, b.Name, string(b.Input)})
				case "tool_result":
					msg.results = append(msg.results, result{id: b.ToolUseID, text: text(b.Content)})
				}
			}
		}
		out = append(out, msg)
	}
	for _, t := range req.Tools {
		tools = append(tools, t.Name)
	}
	return out, tools, nil
}

func messagesEvents(r reply, tool shell) []event {
	stop := "end_turn"
	blocks := []map[string]any{{"type": "text", "text": ""}}
	deltas := []map[string]any{{"type": "text_delta", "text": r.text}}
	for _, c := range r.commands {
		stop = "tool_use"
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": "toolu_01" + c.id, "name": tool.name, "input": map[string]any{}})
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": encode(tool.args(c.line))})
	}
	out := []event{{"message_start", map[string]any{"type": "message_start", "message": map[string]any{
		"id": "msg_01" + unique(r), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}}}}
	for i, b := range blocks {
		out = append(
			out,
			event{"content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": b}},
			event{"content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": deltas[i]}},
			event{"content_block_stop", map[string]any{"type": "content_block_stop", "index": i}},
		)
	}
	return append(
		out,
		event{"message_delta", map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": 10},
		}},
		event{"message_stop", map[string]any{"type": "message_stop"}},
	)
}

// unique returns a name for a reply that no other reply of a script has.
func unique(r reply) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return -1
	}, r.text)
	return name + "000000000000"
}

func readResponses(body []byte) (out []message, tools []string, err error) {
	var req struct {
		Previous string `json:"previous_response_id"`
		Input    []struct {
			Type      string
			Role      string
			ID        string
			CallID    string `json:"call_id"`
			Name      string
			Arguments string
			Input     string
			Output    json.RawMessage
		}
		Tools []struct{ Name, Type string }
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, nil, err
	}
	if req.Previous != "" {
		return nil, nil, errors.New("previous_response_id: the server keeps no responses")
	}
	for _, item := range req.Input {
		m := message{role: item.Role}
		switch item.Type {
		case "function_call":
			m.calls = []call{{item.CallID, item.Name, item.Arguments}}
		case "custom_tool_call":
			m.calls = []call{{item.CallID, item.Name, item.Input}}
		case "function_call_output", "custom_tool_call_output":
			m.results = []result{{id: item.CallID, text: text(item.Output)}}
		}
		out = append(out, m)
	}
	for _, t := range req.Tools {
		name := t.Name
		if name == "" {
			name = t.Type
		}
		tools = append(tools, name)
	}
	return out, tools, nil
}

func responsesEvents(r reply, tool shell) []event {
	items := []map[string]any{{
		"id": "msg_" + unique(r), "type": "message", "role": "assistant", "status": "completed",
		"content": []any{map[string]any{"type": "output_text", "text": r.text, "annotations": []any{}}},
	}}
	for _, c := range r.commands {
		items = append(items, map[string]any{
			"id": "fc_" + c.id, "type": "function_call", "status": "completed", "call_id": "call_" + c.id,
			"name": tool.name, "arguments": encode(tool.args(c.line)),
		})
	}
	response := func(status string, output []map[string]any) map[string]any {
		return map[string]any{
			"id": "resp_" + unique(r), "object": "response", "created_at": 1, "status": status, "model": "gpt-5.1", "output": output,
			"usage": map[string]any{
				"input_tokens": 10, "input_tokens_details": map[string]any{"cached_tokens": 0},
				"output_tokens": 5, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 15,
			},
		}
	}
	out := []event{{"response.created", map[string]any{"type": "response.created", "response": response("in_progress", []map[string]any{})}}}
	for i, item := range items {
		for _, kind := range []string{"response.output_item.added", "response.output_item.done"} {
			out = append(out, event{kind, map[string]any{"type": kind, "output_index": i, "item": item}})
		}
	}
	return append(out, event{"response.completed", map[string]any{"type": "response.completed", "response": response("completed", items)}})
}

func readChat(body []byte) (out []message, tools []string, err error) {
	var req struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, nil, err
	}
	for _, m := range req.Messages {
		msg := message{role: m.Role}
		for _, c := range m.ToolCalls {
			msg.calls = append(msg.calls, call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		if m.Role == "tool" {
			msg.results = []result{{id: m.ToolCallID, text: text(m.Content)}}
		}
		out = append(out, msg)
	}
	for _, t := range req.Tools {
		tools = append(tools, t.Function.Name)
	}
	return out, tools, nil
}

func chatEvents(r reply, tool shell) []event {
	chunk := func(choices []any, usage any) event {
		return event{"", map[string]any{
			"id": "chatcmpl-" + unique(r), "object": "chat.completion.chunk", "created": 1, "model": "qwen3-coder-plus",
			"choices": choices, "usage": usage,
		}}
	}
	part := func(delta map[string]any, finish any) event {
		return chunk([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	out := []event{part(map[string]any{"role": "assistant", "content": r.text}, nil)}
	finish := "stop"
	for i, c := range r.commands {
		finish = "tool_calls"
		out = append(out, part(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": "call_" + c.id, "type": "function",
			"function": map[string]any{"name": tool.name, "arguments": encode(tool.args(c.line))},
		}}}, nil))
	}
	return append(
		out,
		part(map[string]any{}, finish),
		chunk([]any{}, map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}),
		event{"", "[DONE]"},
	)
}

func readContents(body []byte) (out []message, tools []string, err error) {
	var req struct {
		Contents []struct {
			Role  string
			Parts []struct {
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
				FunctionResponse *struct {
					ID, Name string
					Response json.RawMessage
				}
			}
		}
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, nil, err
	}
	for _, c := range req.Contents {
		m := message{role: c.Role}
		for _, p := range c.Parts {
			if f := p.FunctionCall; f != nil {
				m.calls = append(m.calls, call{f.ID, f.Name, string(f.Args)})
			}
			if f := p.FunctionResponse; f != nil {
				m.results = append(m.results, result{f.ID, f.Name, string(f.Response)})
			}
		}
		out = append(out, m)
	}
	for _, t := range req.Tools {
		for _, f := range t.FunctionDeclarations {
			tools = append(tools, f.Name)
		}
	}
	return out, tools, nil
}

func contentsEvents(r reply, tool shell) []event {
	parts := []any{map[string]any{"text": r.text}}
	for _, c := range r.commands {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"id": c.id, "name": tool.name, "args": tool.args(c.line)}})
	}
	var out []event
	for i, part := range parts {
		candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": []any{part}}}
		if i == len(parts)-1 {
			candidate["finishReason"] = "STOP"
		}
		out = append(out, event{"", map[string]any{
			"candidates":    []any{candidate},
			"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
			"modelVersion":  "gemini-2.5-pro",
		}})
	}
	return out
}
