package rules_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// A way is a history in which a rule finds an error, and the strategies of the rule that
// resolve it if unsafe repairs are allowed.
type way struct {
	text       string // "" for the rule's bad example
	args       string // "" for those of the rule's examples
	strategies []string
}

// standard is the default of a rule.
var standard = []string{""}

// ways has every rule that reports errors.
var ways = map[string][]way{
	"invalid-json":          {{strategies: standard}},
	"truncated-record":      {{strategies: standard}},
	"nul-padding":           {{strategies: standard}},
	"glued-records":         {{strategies: standard}},
	"raw-newline-in-string": {{strategies: standard}},
	"invalid-utf8":          {{strategies: standard}},
	"lone-surrogate":        {{strategies: standard}},
	"broken-link":           {{strategies: standard}},
	"stale-parent":          {{strategies: standard}},
	"duplicate-record":      {{text: twice, strategies: standard}},
	"ordinal-mismatch":      {{strategies: standard}},
	"missing-tool-result": {
		{strategies: []string{"", "insert", "strip", "strip-turn", "text"}},
		{text: chat(`{"role":"assistant","content":"hm","tool_calls":[` + call("a", "f") + `,` + call("b", "f") + `]},{"role":"user","content":"n"}`), strategies: []string{"insert", "strip", "strip-turn", "text"}},
		{text: chat(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":"n"}`), strategies: []string{"insert", "strip", "strip-turn", "text"}},
		{text: `[{"role":"user","content":"q"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"role":"user","content":"n"}]`, strategies: []string{"insert", "strip", "strip-turn", "text"}},
		{text: `[{"role":"user","content":"q"},{"type":"local_shell_call","id":"lsh_1","call_id":"a","action":{"type":"exec","command":["ls"]},"status":"completed"},{"role":"user","content":"n"}]`, strategies: []string{"insert", "strip", "strip-turn", "text"}},
		{text: `[{"role":"user","content":"q"},{"type":"computer_call","call_id":"a","action":{"type":"screenshot"}},{"role":"user","content":"n"}]`, strategies: []string{"strip", "strip-turn", "text"}},
	},
	"pending-tool-call": {{args: "--send", strategies: []string{"", "insert", "strip", "text"}}},
	"orphan-tool-result": {
		{strategies: []string{"", "drop", "text", "relink"}},
		// One result too many: which is whose is not to be told.
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `]},` + result("x") + `,` + result("y") + `,{"role":"user","content":"n"}`), strategies: []string{"drop", "text", "relink"}},
		// As many results as calls, and names that tell more than their order.
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `,` + call("b", "g") + `]},` + result("x") + `,` + result("y") + `,{"role":"user","content":"n"}`), strategies: []string{"drop", "text", "relink"}},
		{text: chat(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"1"},{"type":"text","text":"n"}]}`), strategies: []string{"drop", "text", "relink"}},
	},
	"misplaced-tool-result": {{strategies: []string{"", "move", "text"}}},
	"result-before-call": {
		{strategies: []string{"", "move", "text", "drop"}},
		{text: claude(`{"type":"user","uuid":"u1","parentUuid":"u0","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}}`,
			`{"type":"assistant","uuid":"u2","parentUuid":"u1","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}}`,
			`{"type":"user","uuid":"u3","parentUuid":"u2","message":{"role":"user","content":"n"}}`), strategies: []string{"text", "drop"}},
	},
	"split-tool-results":    {{args: "--provider bedrock", strategies: standard}},
	"tool-result-not-first": {{strategies: standard}},
	"mixed-tool-result-message": {
		{strategies: []string{"", "split", "text"}},
		{text: converse(`{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}},{"text":"n"}]}`), args: "--provider bedrock-other", strategies: []string{"text"}},
	},
	"duplicate-tool-result": {
		{strategies: []string{"", "first", "last", "text"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `]},` + result("a") + `,{"role":"tool","tool_call_id":"a","content":"2"},{"role":"user","content":"n"}`), strategies: []string{"", "first", "last", "text"}},
	},
	"duplicate-call-id": {
		{strategies: []string{"", "mint", "text"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `,` + call("a", "g") + `]},` + result("a") + `,{"role":"user","content":"n"}`), strategies: []string{"", "mint", "text"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `,` + call("a", "g") + `]},{"role":"user","content":"n"}`), strategies: []string{"", "mint", "text"}},
	},
	"result-kind-mismatch": {
		{strategies: []string{"", "retag", "text"}},
		{text: `[{"type":"computer_call","call_id":"k1","action":{"type":"screenshot"}},{"type":"function_call_output","call_id":"k1","output":"ok"},{"role":"user","content":"n"}]`, strategies: []string{"text"}},
	},
	"missing-call-id": {
		{strategies: standard},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `,` + call("b", "g") + `]},{"role":"tool","content":["1","2"],"tool_calls":[{"tool_name":"f","content":"1"},{"tool_name":"g","content":"2"}]},{"role":"user","content":"n"}`), strategies: standard},
	},
	"invalid-call-id": {
		{strategies: standard},
		{text: chat(result(" x") + `,{"role":"user","content":"n"}`), strategies: standard},
	},
	"invalid-server-tool-id": {
		{strategies: []string{"", "rename", "drop", "text"}},
		{text: chat(`{"role":"assistant","content":[{"type":"server_tool_use","id":"","name":"web_search","input":{}},{"type":"text","text":"x"}]}`), strategies: []string{"drop", "text"}},
	},
	"invalid-item-id": {
		{args: "--send", strategies: standard},
		{text: `[{"role":"user","content":"q"},{"type":"reasoning","id":"r1","summary":[]},{"role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"a"}]}]`, args: "--send", strategies: standard},
	},
	"duplicate-item-id": {
		{args: "--send", strategies: standard},
		{text: `[{"role":"user","content":"q"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"x"}]},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"role":"user","content":"n"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"b"}]}]`, args: "--send", strategies: standard},
	},
	"invalid-tool-name": {
		{strategies: []string{"", "rename", "drop", "text"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"arguments":"{}"}}]},` + result("a") + `,{"role":"user","content":"n"}`), strategies: []string{"", "rename", "drop", "text"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", " f!") + `]},` + result("a") + `,{"role":"user","content":"n"}`), strategies: []string{"", "rename", "drop", "text"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", strings.Repeat("f!", 50)) + `]},` + result("a") + `,{"role":"user","content":"n"}`), strategies: []string{"", "rename", "drop", "text"}},
	},
	"missing-result-name":  {{strategies: standard}},
	"arguments-not-string": {{args: "--send", strategies: standard}},
	"arguments-invalid-json": {
		{args: "--provider minimax", strategies: []string{"wrap", "text"}},
		{args: "--provider anthropic", strategies: []string{"wrap", "text"}},
	},
	"tool-input-not-object": {
		{strategies: standard},
		{text: chat(strings.Replace(`{"role":"assistant","content":null,"tool_calls":[`+call("a", "f")+`]}`, `"{}"`, `"[1]"`, 1) + `,` + result("a") + `,{"role":"user","content":"n"}`), args: "--provider anthropic", strategies: standard},
		{text: chat(strings.Replace(`{"role":"assistant","content":null,"tool_calls":[`+call("a", "f")+`]}`, `"{}"`, `"null"`, 1) + `,` + result("a") + `,{"role":"user","content":"n"}`), args: "--provider gemini", strategies: standard},
	},
	"missing-arguments":   {{strategies: []string{"", "add", "drop", "text"}}},
	"result-content-type": {{args: "--send", strategies: standard}},
	"image-limit": {
		{args: "--send", strategies: []string{"", "text"}},
		{text: chat(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + screenshot + `]},` + screenshot + `]}`), args: "--send", strategies: []string{"", "text"}},
	},
	"empty-tool-calls":    {{strategies: standard}},
	"missing-call-type":   {{strategies: standard}},
	"empty-text":          {{strategies: standard}},
	"empty-message":       {{strategies: standard}},
	"trailing-whitespace": {{strategies: standard}},
	"invalid-role": {
		{strategies: []string{"", "rename"}},
		{text: `{"model":"m","max_tokens":9,"messages":[{"role":"narrator","content":"go"},{"role":"user","content":"hi"}]}`, strategies: []string{"text", "drop"}},
		{text: `[{"role":"user","content":"go"},{"role":"assistant","content":"hi"},{"role":"system","content":"s"},{"role":"user","content":"on"}]`, args: "--provider mistral", strategies: []string{"text", "drop"}},
	},
	"block-in-wrong-role": {
		{strategies: []string{"", "move", "text", "drop"}},
		{text: chat(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`), strategies: []string{"text", "drop"}},
		{text: chat(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_result","tool_use_id":"a","content":"1"}]}`), strategies: []string{"", "move", "text", "drop"}},
	},
	"first-role": {
		{text: converse(), args: "--provider bedrock-nova", strategies: []string{"drop", "text"}},
		{text: `[{"role":"assistant","content":[{"type":"text","text":"As I said."},{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]},{"role":"assistant","content":"so"},{"role":"user","content":"n"}]`, args: "--provider bedrock-nova", strategies: []string{"drop", "text"}},
		{text: `[{"role":"assistant","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}},{"text":"n"}]},{"role":"assistant","content":[{"text":"b"}]}]`, args: "--provider bedrock-nova", strategies: []string{"drop", "text"}},
	},
	"missing-user-message": {
		{strategies: []string{"text"}},
		{text: `[{"role":"system","content":"s"},{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}]`, args: "--provider glm", strategies: []string{"text"}},
	},
	"consecutive-roles": {
		{args: "--provider bedrock", strategies: []string{"", "merge", "drop"}},
		{text: chat(`{"role":"assistant","content":"a","tool_calls":[` + call("a", "f") + `]},` + result("a") + `,{"role":"assistant","content":"b"},{"role":"assistant","content":"c","tool_calls":[` + call("b", "f") + `]},` + result("b")), args: "--provider vllm", strategies: []string{"drop", "text"}},
	},
	"user-after-tool": {{strategies: []string{"text"}}},
	"last-role": {
		{text: chat(`{"role":"assistant","content":"a"}`), args: "--send --provider mistral", strategies: []string{"drop", "text"}},
	},
	"tool-use-not-last": {
		{text: chat(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"text","text":"B"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`), strategies: standard},
		{text: chat(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"text","text":"B"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`), strategies: standard},
	},
	"reasoning-unreplayable": {
		{strategies: []string{"", "drop"}},
		{text: chat(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"B"}]},{"role":"user","content":"n"}`), args: "--provider anthropic-thinking", strategies: []string{"", "drop"}},
		{text: chat(`{"role":"assistant","content":null,"tool_calls":[` + call("a", "f") + `]},` + result("a")), args: "--provider kimi", strategies: []string{"text"}},
		{text: chat(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`), args: "--provider anthropic-thinking", strategies: []string{"text"}},
	},
	"interleaved-reasoning": {{args: "--send", strategies: []string{"", "drop"}}},
	"item-not-stored": {
		{strategies: []string{"", "drop"}},
		{text: `{"model":"gpt-5","store":false,"input":[{"role":"user","content":"q"},{"type":"item_reference","id":"fc_1"},{"type":"function_call_output","call_id":"c1","output":"1"}]}`, strategies: []string{"", "drop"}},
		{text: `[{"role":"user","content":"q"},{"type":"item_reference","id":"msg_1"},{"role":"user","content":"n"}]`, args: "--provider openai-responses-zdr", strategies: []string{"", "drop"}},
	},
	"server-tool-unpaired": {
		{strategies: []string{"", "drop", "text"}},
		{text: chat(`{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"text","text":"x"}]},{"role":"user","content":"n"},{"role":"assistant","content":"b"}`), strategies: []string{"", "drop", "text"}},
	},
	"cache-control-limit": {{strategies: standard}},
	"missing-tool-config": {{strategies: []string{"text"}}},
	"null-in-schema": {
		{args: "--provider openai", strategies: standard},
		{text: `{"messages":[{"role":"user","content":"q"}],"tools":[{"name":"f","input_schema":{"properties":{"a":null},"required":["a"]}},{"name":"g","input_schema":{"properties":{"a":null}}}]}`, args: "--provider anthropic", strategies: standard},
		{text: `{"messages":[{"role":"user","content":"q"}],"tools":"[{\"name\":\"f\",\"input_schema\":{\"properties\":{\"a\":null},\"required\":[\"a\"]}},{\"name\":\"g\",\"input_schema\":{\"properties\":{\"a\":null}}}]"}`, args: "--provider anthropic", strategies: standard},
	},
}

