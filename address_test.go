package toolguard_test

import (
	"slices"
	"testing"

	"github.com/toolguard/toolguard"
)

// TestAddress: the host or the model in the URL of a request selects the profile, unless Target
// does.
func TestAddress(t *testing.T) {
	t.Parallel()
	const (
		chat = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_of_another_length","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"call_of_another_length","content":"a"}]}`
		contents = `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`
	)
	for _, tt := range []struct {
		dialect, body, address, target string
		want                           []string
	}{
		{"openai-chat", chat, "", "", nil},
		{"openai-chat", chat, "https://gw.example/v1/chat/completions", "", nil},
		{"openai-chat", chat, "https://api.mistral.ai/v1/chat/completions", "", []string{"invalid-call-id"}},
		{"openai-chat", chat, "api.mistral.ai", "", []string{"invalid-call-id"}},
		{"openai-chat", chat, "https://api.mistral.ai/v1/chat/completions", "openai", nil},
		{"gemini", contents, "https://gw.example/v1beta/models/gemini-2.5-pro:generateContent", "", nil},
		{"gemini", contents, "https://gw.example/v1beta/models/gemini-3-pro:generateContent", "", []string{"reasoning-unreplayable"}},
	} {
		opts := []toolguard.Option{toolguard.Dialect(tt.dialect), toolguard.Request(), toolguard.Send(), toolguard.Address(tt.address)}
		if tt.target != "" {
			opts = append(opts, toolguard.Target(tt.target))
		}
		report, err := toolguard.CheckBytes(t.Context(), []byte(tt.body), opts...)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.Rule)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: %q, want %q", tt.address, tt.target, got, tt.want)
		}
	}
}

// TestAllowFor: all repairs of a rule are made, and no other unsafe ones. A repair names its rule.
func TestAllowFor(t *testing.T) {
	t.Parallel()
	const body = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"tool","tool_call_id":"c1","content":"b"},{"role":"user","content":"so?"},{"role":"tool","tool_call_id":"c2","content":"words"}]}`
	const want = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"tool","tool_call_id":"c1","content":"b"},{"role":"user","content":"so?"},{"role":"user","content":"[toolguard] Result of an unknown tool (id c2), kept as text:\nwords"}]}`
	opts := []toolguard.Option{
		toolguard.Dialect("openai-chat"), toolguard.Request(), toolguard.Send(),
		toolguard.Strategy("orphan-tool-result", "text"), toolguard.AllowFor("orphan-tool-result"),
	}
	for _, most := range []toolguard.Class{toolguard.Safe, toolguard.Additive} {
		got, fixed, err := toolguard.FixBytes(t.Context(), []byte(body), append(opts, toolguard.Allow(most))...)
		if err != nil || string(got) != want {
			t.Fatalf("%s: %s, %v", most, got, err)
		}
		if len(fixed.Repairs) != 1 || fixed.Repairs[0] != (toolguard.Repair{Title: "turn the result for \"c2\" into text", Class: toolguard.Unsafe, Rule: "orphan-tool-result"}) {
			t.Errorf("%s: %+v", most, fixed.Repairs)
		}
		for _, f := range fixed.Before.Findings {
			if f.Repair == nil || f.Repair.Rule != f.Rule {
				t.Errorf("%s: %s has the repair %+v", most, f.Rule, f.Repair)
			}
		}
	}
	if _, err := toolguard.CheckBytes(t.Context(), []byte(body), toolguard.AllowFor("pairing")); err == nil || err.Error()[:len(`unknown rule "pairing"`)] != `unknown rule "pairing"` {
		t.Errorf("a category: %v", err)
	}
}

func TestProfileFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ profile, dialect, want string }{
		{"openai", "openai-chat", "openai"},
		{"openai", "openai-responses", "openai-responses"},
		{"openai-responses", "openai-chat", "openai"},
		{"openai", "anthropic", ""},
		{"anthropic", "bedrock", "bedrock"},
		{"bedrock", "anthropic", "anthropic"},
		{"deepseek", "anthropic", "deepseek-anthropic"},
		{"anthropic-thinking", "anthropic", "anthropic-thinking"},
		{"openai-compatible", "openai-responses", "responses-compatible"},
		{"vllm", "openai-chat", "vllm"},
		{"vllm", "anthropic", ""},
	} {
		if got, err := toolguard.ProfileFor(tt.profile, tt.dialect); got != tt.want || err != nil {
			t.Errorf("%s for %s is %q, %v, want %q", tt.profile, tt.dialect, got, err, tt.want)
		}
	}
	for want, name := range map[string][2]string{
		`unknown provider "opnai"; did you mean "openai"?`:     {"opnai", "anthropic"},
		`unknown format "antropic"; did you mean "anthropic"?`: {"openai", "antropic"},
	} {
		if _, err := toolguard.ProfileFor(name[0], name[1]); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", name, err, want)
		}
	}
}
