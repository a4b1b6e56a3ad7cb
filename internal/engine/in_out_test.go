package engine

import "testing"

// TestWrappedInTurn: messages are read under two alternating keys.
func TestWrappedInTurn(t *testing.T) {
	t.Parallel()
	const text = `{"t":1,"in":{"role":"user","content":"q"}}
{"t":2,"out":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}}
{"t":3,"in":{"role":"tool","tool_call_id":"c1","content":"x"}}
{"t":4,"out":{"role":"assistant","content":"done"}}
{"t":5}
`
	rep := check(t, "f", []byte(text), Options{})
	if rep.File.Dialect != "openai-chat" || rep.Calls != 1 || rep.Results != 1 || rep.File.Conversations != 1 || rep.Findings.Len() > 0 {
		t.Error(render(rep))
	}
}
