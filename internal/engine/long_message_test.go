package engine

import (
	"strings"
	"testing"
)

// TestFixLongMessage: the repair of a message does not depend on its length.
func TestFixLongMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, old, new string }{
		{
			"the role of a call's message",
			`{"model":"claude-3","max_tokens":10,"messages":[{"role":"user","content":"hi"},` +
				`{"role":"user","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":"LONG"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"z"}]}]}`,
			`{"role":"user","content":[{"type":"tool_use"`, `{"role":"assistant","content":[{"type":"tool_use"`,
		},
		{
			"the role of a result's message",
			`{"model":"claude-3","max_tokens":10,"messages":[{"role":"user","content":"hi"},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},` +
				`{"role":"tool","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"LONG"}]}]}`,
			`{"role":"tool","content"`, `{"role":"user","content"`,
		},
	} {
		for _, n := range []int{1, 100 << 10} {
			text := strings.Replace(c.text, "LONG", strings.Repeat("x", n), 1)
			got, _, err := repaired([]byte(text), FixOptions{})
			if want := strings.Replace(text, c.old, c.new, 1); err != nil || string(got) != want {
				t.Errorf("%s, %d bytes: %v, %.300s, want %.300s", c.name, n, err, got, want)
			}
		}
	}
}
