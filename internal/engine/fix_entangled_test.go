package engine

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

// left lists the errors that a repair leaves, with why their repairs were withheld.
func left(f *Fixed) string {
	var out []string
	for fd := range f.After.Findings.All() {
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

// TestFixEntangled: several defects of one id affect each other.
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
	signed := strings.Replace(useLine("a1", "r1", "m1", 3, "t1"), `"content":[`, `"content":[{"type":"thinking","thinking":"hm","signature":"s"},`, 1)
	use := func(id string) string { return `{"type":"tool_use","id":"` + id + `","name":"f","input":{}}` }
	for _, c := range []fixing{
		{
			"results before calls of one id are left", list(append(six[:8:8], answer)...), strategy(false, "result-before-call", "leave"), "",
			strings.Repeat("duplicate-tool-result, ", 5) + "result-before-call, " +
				strings.Repeat(", duplicate-call-id, missing-tool-result (another call of the turn has the same id, and the result with that id may belong to this call)", 2)[2:],
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
			"", "result-kind-mismatch (" + unfit + ")",
		},
		{
			"what is removed is not answered", list(user,
				`{"type":"function_call","call_id":"a","name":"","arguments":"{}"}`,
				`{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}`, user),
			strategy(true, "invalid-tool-name", "drop"),
			list(user, `{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"b","output":"`+placeholder+`"}`, user), "",
		},
		{
			"a result without an id answers a call whose id others have", list(user, chat(call("a", "f")), `{"role":"tool","content":"1"}`, chat(call("a", "f")), tool("a", "2"), user),
			FixOptions{},
			list(user, chat(call("a-3", "f")), `{"tool_call_id":"a-3","role":"tool","content":"1"}`, chat(call("a", "f")), tool("a", "2"), user), "",
		},
		{
			"no other record with its id comes to light",
			lines(userLine("u1", "null", "go", 1), useLine("a1", "u1", "m1", 2, "t1"), strings.Replace(useLine("a1", "u1", "m2", 3, "t2"), `"ls"`, `""`, 1), userLine("u2", "a1", "and?", 4)),
			strategy(true, "invalid-tool-name", "drop"),
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
			"a record is not hung on an id that comes again",
			lines(userLine("u1", "null", "go", 1), userLine("u2", "u1", "on", 2), userLine("u3", "gone", "on", 3), userLine("u2", "u3", "or", 4)),
			FixOptions{Unsafe: true},
			lines(userLine("u1", "null", "go", 1), userLine("u2", "u1", "on", 2), userLine("u3", "u1", "on", 3), userLine("u2", "u3", "or", 4)), "",
		},
		{
			"all that is there is not dropped", `{"custom_id":"1","body":{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"1"}]}}`,
			strategy(true, "orphan-tool-result", "drop"),
			"",
			"orphan-tool-result (not applied, because it would make the transcript unreadable: no messages found, only the fields \"custom_id\", \"body\")",
		},
		{
			"an orphan that keeps two turns apart", list(
				`{"type":"tool_search_call","call_id":"a","execution":"client","arguments":{},"status":"completed"}`,
				`{"type":"function_call_output","call_id":"gone","output":"1"}`,
				`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"a","output":"2"}`,
				`{"type":"function_call","call_id":"","name":"g","arguments":"{}"}`, user),
			strategy(true, "orphan-tool-result", "drop"),
			list(
				`{"type":"tool_search_call","call_id":"a","execution":"client","arguments":{},"status":"completed"}`,
				`{"type":"function_call_output","call_id":"gone","output":"1"}`,
				`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"a","output":"2"}`,
				`{"type":"function_call","call_id":"call_20aa7153de54","name":"g","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"call_20aa7153de54","output":"`+placeholder+`"}`, user),
			"missing-tool-result, orphan-tool-result (not applied, because it would change which call the result at byte 286 answers)",
		},
		{
			"a result that comes too late in a log", lines(
				`{"type":"message","id":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"f","arguments":{}}]}}`+"\n",
				`{"type":"message","id":"u1","parentId":"a1","message":{"role":"user","content":"wait"}}`+"\n",
				`{"type":"message","id":"r1","parentId":"u1","message":{"role":"toolResult","toolCallId":"a","toolName":"f","content":[{"type":"text","text":"1"}]}}`+"\n"),
			strategy(true, "misplaced-tool-result", "text"),
			lines(
				`{"type":"message","id":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"a","name":"f","arguments":{}}]}}`+"\n",
				`{"type":"message","id":"99d03951","message":{"role":"toolResult","toolCallId":"a","toolName":"f","content":[{"type":"text","text":"`+placeholder+`"}],"isError":true},"parentId":"a1"}`+"\n",
				`{"type":"message","id":"u1","parentId":"99d03951","message":{"role":"user","content":"wait"}}`+"\n",
				`{"type":"message","id":"r1","parentId":"u1","message":{"role":"user","content":[{"type":"text","text":"[toolguard] Result of f (id a), kept as text:"},{"type":"text","text":"1"}]}}`+"\n"), "",
		},
		{
			"one of two results in a message comes too late", list(
				`{"role":"assistant","content":[{"tool_call":{"id":"a","tool_name":"f","arguments":{}}}]}`, `{"role":"user","content":[{"text":"wait"}]}`,
				`{"role":"assistant","content":[{"tool_call":{"id":"b","tool_name":"g","arguments":{}}}]}`,
				`{"role":"tool","content":[{"tool_call_result":{"result":"1","origin":{"id":"a","tool_name":"f","arguments":{}},"error":false}},{"tool_call_result":{"result":"2","origin":{"id":"b","tool_name":"g","arguments":{}},"error":false}}]}`),
			strategy(true, "misplaced-tool-result", "text"),
			list(
				`{"role":"assistant","content":[{"tool_call":{"id":"a","tool_name":"f","arguments":{}}}]}`,
				`{"role":"tool","content":[{"tool_call_result":{"result":"`+placeholder+`","origin":{"tool_name":"f","arguments":{},"id":"a"},"error":true}}]}`,
				`{"role":"user","content":[{"text":"wait"}]}`,
				`{"role":"assistant","content":[{"tool_call":{"id":"b","tool_name":"g","arguments":{}}}]}`,
				`{"role":"tool","content":[{"tool_call_result":{"result":"2","origin":{"id":"b","tool_name":"g","arguments":{}},"error":false}}]}`,
				`{"role":"user","content":[{"text":"[toolguard] Result of f (id a), kept as text:\n1\n{\"arguments\":{},\"error\":false}"}]}`), "",
		},
		{
			"a call beside a result, where nothing is written as text", list(
				`{"content":[{"id":"a","arguments":"{}","name":"f"}],"source":"dev","type":"AssistantMessage"}`,
				`{"content":[{"id":"b","arguments":"{}","name":"g"},{"content":"1","name":"f","call_id":"a","is_error":false}],"type":"FunctionExecutionResultMessage"}`,
				`{"content":"on","source":"user","type":"UserMessage"}`),
			strategy(true, "block-in-wrong-role", "drop"),
			list(
				`{"content":[{"id":"a","arguments":"{}","name":"f"}],"source":"dev","type":"AssistantMessage"}`,
				`{"content":[{"content":"1","name":"f","call_id":"a","is_error":false}],"type":"FunctionExecutionResultMessage"}`,
				`{"content":"on","source":"user","type":"UserMessage"}`), "",
		},
		{
			"a record whose parent is lost hangs on the one before it, though the id of that stands twice",
			lines(userLine("u1", "null", "go", 1), userLine("u1", "null", "went", 1), userLine("u2", "gone", "on", 2)),
			FixOptions{Unsafe: true},
			lines(userLine("u1", "null", "go", 1), userLine("u1", "null", "went", 1), userLine("u2", "u1", "on", 2)), "",
		},
		{
			"a record that says that it is no sub-agent's hangs on one that does not",
			lines(`{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"go"}}`+"\n", userLine("u2", "gone", "on", 2)),
			FixOptions{Unsafe: true},
			lines(`{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"go"}}`+"\n", userLine("u2", "u1", "on", 2)), "",
		},
		{
			"a result for no call beside a text, in a log that folds",
			lines(`{"sessionId":"s","projectHash":"p","startTime":"t","lastUpdated":"t"}`+"\n",
				`{"id":"u1","type":"user","content":[{"functionResponse":{"id":"a","name":"f","response":{"output":"1"}}}]}`+"\n",
				`{"id":"u2","type":"user","content":[{"text":"go"},{"functionResponse":{"id":"b","name":"f","response":{"output":"2"}}}]}`+"\n",
				`{"id":"g1","type":"gemini","content":"done"}`+"\n"),
			FixOptions{Unsafe: true},
			lines(`{"sessionId":"s","projectHash":"p","startTime":"t","lastUpdated":"t"}`+"\n",
				`{"id":"u1","type":"user","content":[{"functionResponse":{"id":"a","name":"f","response":{"output":"1"}}}]}`+"\n",
				`{"id":"u2","type":"user","content":[{"text":"go"},{"functionResponse":{"id":"b","name":"f","response":{"output":"2"}}}]}`+"\n",
				`{"id":"g1","type":"gemini","content":"done"}`+"\n",
				`{"id":"u1","type":"user","content":[{"text":"[toolguard] Result of f (id a), kept as text:\n{\"output\":\"1\"}"}]}`+"\n",
				`{"id":"u2","type":"user","content":[{"text":"go"},{"text":"[toolguard] Result of f (id b), kept as text:\n{\"output\":\"2\"}"}]}`+"\n"), "",
		},
		{
			"a result before its call, whose turn is signed",
			lines(userLine("u1", "null", "go", 1), resultLine("r1", "u1", "t1", 2), signed, userLine("u2", "a1", "on", 4)),
			FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"result-before-call": "text", "missing-tool-result": "text"}}},
			lines(userLine("u1", "null", "go", 1),
				logLine("r1", "u1", "user", "", `{"role":"user","content":[{"type":"text","text":"[toolguard] Result of ls (id t1), kept as text:\nx"}]}`, 2), signed,
				logLine("1a7e75ad-61fb-4a63-9f4d-1f32b5db2f98", "a1", "user", "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"`+placeholder+`","is_error":true}]}`, 3),
				userLine("u2", "1a7e75ad-61fb-4a63-9f4d-1f32b5db2f98", "on", 4)), "",
		},
		{
			"a result without an id in a part of a conversation",
			`{"run_type":"chain","inputs":{"messages":[{"type":"tool","tool_call_id":null,"name":"f","content":"1","status":"success"},{"type":"human","content":"on"}]},"outputs":{"messages":[{"type":"ai","content":"done"}]}}`,
			FixOptions{Unsafe: true},
			"", "",
		},
		{
			"a result without an id that answers no call", list(user, `{"role":"tool","content":"1"}`, answer),
			FixOptions{},
			"", "missing-call-id (the result answers no call of this conversation: see orphan-tool-result), orphan-tool-result",
		},
		{
			"what names no call is not answered by what the provider keeps",
			`{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","output":"1"},{"role":"user","content":"on"}]}`,
			FixOptions{Unsafe: true},
			`{"model":"m","previous_response_id":"resp_1","input":[{"role":"user","content":"[toolguard] Result of an unknown tool (id unknown), kept as text:\n1"},{"role":"user","content":"on"}]}`, "",
		},
		{
			"a call that is told again behind a result without an id",
			lines(`{"type":"user.message","data":{"content":"go"},"id":"e1","parentId":null}`+"\n",
				`{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"f","arguments":{}},"id":"e2","parentId":"e1"}`+"\n",
				`{"type":"tool.execution_complete","data":{"success":true,"result":{"content":"1"}},"id":"e3","parentId":"e2"}`+"\n",
				`{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"a","name":"f","arguments":{},"type":"function"}]},"id":"e4","parentId":"e3"}`+"\n",
				`{"type":"user.message","data":{"content":"on"},"id":"e5","parentId":"e4"}`+"\n"),
			strategy(true, "missing-tool-result", "text"),
			lines(`{"type":"user.message","data":{"content":"go"},"id":"e1","parentId":null}`+"\n",
				`{"type":"tool.execution_start","data":{"toolCallId":"a-3","toolName":"f","arguments":{}},"id":"e2","parentId":"e1"}`+"\n",
				`{"type":"tool.execution_complete","data":{"toolCallId":"a-3","success":true,"result":{"content":"1"}},"id":"e3","parentId":"e2"}`+"\n",
				`{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"a","name":"f","arguments":{},"type":"function"}]},"id":"e4","parentId":"e3"}`+"\n",
				`{"type":"user.message","data":{"content":"on"},"id":"e5","parentId":"e4"}`+"\n"), "missing-tool-result (" + unfit + ")",
		},
		{
			"a call that was begun and is requested nowhere",
			lines(`{"type":"user.message","data":{"content":"go"},"id":"e1","parentId":null}`+"\n",
				`{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"f","arguments":{}},"id":"e2","parentId":"e1"}`+"\n",
				`{"type":"user.message","data":{"content":"on"},"id":"e3","parentId":"e2"}`+"\n"),
			FixOptions{},
			"", "", // the client does not send it
		},
		{
			"what tells the dialect is not dropped",
			`[{"type":"function_call_output","call_id":"a","output":"1"},{"role":"assistant"},{"role":"assistant","content":"done"}]`,
			strategy(true, "orphan-tool-result", "drop"),
			"", "orphan-tool-result (not applied, because it would remove what shows that the format is openai-responses, unless the format is given)",
		},
		{
			"what is written in another format is not reordered", list(user, `{"role":"assistant","content":[`+use("a")+`]}`, `{"role":"user","content":[{"type":"text","text":"wait"}]}`, tool("a", "1"), answer),
			FixOptions{Unsafe: true},
			"", "tool-result-not-first (toolguard does not rewrite a message in another format: see mixed-dialect)",
		},
		{
			"a record before one whose parent is lost hangs on it, and is not cut off",
			lines(userLine("u2", "u1", "on", 1), userLine("u1", "gone", "go", 2), userLine("u3", "u2", "so", 3)),
			FixOptions{Unsafe: true},
			"", "",
		},
		{
			"a result before its call, which is dropped",
			lines(`{"type":"user.message","data":{"content":"go"},"id":"e1","parentId":null}`+"\n",
				`{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"1"}},"id":"e2","parentId":"e1"}`+"\n",
				`{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"a","name":"f","arguments":{},"type":"function"}]},"id":"e3","parentId":"e2"}`+"\n",
				`{"type":"user.message","data":{"content":"on"},"id":"e4","parentId":"e3"}`+"\n"),
			strategy(true, "result-before-call", "drop"),
			lines(`{"type":"user.message","data":{"content":"go"},"id":"e1","parentId":null}`+"\n",
				`{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"a","name":"f","arguments":{},"type":"function"}]},"id":"e3","parentId":"e1"}`+"\n",
				`{"type":"tool.execution_complete","data":{"toolCallId":"a","success":false,"error":{"message":"`+placeholder+`"}},"id":"52423047-be66-4931-9738-d78fcf125f9e","parentId":"e3"}`+"\n",
				`{"type":"user.message","data":{"content":"on"},"id":"e4","parentId":"52423047-be66-4931-9738-d78fcf125f9e"}`+"\n"), "",
		},
	} {
		t.Run(c.name, c.run)
	}
}

