package engine

import "testing"

// TestResultsBeside: two results of a log are copies only if their records have the same
// fields beside the message.
func TestResultsBeside(t *testing.T) {
	t.Parallel()
	const text = `{"type":"user","uuid":"u0","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"q"}}
{"type":"assistant","uuid":"a1","parentUuid":"u0","sessionId":"s","message":{"id":"msg_1","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}}
`
	result := func(uuid, parent, beside string) string {
		return `{"type":"user","uuid":"` + uuid + `","parentUuid":"` + parent + `","sessionId":"s",` + beside +
			`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}}` + "\n"
	}
	for _, c := range []struct{ first, second, want string }{
		{`"toolUseResult":{"a":1},`, `"toolUseResult":{"a":1},`, "drop the identical copy"},
		{`"toolUseResult":{"a":1},`, `"toolUseResult":{"a":2},`, "keep the first result and drop this one"},
		{`"toolUseResult":{"a":1},`, `"toolUseResult":{"a":11},`, "keep the first result and drop this one"},
		{`"toolUseResult":{"a":1},`, ``, "keep the first result and drop this one"},
		{``, ``, "drop the identical copy"},
	} {
		var got []string
		for f := range check(t, "f", []byte(text+result("u1", "a1", c.first)+result("u2", "u1", c.second)), Options{}).All() {
			got = append(got, f.Fix.Title)
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s and %s: %q, want %q", c.first, c.second, got, c.want)
		}
	}
}
