package engine

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/source"
)

// TestClassIsMeasured: the class of a repair follows from the content that it removes and
// adds, whatever its rule says. Each entry of the list in package repair has a case here,
// with a counterexample.
func TestClassIsMeasured(t *testing.T) {
	const (
		user  = `{"role":"user","content":"q"}`
		call  = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
		use   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}`
		said  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"real"}]}`
		stand = `{"type":"tool_result","tool_use_id":"c1","content":"No result provided","is_error":true}`
	)
	body := func(messages ...string) string {
		return `{"model":"claude-opus-4","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
	}
	list := func(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }
	log := func(records ...string) string { return strings.Join(records, "\n") + "\n" }
	record := func(uuid, parent, rest string) string {
		return `{"parentUuid":` + parent + `,"sessionId":"s","type":` + rest + `,"uuid":"` + uuid + `","timestamp":"2026-02-08T17:00:0` + uuid[1:] + `.000Z"}`
	}
	logCall := record("u1", "null", `"user","message":{"role":"user","content":"q"}`) + "\n" +
		record("u2", `"u1"`, `"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}`)
	logResult := func(uuid, also string) string {
		return record(uuid, `"u2"`, `"user",`+also+`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"real"}]}`)
	}
	for _, c := range []struct {
		name, text, rule, target string
		want                     operation.Class
	}{
		{"a value that is encoded", `{"model":"gpt-5","messages":[` + user + `,` + strings.Replace(call, `"{}"`, `{"a":[1,"x\u00e9"],"b":{"c":null}}`, 1) + `]}`, "arguments-not-string", "", operation.Safe},
		{"a value that is decoded", list(user, strings.Replace(use, `"input":{}`, `"input":"{\"a\":\"x\"}"`, 1), said), "tool-input-not-object", "", operation.Safe},
		{"arguments that are empty", list(user, strings.Replace(use, `"input":{}`, `"input":null`, 1), said), "tool-input-not-object", "", operation.Safe},
		{"an empty list of calls", `{"model":"gpt-5","messages":[` + user + `,{"role":"assistant","content":"a","tool_calls":[]}]}`, "empty-tool-calls", "", operation.Safe},
		{"white space that is trimmed", body(user, `{"role":"assistant","content":"a  "}`), "trailing-whitespace", "", operation.Safe},
		{"an id that is renamed", list(user, strings.Replace(use, `"c1"`, `" c1"`, 1), strings.Replace(said, `"c1"`, `" c1"`, 1)), "invalid-call-id", "", operation.Safe},
		{"an id that is minted", list(user, strings.Replace(use, `"id":"c1",`, ``, 1), strings.Replace(said, `"tool_use_id":"c1",`, ``, 1)), "missing-call-id", "", operation.Safe},
		{"a mark for the cache", body(strings.Repeat(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},`, 4) + `{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`), "cache-control-limit", "", operation.Safe},
		{"an item's id", `{"model":"gpt-5","input":[{"role":"user","content":"q"},{"type":"function_call","id":"bad","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}]}`, "invalid-item-id", "", operation.Safe},
		{"a name copied from the call", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"response":{"r":1}}}]}]}`, "missing-result-name", "", operation.Safe},
		{"an empty name replaced by that of the call", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"","response":{"r":1}}}]}]}`, "missing-result-name", "", operation.Safe},
		{"a name that is null replaced by that of the call", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":null,"response":{"r":1}}}]}]}`, "missing-result-name", "", operation.Safe},
		{"a name that is a number replaced by that of the call", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":7,"response":{"r":1}}}]}]}`, "missing-result-name", "", operation.Unsafe},
		{"a shell that holds nothing else", list(user, use, user, said), "tool-result-not-first", "", operation.Safe},
		{"a message of results that moves as it is", list(user, `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`, user,
			`{"role":"tool","metadata":{"k":"v"},"tool_call_id":"c1","content":"real"}`, `{"role":"assistant","content":"y"}`), "misplaced-tool-result", "", operation.Safe},
		{"a shell that holds more", list(user, strings.Replace(use, `]}`, `,{"type":"tool_use","id":"c2","name":"ls","input":{}}]}`, 1), said,
			`{"role":"user","metadata":{"k":"v"},"content":[{"type":"tool_result","tool_use_id":"c2","content":"real"}]}`), "split-tool-results", "", operation.Unsafe},
		{"a placeholder", list(user, use, `{"role":"user","content":[`+stand+`,{"type":"tool_result","tool_use_id":"c1","content":"real"}]}`), "duplicate-tool-result", "", operation.Safe},
		{"a placeholder that says more", list(user, use, `{"role":"user","content":[`+strings.Replace(stand, `{`, `{"note":"x",`, 1)+`,{"type":"tool_result","tool_use_id":"c1","content":"real"}]}`), "duplicate-tool-result", "", operation.Unsafe},
		{"an exact copy", list(user, use, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"real"},{"type":"tool_result","tool_use_id":"c1","content":"real"}]}`), "duplicate-tool-result", "", operation.Safe},
		{"of a copy, what is its record's own", log(logCall, logResult("u3", ""), logResult("u4", "")), "duplicate-tool-result", "", operation.Safe},
		{"of a copy, what its record says besides", log(logCall, logResult("u3", ""), logResult("u4", `"reviewed":"keep",`)), "duplicate-tool-result", "", operation.Unsafe},
		{"an empty block", list(user, `{"role":"assistant","content":[{"type":"text","text":""},{"type":"text","text":"a"}]}`, use, said), "empty-text", "anthropic", operation.Safe},
		{"an empty block with citations", list(user, `{"role":"assistant","content":[{"type":"text","text":"","citations":[{"cited":"x"}]},{"type":"text","text":"a"}]}`, use, said), "empty-text", "anthropic", operation.Unsafe},
		{"an empty message", body(user, `{"role":"assistant","content":""}`, user), "empty-message", "", operation.Safe},
		{"an empty message of somebody", body(`{"role":"user","content":"","name":"bob"}`, user), "empty-message", "", operation.Unsafe},
		{"an empty message with a field nobody knows", body(`{"role":"user","content":"","x_note":{"k":1}}`, user), "empty-message", "", operation.Unsafe},
		{"an empty message with an id in what it holds", body(`{"role":"user","content":"","input":{"id":"x"}}`, user), "empty-message", "", operation.Unsafe},
		{"an empty block that says something elsewhere", list(user, `{"role":"assistant","content":[{"type":"text","text":"","content":"x"},{"type":"text","text":"a"}]}`, use, said), "empty-text", "anthropic", operation.Unsafe},
		{"an empty message with a member that is null", body(`{"role":"user","content":"","x_note":null}`, user), "empty-message", "", operation.Safe},
		{"of a copy, a key with nothing behind it", `[{"contents":[{"callId":"c1","name":"ls","$type":"functionCall","arguments":{}}],"x_note":{},"role":"assistant"},` +
			`{"role":"assistant","contents":[{"callId":"c1","name":"ls","$type":"functionCall","arguments":{}}],"x_note":{"k":null}}]`, "duplicate-call-id", "", operation.Unsafe},
		{"a placeholder that is inserted", list(user, use, user), "missing-tool-result", "", operation.Additive},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := Options{Send: true}
			if c.target != "" {
				opts.Target = profile.ByName(c.target)
			}
			if strings.Contains(c.text, "claude-opus") { // nothing else tells
				opts.Dialect = dialect.Anthropic
			}
			if c.rule == "split-tool-results" || c.rule == "missing-tool-result" {
				opts.Send = false
			}
			rep, err := Check(t.Context(), source.FromBytes("t", []byte(c.text)), opts)
			if err != nil {
				t.Fatal(err)
			}
			for f := range rep.Findings.All() {
				if f.Rule.Name != c.rule {
					continue
				}
				if f.Fix == nil || f.Fix.Class != c.want {
					t.Errorf("%+v, want %s", f.Fix, c.want)
				}
				return
			}
			t.Errorf("no %s in\n%s", c.rule, render(rep))
		})
	}
}

// TestOddRecords: these records once caused a panic.
func TestOddRecords(t *testing.T) {
	for _, text := range []string{
		`{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}` + "\n" + `{"timestamp":"t","type":"response_item","payload":{"id":"x","timestamp":"t","type":"info","content":"hi"}}`,
		`{"conversation":[{"role":"assistant","content":[{"type":"toolRequest","id":"t2"}]},{"id":"x y","role":"assistant","content":[{"type":"actionRequired"}]},{"id":"x y","role":"assistant"}]}`,
	} {
		if _, _, err := tryFix("odd", []byte(text), FixOptions{Unsafe: true, Options: Options{Send: true}}); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
