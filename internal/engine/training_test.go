package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// TestTrainingRows: what chat templates and trainers make of a row decides about rows without a
// request around them, in each of the forms that columns and Arrow give the same row.
func TestTrainingRows(t *testing.T) {
	t.Parallel()
	const ask, sunny = `{"role":"user","content":"Weather?"}`, `{"role":"assistant","content":"Sunny."}`
	call := func(id, args string) string {
		return `{"role":"assistant","content":"","tool_calls":[{` + id + `"type":"function","function":{"name":"weather","arguments":` + args + `}}]}`
	}
	result := func(id string) string { return `{"role":"tool",` + id + `"content":"sun"}` }
	for _, tt := range []struct {
		name     string
		messages []string
		want     string // the rules of errors and warnings
		source   string
	}{
		{"arguments as an object", []string{ask, call(`"id":"c1",`, `{"a":1}`), result(`"tool_call_id":"c1",`), sunny}, "", "transformers, chat_extras: arguments are a dict"},
		{"arguments as text", []string{ask, call(`"id":"c1",`, `"{\"a\":1}"`), result(`"tool_call_id":"c1",`), sunny}, "", "TRL, dataset formats; trainers parse it"},
		{"no ids", []string{ask, call("", `{"a":1}`), result(""), sunny}, "", "transformers, chat_extras: the examples have none"},
		{"a target at the end", []string{ask, call("", `{"a":1}`)}, "", "TRL: the completion is the last message"},
		{"arguments that are cut off", []string{ask, call(`"id":"c1",`, `"{\"a\":"`), result(`"tool_call_id":"c1",`), sunny}, "arguments-invalid-json", "benchflow-ai/benchflow#848"},
		{"arguments that are a list", []string{ask, call(`"id":"c1",`, `"[1]"`), result(`"tool_call_id":"c1",`), sunny}, "tool-input-not-object", "QwenLM/Qwen3-Coder#444"},
		{"arguments that are text in text", []string{ask, call(`"id":"c1",`, `"\"a\""`), result(`"tool_call_id":"c1",`), sunny}, "tool-input-not-object", "QwenLM/Qwen3-Coder#444"},
		{"a result without a call", []string{ask, result(`"tool_call_id":"c9",`), sunny}, "orphan-tool-result", "transformers, chat_extras"},
		{"a result without a call or an id", []string{ask, result(""), sunny}, "orphan-tool-result", "transformers, chat_extras"},
		{"a call without a result", []string{ask, call(`"id":"c1",`, `{"a":1}`), ask, sunny}, "missing-tool-result", "transformers, chat_extras"},
	} {
		plain := `{"messages":[` + strings.Join(tt.messages, ",") + `]}`
		for form, row := range map[string]string{"JSONL": plain, "null padding": padded(t, plain, nil), "empty lists": padded(t, plain, []any{}), "a column of text": asText(t, plain)} {
			// Other rows make it a file of many.
			other := `{"messages":[` + ask + `,` + sunny + `]}`
			text := row + "\n" + other + "\n" + other + "\n"
			rep, err := Check(t.Context(), source.FromBytes("rows.jsonl", []byte(text)), Options{})
			if err != nil || rep.Skipped != "" {
				t.Fatal(err, rep.Skipped)
			}
			if got := namesOf(rep, rules.Warning); got != tt.want {
				t.Errorf("%s as %s: got %q, want %q (%s)\n%s", tt.name, form, got, tt.want, tt.source, row)
			}
		}
	}
	// A target still judges them as requests.
	row := `{"messages":[` + ask + `,` + call("", `{"a":1}`) + `,` + result("") + `]}` + "\n"
	rep, err := Check(t.Context(), source.FromBytes("rows.jsonl", []byte(row+row+row)), Options{Target: profile.ByName("openai")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := namesOf(rep, rules.Error), "arguments-not-string, missing-call-id"; got != want {
		t.Errorf("got %q for the target, want %q", got, want)
	}
}

// TestBareLines: lines of a Claude Code log without ids and roles are read, and a result is added as
// such a line.
func TestBareLines(t *testing.T) {
	t.Parallel()
	const before = `{"type":"user","message":{"content":"go"}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}
`
	const after = `{"type":"assistant","message":{"content":[{"type":"text","text":"done"}]}}
`
	out, f, err := repaired([]byte(before+after), FixOptions{Options: Options{Placeholder: "none"}})
	if err != nil || f.Before.File.Dialect != "claude-code" || f.Before.Calls != 2 || f.Before.Results != 1 {
		t.Fatalf("%v\n%s", err, render(f.Before))
	}
	const added = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"none","is_error":true}]}}
`
	if got, want := string(out), before+added+after; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTracedOutput: what a span records of a model's answer is no request, so an empty list of calls
// and an input in another form are no problems.
func TestTracedOutput(t *testing.T) {
	t.Parallel()
	const span = `{"uuid":"s2","parentUuid":"s1","startTime":"2026-06-01T16:50:21Z","input":[{"role":"user","content":"a"},` +
		`{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"b"}],` +
		`"output":{"role":"assistant","content":"c","tool_calls":[]}}`
	rep := check(t, "trace.json", []byte(`{"llmSpans":[`+span+`]}`), Options{})
	if got := namesOf(rep, rules.Warning); got != "" || rep.Skipped != "" || rep.File.CheckOnly != "spans record what was sent" {
		t.Errorf("got %q, only checked because %q\n%s", got, rep.File.CheckOnly, render(rep))
	}
}

// namesOf returns the rules of findings of at least a severity, sorted.
func namesOf(rep *Report, least rules.Severity) string {
	names := map[string]bool{}
	for f := range rep.Findings.All() {
		if f.Severity >= least {
			names[f.Rule.Name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// padded returns a row with the columns that Arrow adds to each message.
func padded(t *testing.T, row string, calls any) string {
	t.Helper()
	var v map[string][]map[string]any
	if err := json.Unmarshal([]byte(row), &v); err != nil {
		t.Fatal(err)
	}
	for _, m := range v["messages"] {
		for key, val := range map[string]any{"content": nil, "name": nil, "tool_call_id": nil, "tool_calls": calls} {
			if _, is := m[key]; !is {
				m[key] = val
			}
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// asText returns a row whose messages are JSON text in their column.
func asText(t *testing.T, row string) string {
	t.Helper()
	var v map[string]json.RawMessage
	if err := json.Unmarshal([]byte(row), &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(map[string]string{"messages": string(v["messages"])})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
