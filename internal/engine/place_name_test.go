package engine

import (
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestPlaceOfFinding: a finding names its message as its provider does, counted from 0.
func TestPlaceOfFinding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		index      int
		place      string
	}{
		{"a block of Anthropic", `{"model":"claude","max_tokens":1,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":"n"}]}`, 1, "messages.1.content.1"},
		{"a call of Chat", `{"model":"gpt-5","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c0","content":"r"},{"role":"user","content":"n"}]}`, 1, "messages.1.tool_calls.1"},
		{"a result of Chat", `{"model":"gpt-5","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"tool","tool_call_id":"c0","content":"r"}]}`, 2, "messages.2"},
		{"an item of Responses", `{"model":"gpt-5","input":[{"role":"user","content":"q"},{"type":"function_call_output","call_id":"c0","output":"r"}]}`, 1, "input.1"},
		{"a part of Gemini", `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"text":"n"}]}]}`, 1, "contents.1.parts.1"},
		{"a block of Bedrock", `{"toolConfig":{"tools":[]},"messages":[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]},{"role":"user","content":[{"text":"n"}]}]}`, 1, "messages.1.content.0"},
		{"a log", `{"role":"user","content":"q"}` + "\n" + `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}` + "\n" + `{"role":"user","content":"n"}`, 1, "messages.1.content.0"},
		{"a torn record", `{"role":"user","content":"q"}` + "\n" + `{"role":"assis`, -1, ""},
		{"a second row", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}` + "\n" + `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"n"}]}`, 1, "messages.1.tool_calls.0"},
	} {
		rep, err := Check(t.Context(), source.FromBytes("t", []byte(tt.text)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := rep.Findings.List()
		if len(found) == 0 || found[0].Index != tt.index || found[0].Place != tt.place {
			t.Errorf("%s: %+v", tt.name, found)
		}
	}
}