// noWay says why an error cannot be resolved.
var noWay = map[string]string{
	"too-deep": "readers refuse the record whatever is changed in it",
}

// noErrors are the rules that report none.
var noErrors = []string{
	"duplicate-key", "unsent-branch", "interrupted-tool-call", "reused-call-id", "result-order-mismatch", "ambiguous-pairing",
	"mixed-dialect", "result-name-mismatch", "unknown-tool", "unread-tool-field", "schema-violation", "replayed-reasoning",
}

// screenshot is a block with an image of 1440 × 8570 pixels.
const screenshot = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAABaAAACF6CAIAAAA="}}`

func chat(rest string) string { return `[{"role":"user","content":"q"},` + rest + `]` }

func converse(rest ...string) string {
	first := `[{"role":"user","content":[{"text":"q"}]}`
	if len(rest) == 0 {
		first = `[{"role":"assistant","content":[{"text":"a"}]},{"role":"user","content":[{"text":"q"}]}`
	}
	return strings.Join(append([]string{first}, rest...), ",") + `]`
}

// twice is a log in which a call was written twice.
const twice = `{"type":"metadata","protocol_version":"1.5"}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"u1","stepUuid":"s1","toolCallId":"c1","name":"f","args":{}},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"u1","stepUuid":"s1","toolCallId":"c1","name":"f","args":{}},"time":1}
{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"u1","toolCallId":"c1","result":{"output":"1"}},"time":2}
{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"n"}]},"time":3}`

