package engine

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

// left lists the errors that are left of a repair, with why a repair was
// withheld.
func left(f *Fixed) string {
	var out []string
	for i := range f.After.Findings {
		fd := &f.After.Findings[i]
		if fd.Severity < rules.Error {
			continue
		}
		s := fd.Rule.Name
		if fd.Unfixed != "" {
			s += " (" + fd.Unfixed + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// TestFixEntangled: defects of one id get into each other's way.
func TestFixEntangled(t *testing.T) {
	call := func(id, name string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}`
	}
	chat := func(calls ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
	}
	tool := func(id, text string) string {
		return `{"role":"tool","tool_call_id":"` + id + `","content":"` + text + `"}`
	}
	list := func(elements ...string) string { return "[" + strings.Join(elements, ",\n") + "]" }
	lines := func(elements ...string) string { return strings.Join(elements, "") }
	const (
		user        = `{"role":"user","content":"go"}`
		answer      = `{"role":"assistant","content":"done"}`
		placeholder = "[toolguard] No result was recorded for this tool call; it may or may not have run."
	)
	strategy := func(unsafe bool, rule, name string) FixOptions {
		return FixOptions{Unsafe: unsafe, Options: Options{Strategy: map[string]string{rule: name}}}
	}
	six := []string{tool("same", "1"), tool("same", "2"), tool("same", "3"), tool("same", "4"), tool("same", "5"), tool("same", "6")}
	sixCalls := chat(call("same", "f"), call("same", "g"), call("same", "h"))
	six = append(append([]string{user}, six...), sixCalls)
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"f","input":{}}` }
	for _, c := range []struct {
		name, text string
		opts       FixOptions
		want, left string
	}{
		{
			"results before calls of one id are left", list(append(six[:8:8], answer)...), strategy(false, "result-before-call", "leave"),
			list(append(six[:8:8], tool("same", placeholder), tool("same", placeholder), answer)...),
			strings.Repeat("duplicate-tool-result, ", 5) + "result-before-call, duplicate-call-id, duplicate-call-id",
		},
		{
			"nothing recorded goes for a placeholder",
			lines(userLine("u1", "null", "go", 1), resultLine("r1", "u1", "t1", 2), useLine("a1", "r1", "m1", 3, "t1"),
				strings.Replace(resultLine("r2", "a1", "t1", 4), `"content":"x"`, `"content":"No result provided"`, 1), userLine("u2", "r2", "and?", 5)),
			FixOptions{Unsafe: true},
			"", "duplicate-tool-result",
		},
		{
			"an approval has an id of its own", list(
				`{"type":"mcp_approval_request","id":"same","name":"f","arguments":"{}","server_label":"s"}`,
				`{"type":"function_call","call_id":"same","name":"f","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"same","output":"1"}`,
				`{"type":"message","role":"user","content":"and?"}`),
			FixOptions{Unsafe: true},
			"", "",
		},
		{
			"a result of another shape keeps its type", list(
				`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`,
				`{"type":"tool_search_output","call_id":"a","execution":"client","tools":[],"status":"completed"}`,
				`{"type":"message","role":"user","content":"and?"}`),
			FixOptions{Unsafe: true},
			"", "result-kind-mismatch",
		},
		{
			"what is removed is not answered", list(user,
				`{"type":"function_call","call_id":"a","name":"","arguments":"{}"}`,
				`{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}`, user),
			FixOptions{Unsafe: true},
			list(user, `{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"b","output":"`+placeholder+`"}`, user), "",
		},
		{
			"a result without an id answers a call whose id others have", list(user, chat(call("a", "f")), `{"role":"tool","content":"1"}`, chat(call("a", "f")), tool("a", "2"), user),
			FixOptions{},
			list(user, chat(call("a-2", "f")), `{"tool_call_id":"a-2","role":"tool","content":"1"}`, chat(call("a", "f")), tool("a", "2"), user), "",
		},
		{
			"no other record with its id comes to light",
			lines(userLine("u1", "null", "go", 1), useLine("a1", "u1", "m1", 2, "t1"), strings.Replace(useLine("a1", "u1", "m2", 3, "t2"), `"ls"`, `""`, 1), userLine("u2", "a1", "and?", 4)),
			FixOptions{Unsafe: true},
			lines(userLine("u1", "null", "go", 1), useLine("a1", "u1", "m1", 2, "t1"), useLine("a1", "u1", "m2", 3), userLine("u2", "a1", "and?", 4)), "",
		},
		{
			"of two copies the one in its place stays",
			list(user, `{"role":"assistant","content":[`+use("a")+`,{"type":"tool_result","tool_use_id":"a","content":"1"}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`, answer),
			FixOptions{},
			list(user, `{"role":"assistant","content":[`+use("a")+`]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`, answer), "",
		},
		{
			"a placeholder does not answer another call", list(user,
				`{"type":"computer_call","id":"i","call_id":"a","action":{"type":"screenshot"},"pending_safety_checks":[]}`,
				`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`, user),
			FixOptions{},
			"", "missing-tool-result, duplicate-call-id, missing-tool-result",
		},
		{
			"all that is there is not dropped", `{"custom_id":"1","body":{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"1"}]}}`,
			FixOptions{Unsafe: true},
			"",
			"orphan-tool-result (withheld, for with it the result is no transcript any more: no messages in it, but the members \"custom_id\", \"body\")",
		},
		{
			"an orphan that keeps two turns apart", list(
				`{"type":"tool_search_call","call_id":"a","execution":"client","arguments":{},"status":"completed"}`,
				`{"type":"function_call_output","call_id":"gone","output":"1"}`,
				`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"a","output":"2"}`,
				`{"type":"function_call","call_id":"","name":"g","arguments":"{}"}`, user),
			FixOptions{Unsafe: true},
			list(
				`{"type":"tool_search_call","call_id":"a","execution":"client","arguments":{},"status":"completed"}`,
				`{"type":"function_call_output","call_id":"gone","output":"1"}`,
				`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"a","output":"2"}`,
				`{"type":"function_call","call_id":"call_20aa7153de54","name":"g","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"call_20aa7153de54","output":"`+placeholder+`"}`, user),
			"missing-tool-result, orphan-tool-result (withheld, for with it result-kind-mismatch was found 0 times before and 1 times after)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "" {
				c.want = c.text
			}
			fault, out, f := misfixed(c.name, []byte(c.text), c.opts)
			if fault != "" {
				t.Fatalf("%s\n%s", fault, out)
			}
			if string(out) != c.want {
				t.Errorf("got\n%s\nwant\n%s", out, c.want)
			}
			if s := left(f); s != c.left {
				t.Errorf("left: %s\nwant: %s", s, c.left)
			}
		})
	}
}
