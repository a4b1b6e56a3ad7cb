package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// chatOf returns a history of one message with calls and the following messages, in OpenAI's
// format.
func chatOf(calls string, rest ...string) string {
	return `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[` + calls + `]},` + strings.Join(rest, ",") + `]`
}

const (
	callC1 = `{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`
	nine   = `{"id":"abcdefghi","type":"function","function":{"name":"f","arguments":"{}"}}`
	useT1  = `{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
)

// minimal are the smallest histories that providers are known to reject, by dialect, target
// and rule. The rule is "" for histories that they accept.
var minimal = []struct{ dialect, target, rule, text string }{
	{"anthropic", "anthropic", "missing-tool-result", `[` + useT1 + `,{"role":"user","content":"next"}]`},
	{"anthropic", "anthropic", "orphan-tool-result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"x"}]}]`},
	{"anthropic", "anthropic", "misplaced-tool-result", `[` + useT1 + `,{"role":"user","content":"wait"},{"role":"assistant","content":"ok"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`},
	{"openai-chat", "openai", "misplaced-tool-result", chatOf(callC1, `{"role":"user","content":"hurry"}`, `{"role":"tool","tool_call_id":"c1","content":"1"}`)},
	{"openai-responses", "deepseek-responses", "misplaced-tool-result", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"message","role":"developer","content":"hook"},{"type":"function_call_output","call_id":"c1","output":"1"}]`},
	{"openai-responses", "openai-responses", "", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"message","role":"developer","content":"hook"},{"type":"function_call_output","call_id":"c1","output":"1"}]`},
	{"bedrock", "bedrock", "split-tool-results", `[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}},{"toolUse":{"toolUseId":"b","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"b","content":[{"text":"2"}]}}]}]`},
	{"anthropic", "anthropic", "tool-result-not-first", `[` + useT1 + `,{"role":"user","content":[{"type":"text","text":"here"},{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`},
	{"openai-chat", "openai", "duplicate-tool-result", chatOf(callC1, `{"role":"tool","tool_call_id":"c1","content":"aborted"}`, `{"role":"tool","tool_call_id":"c1","content":"1"}`)},
	{"anthropic", "anthropic", "duplicate-call-id", `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"tool_use","id":"t1","name":"g","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`},
	{"openai-chat", "kimi", "missing-tool-result", chatOf(`{"id":"read:0","type":"function","function":{"name":"read","arguments":"{}"}}`, `{"role":"tool","tool_call_id":"read:0","content":"1"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"read:0","type":"function","function":{"name":"read","arguments":"{}"}}]}`, `{"role":"user","content":"next"}`)},
	{"openai-responses", "openai-responses", "result-kind-mismatch", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"custom_tool_call_output","call_id":"c1","output":"1"}]`},
	{"anthropic", "anthropic", "invalid-call-id", `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"functions.f:0","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions.f:0","content":"x"}]}]`},
	{"openai-chat", "mistral", "invalid-call-id", chatOf(`{"id":"call_abc","type":"function","function":{"name":"f","arguments":"{}"}}`, `{"role":"tool","tool_call_id":"call_abc","name":"f","content":"1"}`)},
	{"openai-responses", "openai-responses", "invalid-item-id", `[{"type":"function_call","id":"call_1","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"1"}]`},
	{"openai-responses", "openai-responses", "duplicate-item-id", `[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]}]`},
	{"openai-responses", "openai-responses", "reasoning-unreplayable", `[{"role":"user","content":"q"},{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"q2"}]`},
	{"gemini", "gemini", "missing-tool-result", `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"o":1}}}]},{"role":"model","parts":[{"text":"a"}]}]}`},
	{"gemini", "gemini", "first-role", `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"o":1}}}]}]}`},
	{"gemini", "gemini", "missing-result-name", `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"","response":"1"}}]}]}`},
	{"gemini", "gemini", "result-content-type", `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"","response":"1"}}]}]}`},
	{"gemini", "gemini", "empty-text", `[{"role":"user","parts":[{}]}]`},
	{"gemini", "gemini", "", `[{"role":"user","parts":[{"text":""}]}]`},
	{"bedrock", "bedrock-other", "mixed-tool-result-message", `[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1"}]}},{"text":"and?"}]}]`},
	{"openai-chat", "mistral", "user-after-tool", chatOf(nine, `{"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"1"}`, `{"role":"user","content":"next"}`)},
	{"openai-chat", "openai", "arguments-not-string", chatOf(`{"id":"c1","type":"function","function":{"name":"f","arguments":{}}}`, `{"role":"tool","tool_call_id":"c1","content":"1"}`)},
	{"anthropic", "anthropic", "tool-input-not-object", `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":[]}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`},
	{"openai-chat", "openai", "empty-tool-calls", `[{"role":"user","content":"q"},{"role":"assistant","content":"a","tool_calls":[]},{"role":"user","content":"n"}]`},
	{"openai-chat", "openai", "result-content-type", chatOf(callC1, `{"role":"tool","tool_call_id":"c1","content":null}`)},
	{"anthropic", "anthropic", "server-tool-unpaired", `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}]},{"role":"user","content":"n"}]`},
	{"anthropic", "anthropic", "server-tool-unpaired", `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"advisor","input":{}}]},{"role":"user","content":"n"},{"role":"assistant","content":[{"type":"advisor_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}]`},
	{"openai-chat", "deepseek", "reasoning-unreplayable", chatOf(callC1, `{"role":"tool","tool_call_id":"c1","content":"1"}`)},
	{"openai-chat", "kimi", "reasoning-unreplayable", chatOf(callC1, `{"role":"tool","tool_call_id":"c1","content":"1"}`)},
	{"openai-chat", "openai", "missing-result-name", `[{"role":"user","content":"q"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","content":"1"}]`},
	{"anthropic", "anthropic-thinking", "reasoning-unreplayable", `[` + useT1 + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]`},

	{"anthropic", "anthropic", "", `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"g","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"2"},{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"go on"}]}]`},
	{"openai-chat", "mistral", "", chatOf(nine, `{"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"1"}`, `{"role":"assistant","content":"","tool_calls":[`+nine+`]}`, `{"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"2"}`)},
	{"bedrock", "bedrock", "", `[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":""}]}}]}]`},
}

// TestMinimal: each rejected history has a finding of its rule, and no accepted history has a
// finding.
func TestMinimal(t *testing.T) {
	for _, c := range minimal {
		rep := check(t, c.target+" "+c.rule, []byte(c.text), Options{Target: profile.ByName(c.target)})
		if rep.Skipped == "" && rep.File.Dialect != c.dialect {
			t.Errorf("read as %s, want %s\n%s", rep.File.Dialect, c.dialect, c.text)
		}
		var got []string
		for f := range rep.Findings.All() {
			if f.Severity >= rules.Warning {
				got = append(got, f.Rule.Name)
			}
		}
		if rep.Skipped != "" || c.rule == "" && len(got) > 0 || c.rule != "" && !slices.Contains(got, c.rule) {
			t.Errorf("%s, target %s: want %q, got %v %s\n%s", c.dialect, c.target, c.rule, got, rep.Skipped, c.text)
		}
	}
}