func claude(records ...string) string {
	return `{"type":"user","uuid":"u0","parentUuid":null,"message":{"role":"user","content":"go"}}` + "\n" + strings.Join(records, "\n")
}

func call(id, name string) string {
	return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"{}"}}`
}

func result(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"1"}` }

// TestEveryErrorHasAWayOut: each rule that reports errors has strategies that resolve them.
func TestEveryErrorHasAWayOut(t *testing.T) {
	known := slices.Concat(slices.Collect(maps.Keys(ways)), slices.Collect(maps.Keys(noWay)), noErrors)
	slices.Sort(known)
	names := rules.Names()
	slices.Sort(names)
	if !slices.Equal(known, names) {
		t.Fatalf("the lists have\n%q\nand the rules are\n%q", known, names)
	}
	for _, r := range rules.All() {
		tried := map[string]bool{}
		for _, w := range ways[r.Name] {
			if w.text == "" {
				w.text = r.Bad
			}
			if w.args == "" {
				w.args = r.Args
			}
			for _, strategy := range w.strategies {
				tried[strategy] = true
				t.Run(r.Name+"="+strategy, func(t *testing.T) { leavesNothing(t, r, w, strategy) })
			}
		}
		for _, strategy := range r.Strategies {
			if len(ways[r.Name]) > 0 && strategy != "leave" && !tried[strategy] {
				t.Errorf("%s: strategy %s is not tried", r.Name, strategy)
			}
		}
	}
}

