package engine

import "testing"

// TestDoubledKeys holds that nothing is repaired on one of two values of a key:
// which of them counts is not known.
func TestDoubledKeys(t *testing.T) {
	for name, text := range map[string]string{
		"id":        `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"b","id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"r"},{"role":"user","content":"q"}]`,
		"content":   `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":"txt","content":[{"type":"tool_result","tool_use_id":"a","content":"REAL"}]},{"role":"assistant","content":"x"}]`,
		"arguments": `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"","arguments":"{\"p\":\"IMPORTANT\"}"}}]},{"role":"tool","tool_call_id":"a","content":"r"},{"role":"user","content":"q"}]`,
		"input":     `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"","input":"{\"x\":\"IMPORTANT\"}"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]`,
		"role":      `[{"role":"user","content":"q"},{"role":"K","role":"assistant","content":[]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}]`,
	} {
		if out, f, err := repaired([]byte(text), FixOptions{}); err != nil || string(out) != text {
			t.Errorf("%s: %v, %+v\n%s", name, err, f.Repairs, out)
		}
	}
	// Another message is repaired all the same.
	const text = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x","content":"y"}]`
	if _, f, err := repaired([]byte(text), FixOptions{}); err != nil || len(f.Repairs) != 1 {
		t.Errorf("%v: %d repairs", err, len(f.Repairs))
	}
}
