package engine

import (
	"strings"
	"testing"
)

// TestEnvelopeOfScalars: an inserted record, or one that gets a result, copies times and
// flags from its neighbor, and no recorded content.
func TestEnvelopeOfScalars(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"openai-responses": {
			in: `{"input":[{"type":"function_call","call_id":"x","id":"fc_1","timestamp":{"k":"RECORDED"},"name":"f","arguments":"{}"},` +
				`{"type":"message","role":"user","content":"M"}]}`,
			want: `"function_call_output"`,
		},
		"opencode": {
			in: `{"type":"tool_use","timestamp":{"k":"RECORDED"},"sessionID":"s","part":{"id":"p1","sessionID":"s","messageID":"m","type":"tool",` +
				`"callID":"c1","tool":"ls","state":{"status":"running","input":{}}}}` + "\n" +
				`{"type":"text","timestamp":2,"sessionID":"s","part":{"id":"p2","sessionID":"s","messageID":"m2","type":"text","text":"done"}}` + "\n",
			want: `"status":"error"`,
		},
	} {
		out, f, err := repaired([]byte(c.in), FixOptions{})
		if err != nil || !f.Changed() || strings.Count(string(out), "RECORDED") != 1 || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