// TestMintPairsWhatIsAmbiguous: new ids by position resolve all findings about calls without
// ids. Results without a call become text, and calls without a result get a placeholder.
func TestMintPairsWhatIsAmbiguous(t *testing.T) {
	bare := func(name, args string) string {
		return `{"type":"function","function":{"name":"` + name + `","arguments":"` + args + `"}}`
	}
	calls := func(list ...string) string {
		return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") + `]}`
	}
	result := func(name, text string) string {
		return `{"role":"tool","name":"` + name + `","content":"` + text + `"}`
	}
	const user = `{"role":"user","content":"n"}`
	for _, c := range []struct {
		name, text                 string
		results, placeholders, was int
	}{
		{"a result too few", chat(calls(bare("f", "{}"), bare("f", "")) + "," + result("f", "one") + "," + user), 2, 1, 1},
		{"a result too many", chat(calls(bare("f", "{}")) + "," + result("f", "one") + "," + result("f", "two") + "," + user), 1, 0, 2},
		{"a result of another tool", chat(calls(bare("f", "{}"), bare("f", "{}")) + "," + result("g", "one") + "," + user), 2, 2, 1},
		{"calls with ids", chat(calls(call("a", "f"), call("b", "f")) + `,{"role":"tool","content":"one"},` + user), 2, 1, 1},
		{"results with ids", chat(calls(bare("f", "{}")) + `,{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"},` + user), 1, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fixed(t, c.text, "", "ambiguous-pairing", "mint")
			for x := range f.After.Findings.All() {
				if x.Severity > rules.Info {
					t.Errorf("%s is left: %s", x.Rule.Name, x.Message)
				}
			}
			if f.Before.Results != c.was || f.After.Results != c.results {
				t.Errorf("%d results, then %d, want %d, then %d", f.Before.Results, f.After.Results, c.was, c.results)
			}
			src := f.Pieces.Source()
			out := string(must(src.Bytes(source.Span{End: src.Size()})))
			if n := strings.Count(out, "[toolguard] No result"); n != c.placeholders {
				t.Errorf("%d placeholders, want %d:\n%s", n, c.placeholders, out)
			}
			for _, word := range []string{"one", "two"} {
				if strings.Count(c.text, word) != strings.Count(out, word) {
					t.Errorf("%q is lost:\n%s", word, out)
				}
			}
		})
	}
}

