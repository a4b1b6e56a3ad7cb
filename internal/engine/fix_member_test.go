package engine

import "testing"

// TestFixMembersOfCalls: a missing field of a call is added where the call has the others: in
// its function, beside its id, or in a new function.
func TestFixMembersOfCalls(t *testing.T) {
	t.Parallel()
	around := func(call string) string {
		return `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[` + call + `]},` +
			`{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"and?"}]`
	}
	for call, want := range map[string]string{
		`{"id":"c1","type":"function"}`:                          `{"function":{"arguments":"{}","name":"unknown_tool"},"id":"c1","type":"function"}`,
		`{"id": "c1", "type": "function"}`:                       `{"function": {"arguments": "{}","name": "unknown_tool"}, "id": "c1", "type": "function"}`,
		`{"id":"c1","type":"function","arguments":"{}"}`:         `{"name":"unknown_tool","id":"c1","type":"function","arguments":"{}"}`,
		`{"id":"c1","type":"function","function":{"name":"g"}}`:  `{"id":"c1","type":"function","function":{"arguments":"{}","name":"g"}}`,
		`{"id":"c1","type":"function","function":{"args":"{}"}}`: `{"id":"c1","type":"function","function":{"name":"unknown_tool","args":"{}"}}`,
	} {
		out, _, err := repaired([]byte(around(call)), FixOptions{Unsafe: true})
		if err != nil || string(out) != around(want) {
			t.Errorf("%s: %v\ngot  %s\nwant %s", call, err, out, around(want))
		}
	}
}