// A fixing is a text, its repaired form, "" if it is unchanged, and the remaining errors.
type fixing struct {
	name, text string
	opts       FixOptions
	want, left string
}

func (c fixing) run(t *testing.T) {
	t.Helper()
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
}

// TestFixDetails: content inside and around a result.
func TestFixDetails(t *testing.T) {
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const user = `{"role":"user","content":"go"}`
	result := func(more string) string { return `{"role":"tool","tool_call_id":"c1","content":"1"` + more + `}` }
	inserted := strings.Replace(result(""), `"1"`, `"[toolguard] No result was recorded for this tool call; it may or may not have run."`, 1)
	unsafe := FixOptions{Unsafe: true}
	text := FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"orphan-tool-result": "text"}}}
	log := userLine("u1", "null", "go", 1) + useLine("a1", "u1", "m1", 2, "t1") + resultLine("r1", "a1", "t1", 3)
	again := strings.Replace(resultLine("r2", "r1", "t1", 4), `"toolUseResult":"x"`, `"toolUseResult":{"stdout":"x"}`, 1)
	after := userLine("u2", "r2", "and?", 5)
	orphan := resultLine("r1", "u1", "t9", 2)
	ids := func(a, b string) string {
		return `[` + user + `,
{"role":"assistant","content":null,"tool_calls":[{"id":"` + a + `","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"` + b + `","type":"function","function":{"name":"g","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"` + b + `","content":"2"},
{"role":"tool","tool_call_id":"` + a + `","content":"1"}]`
	}
	for _, c := range []fixing{
		{
			"a message that moves keeps what it says of itself, though a placeholder comes too",
			`[{"role":"tool","contents":[{"$type":"functionResult","result":"r","callId":"c2"}],"x_note":"KEEP"},{"role":"assistant","contents":[{"$type":"functionCall","callId":"c1","name":"f","arguments":{}},{"$type":"functionCall","callId":"c2","name":"f","arguments":{}}]}]`,
			FixOptions{Unsafe: true, Options: Options{Send: true}},
			`[{"role":"assistant","contents":[{"$type":"functionCall","callId":"c1","name":"f","arguments":{}},{"$type":"functionCall","callId":"c2","name":"f","arguments":{}}]},{"role":"tool","contents":[{"$type":"functionResult","result":"` + stand + `","callId":"c1"}]},{"role":"tool","contents":[{"$type":"functionResult","result":"r","callId":"c2"}],"x_note":"KEEP"}]`, "",
		},
		{
			"a message of another format takes no result in",
			`[{"role":"user","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"type":"human","content":"go on"}]`,
			FixOptions{},
			`[{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"` + stand + `","is_error":true}]},{"type":"human","content":"go on"}]`, "",
		},
		{
			"who is named has said what is not a result",
			`[` + user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","name":"bob","content":[{"type":"text","text":"and then?"}]}]`,
			FixOptions{},
			`[` + user + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"` + stand + `","is_error":true}]},{"role":"user","name":"bob","content":[{"type":"text","text":"and then?"}]}]`, "",
		},
		{
			"an identical copy", user + "\n" + call + "\n" + result("") + "\n" + result("") + "\n" + user + "\n",
			FixOptions{},
			user + "\n" + call + "\n" + result("") + "\n" + user + "\n", "",
		},
		{
			"a copy that has another member", user + "\n" + call + "\n" + result("") + "\n" + result(`,"name":"f"`) + "\n" + user + "\n",
			FixOptions{},
			"", "duplicate-tool-result",
		},
		{
			"a copy of which another member differs", user + "\n" + call + "\n" + result(`,"name":"g"`) + "\n" + result(`,"name":"f"`) + "\n" + user + "\n", unsafe,
			user + "\n" + call + "\n" + result(`,"name":"f"`) + "\n" + user + "\n", "",
		},
		{"a copy beside which a record says something else", log + again + after, FixOptions{}, "", "duplicate-tool-result"},
		{
			"the same, when something may be dropped", log + again + after, unsafe,
			log + strings.Replace(after, `"parentUuid":"r2"`, `"parentUuid":"r1"`, 1), "",
		},
		{
			"text is no result", userLine("u1", "null", "go", 1) + orphan, text,
			userLine("u1", "null", "go", 1) + logLine("r1", "u1", "user", "", `{"role":"user","content":[{"type":"text","text":"[toolguard] Result of an unknown tool (id t9), kept as text:\nx"}]}`, 2), "",
		},
		{"ids that differ in halves of pairs", ids(`\ud800`, `\ud801`), unsafe, "", "lone-surrogate (two ids that differ only in these bytes would become the same)"},
		{"one id with half of a pair", ids(`\ud800`, `b`), unsafe, ids(`\ufffd`, `b`), ""},
		{
			"a legacy call without a name", "[" + user + `,{"role":"assistant","content":null,"function_call":{"arguments":"{}"}},` + user + "]",
			FixOptions{},
			"", "invalid-tool-name, missing-tool-result (" + unfit + ")",
		},
		{
			"blank lines between records", user + "\n\n" + call + "\n\n" + user + "\n",
			FixOptions{},
			user + "\n\n" + call + "\n\n" + inserted + "\n\n" + user + "\n", "",
		},
		{
			"one blank line", user + "\n" + call + "\n\n" + user + "\n",
			FixOptions{},
			user + "\n" + call + "\n\n" + inserted + "\n" + user + "\n", "",
		},
	} {
		t.Run(c.name, c.run)
	}
}
