package rules_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// repaired repairs a text and returns the result, "" if it is unchanged.
func repaired(t *testing.T, text string, opts engine.FixOptions) string {
	t.Helper()
	f, err := engine.Settle(context.Background(), source.FromBytes("a history", []byte(text)), opts)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Changed() {
		return ""
	}
	src := f.Pieces.Source()
	return string(must(src.Bytes(source.Span{End: src.Size()})))
}

func withStrategy(name string) engine.FixOptions {
	rule, strategy, _ := strings.Cut(name, "=")
	return engine.FixOptions{Unsafe: true, Options: engine.Options{Strategy: map[string]string{rule: strategy}}}
}

// TestRelink: the leftover results of a turn answer its leftover calls by tool
// name, and otherwise by their order if there are as many of both.
func TestRelink(t *testing.T) {
	calls := func(list ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") + `]},`
	}
	named := func(id, name string) string {
		return `{"role":"tool","tool_call_id":"` + id + `","name":"` + name + `","content":"` + name + `"}`
	}
	const user = `,{"role":"user","content":"n"}`
	for _, c := range []struct{ name, text, want string }{
		{
			"one of each", chat(calls(call("a", "f")) + result("x") + user),
			chat(calls(call("a", "f")) + result("a") + user),
		},
		{
			"as many of both", chat(calls(call("a", "f"), call("b", "f")) + result("x") + "," + result("y") + user),
			chat(calls(call("a", "f"), call("b", "f")) + result("a") + "," + result("b") + user),
		},
		{
			"one is right", chat(calls(call("a", "f"), call("b", "f")) + result("a") + "," + result("y") + user),
			chat(calls(call("a", "f"), call("b", "f")) + result("a") + "," + result("b") + user),
		},
		{
			"the name tells more than the order", chat(calls(call("a", "f"), call("b", "g")) + named("x", "g") + "," + named("y", "f") + user),
			chat(calls(call("a", "f"), call("b", "g")) + named("b", "g") + "," + named("a", "f") + user),
		},
		{
			"the results of one tool come out even", chat(calls(call("a", "f"), call("b", "g"), call("c", "g")) + named("x", "f") + "," + named("y", "g") + user),
			"a",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := repaired(t, c.text, withStrategy("orphan-tool-result=relink"))
			if c.want == "a" {
				if !strings.Contains(got, named("a", "f")) || strings.Contains(got, `"tool_call_id":"y"`) || strings.Count(got, `"g"`) < 2 {
					t.Errorf("got %s", got)
				}
				return
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestSelectedRulesAreRepaired: the info rules that leave a history as it is repair
// it when they are selected by name, and no other strategy was chosen.
func TestSelectedRulesAreRepaired(t *testing.T) {
	for rule, text := range map[string]string{
		"result-order-mismatch": chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `,` + call("b", "f") + `]},` + result("b") + `,` + result("a") + `,{"role":"user","content":"n"}`),
		"reused-call-id":        chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `]},` + result("a") + `,{"role":"user","content":"n"},{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `]},` + result("a") + `,{"role":"user","content":"n"}`),
	} {
		selected := map[string]bool{rule: true}
		leave := map[string]string{rule: "leave"}
		if got := repaired(t, text, engine.FixOptions{}); got != "" {
			t.Errorf("%s is repaired without being asked for: %s", rule, got)
		}
		if got := repaired(t, text, engine.FixOptions{Options: engine.Options{Explicit: selected}}); got == "" {
			t.Errorf("%s is not repaired when it is selected", rule)
		}
		if got := repaired(t, text, engine.FixOptions{Options: engine.Options{Explicit: selected, Strategy: leave}}); got != "" {
			t.Errorf("%s is repaired when it is to be left: %s", rule, got)
		}
	}
}

// TestItemIDs: item ids are recorded content except for OpenAI, even if an item is identical.
func TestItemIDs(t *testing.T) {
	body := func(model, items string) string {
		return `{"model":"` + model + `","max_output_tokens":9,"input":[{"role":"user","content":"q"},` + items + `]}`
	}
	const (
		message   = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}`
		other     = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"b"}]}`
		bare      = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}`
		reasoning = `{"type":"reasoning","id":"rs_1","encrypted_content":"e","summary":[]}`
		search    = `{"type":"web_search_call","id":"ws_1","status":"completed"}`
		call      = `{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}`
		output    = `{"type":"function_call_output","call_id":"c","output":"1"}`
		user      = `{"role":"user","content":"n"}`
	)
	for _, c := range []struct {
		name, model, items, severity, want string
	}{
		{"an identical message", "m", message + "," + message, "warning", message},
		{"identical reasoning", "m", reasoning + "," + reasoning + "," + message, "warning", reasoning + "," + message},
		{"an identical search", "m", search + "," + search + "," + message, "warning", search + "," + message},
		{"the same to OpenAI", "gpt-5", search + "," + search + "," + message, "error", search + "," + message},
		{"an identical call", "m", call + "," + call + "," + output + "," + user, "warning", call + "," + output + "," + user},
		{"two messages", "m", message + "," + user + "," + other, "info", ""},
		{"two messages to OpenAI", "openai/gpt-5", message + "," + user + "," + other, "error", message + "," + user + "," + bare},
		{"two messages to an open model", "gpt-oss-120b", message + "," + user + "," + other, "info", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := body(c.model, c.items)
			severity := ""
			for _, f := range findings(t, c.name, text) {
				if f.Rule.Name == "duplicate-item-id" {
					severity = f.Severity.String()
				}
			}
			if severity != c.severity {
				t.Errorf("severity %q, want %q", severity, c.severity)
			}
			want := c.want
			if want != "" {
				want = body(c.model, want)
			}
			if got := repaired(t, text, engine.FixOptions{SafeOnly: true}); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestToolNames: repairs of names that no provider accepts.
func TestToolNames(t *testing.T) {
	history := func(name, result string) string {
		if result != "" {
			result = `"name":"` + result + `",`
		}
		return chat(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{` + name + `"arguments":"{}"}}]},{"role":"tool","tool_call_id":"a",` + result + `"content":"1"},{"role":"user","content":"n"}`)
	}
	for _, c := range []struct{ name, text, strategy, want string }{
		{"white space", history(`"name":" f ",`, ""), "", history(`"name":"f",`, "")},
		{"white space on one side", history(`"name":"f ",`, "f"), "", history(`"name":"f",`, "f")},
		{"white space, whatever the strategy", history(`"name":" f ",`, ""), "invalid-tool-name=drop", history(`"name":"f",`, "")},
		{"empty", history(`"name":"",`, ""), "invalid-tool-name=rename", history(`"name":"unknown_tool",`, "")},
		{"null", history(`"name":null,`, ""), "", history(`"name":"unknown_tool",`, "")},
		{"missing", history("", ""), "", history(`"name":"unknown_tool",`, "")},
		{"characters", history(`"name":"a b/c",`, ""), "", history(`"name":"a_b_c",`, "")},
		{"too long", history(`"name":"`+strings.Repeat("ab", 40)+`",`, ""), "", history(`"name":"`+strings.Repeat("ab", 32)+`",`, "")},
		{"dropped", history(`"name":"",`, ""), "invalid-tool-name=drop", chat(`{"role":"user","content":"n"}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := engine.FixOptions{Unsafe: true}
			if c.strategy != "" {
				opts = withStrategy(c.strategy)
			}
			if got := repaired(t, c.text, opts); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	// One trouble is one finding.
	var names []string
	for _, f := range findings(t, "white space", history(`"name":"f ",`, "f")) {
		names = append(names, f.Rule.Name)
	}
	if !slices.Equal(names, []string{"invalid-tool-name"}) {
		t.Errorf("white space of a name is reported as %q", names)
	}
}

// TestLocalShell: the API takes the output of a function for a local shell, and a
// placeholder is one, unless the call is paired by its item's own id.
func TestLocalShell(t *testing.T) {
	const placeholder = `"output":"[toolguard] No result was recorded for this tool call; it may or may not have run."}`
	shell := func(ids string) string {
		return `{"type":"local_shell_call",` + ids + `,"action":{"type":"exec","command":["ls"]},"status":"completed"}`
	}
	const user = `,{"role":"user","content":"n"}`
	for _, c := range []struct{ name, text, want string }{
		{"without a result", chat(shell(`"id":"lsh_1","call_id":"c1"`) + user), chat(shell(`"id":"lsh_1","call_id":"c1"`) + `,{"type":"function_call_output","call_id":"c1",` + placeholder + user)},
		{"without call_id", chat(shell(`"id":"lsh_1"`) + user), chat(shell(`"id":"lsh_1"`) + `,{"type":"local_shell_call_output","id":"lsh_1",` + placeholder + user)},
		{"answered like a function", chat(shell(`"id":"lsh_1","call_id":"c1"`) + `,{"type":"function_call_output","call_id":"c1","output":"a"}` + user), ""},
		{"answered as documented", chat(shell(`"id":"lsh_1","call_id":"c1"`) + `,{"type":"local_shell_call_output","id":"lsh_1","output":"a"}` + user), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := repaired(t, c.text, engine.FixOptions{}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if found := findings(t, c.name, c.text); c.want == "" && len(found) > 0 {
				t.Errorf("%s: %s", found[0].Rule.Name, found[0].Message)
			}
		})
	}
}

// TestTwoIDs: a call or a result that writes two ids is paired by the first, and
// then by the other, and both are renamed.
func TestTwoIDs(t *testing.T) {
	history := func(callIDs, resultIDs string) string {
		return chat(`{"role":"assistant","content":null,"tool_calls":[{` + callIDs + `,"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool",` + resultIDs + `,"content":"1"},{"role":"user","content":"n"}`)
	}
	for _, text := range []string{
		history(`"id":"fc_1","call_id":"call_1"`, `"tool_call_id":"call_1"`),
		history(`"call_id":"call_1","id":"fc_1"`, `"tool_call_id":"fc_1"`),
		history(`"id":"call_1"`, `"tool_call_id":"fc_1","call_id":"call_1"`),
		history(`"call_id":"call_1"`, `"call_id":"call_1"`),
		history(`"id":null,"call_id":"call_1"`, `"tool_call_id":"call_1"`),
	} {
		for _, f := range findings(t, "two ids", text) {
			t.Errorf("%s: %s: %s", text, f.Rule.Name, f.Message)
		}
	}
}

// TestNumberedRecords: in a log with numbered records nothing is inserted in the middle, and
// the agent's own repair is mentioned.
func TestNumberedRecords(t *testing.T) {
	record := func(ordinal, payload string) string {
		return `{"timestamp":"2026-01-02T03:04:05Z",` + ordinal + `"type":"response_item","payload":` + payload + `}`
	}
	const (
		call = `{"type":"function_call","name":"f","arguments":"{}","call_id":"c1"}`
		user = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
	)
	text := record(`"ordinal":4,`, call) + "\n" + record(`"ordinal":5,`, user)
	found := findings(t, "numbered records", text)
	want := `call "c1" to "f" has no result: Codex answers it with "aborted" when it resumes the session`
	if len(found) != 1 || found[0].Severity != rules.Info || found[0].Message != want || found[0].Fix != nil {
		t.Errorf("got %+v", found)
	}
	if got := repaired(t, text, engine.FixOptions{Options: engine.Options{Strategy: map[string]string{"missing-tool-result": "insert"}}}); got != "" {
		t.Errorf("a record is inserted:\n%s", got)
	}
	if found := findings(t, "records without numbers", record("", call)+"\n"+record("", user)); len(found) != 1 || found[0].Severity != rules.Error {
		t.Errorf("without numbers: %+v", found)
	}
}