// TestNoWayOut has the other errors out of which there is no way: those of documents
// that cannot be read, and of transcripts that are only checked.
func TestNoWayOut(t *testing.T) {
	for rule, text := range map[string]string{
		"too-deep":         rules.ByName("too-deep").Bad,
		"invalid-json":     `[{"role":"user","content":"q"},{"role":"assistant" "content":"a"},{"role":"user","content":"n"}]`,
		"truncated-record": `[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"us`,
	} {
		f := fixed(t, text, "", rule, "")
		if !slices.ContainsFunc(f.After.Findings.List(), func(x engine.Finding) bool { return x.Rule.Name == rule && x.Severity == rules.Error }) {
			t.Errorf("nothing of %s is left: %s", rule, list(f.After))
		}
		if f.Changed() {
			t.Errorf("a document with %s is changed", rule)
		}
	}
	printed := `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},"parent_tool_use_id":null,"session_id":"s"}` + "\n" +
		`{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"on"}]},"parent_tool_use_id":null,"session_id":"s"}`
	_, err := engine.Settle(context.Background(), source.FromBytes("printed", []byte(printed)), engine.FixOptions{Unsafe: true})
	if !errors.As(err, new(*engine.CheckOnlyError)) {
		t.Errorf("what is only checked: %v", err)
	}
}

func leavesNothing(t *testing.T, r *rules.Rule, w way, strategy string) {
	t.Helper()
	f := fixed(t, w.text, w.args, r.Name, strategy)
	was := slices.ContainsFunc(f.Before.Findings.List(), func(x engine.Finding) bool { return x.Rule == r && x.Severity == rules.Error })
	if !was {
		t.Errorf("no error to begin with: %s", list(f.Before))
	}
	for x := range f.After.Findings.All() {
		if x.Rule == r && x.Severity > rules.Info {
			t.Errorf("it is left: %s\n%s", x.Message, list(f.After))
		}
	}
}

// fixed repairs a text with unsafe repairs allowed, and a strategy for a rule.
func fixed(t *testing.T, text, args, rule, strategy string) *engine.Fixed {
	t.Helper()
	opts := engine.FixOptions{Unsafe: true}
	words := strings.Fields(args)
	for i, word := range words {
		switch word {
		case "--send":
			opts.Send = true
		case "--provider":
			opts.Target = profile.ByName(words[i+1])
		}
	}
	if strategy != "" {
		opts.Strategy = map[string]string{rule: strategy}
	}
	src := source.FromBytes("a history", []byte(text))
	f, err := engine.Settle(context.Background(), src, opts)
	if errors.As(err, new(*engine.CheckOnlyError)) { // nothing in the text is of one dialect only
		opts.Dialect = dialect.ByName(f.Before.File.Dialect)
		f, err = engine.Settle(context.Background(), src, opts)
	}
	if err != nil {
		t.Fatal(err)
	}
	if f.After.Skipped != "" {
		t.Fatalf("it is no transcript: %s", f.After.Skipped)
	}
	return f
}

func list(r *engine.Report) string {
	var out []string
	for f := range r.Findings.All() {
		out = append(out, f.Rule.Name+" "+f.Severity.String())
	}
	return strings.Join(out, ", ")
}
