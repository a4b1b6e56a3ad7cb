package engine

import (
	"strings"
	"testing"
)

// TestDoubledKeys: nothing is repaired in a message with a duplicate key, because programs
// disagree about which value counts.
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
	// Other messages are repaired all the same.
	const text = `[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"x","content":"y"}]`
	if _, f, err := repaired([]byte(text), FixOptions{}); err != nil || len(f.Repairs) != 1 {
		t.Errorf("%v: %d repairs", err, len(f.Repairs))
	}
}

// TestDoubledLinks: a record of a log with two ids or two parents never becomes the parent of
// another one, because programs disagree about which value counts.
func TestDoubledLinks(t *testing.T) {
	const head = `{"type":"session","version":3,"id":"s","timestamp":"2026-07-09T10:00:00.000Z","cwd":"/w"}
{"type":"custom","id":"b0","parentId":null,"timestamp":"2026-07-09T10:00:00.400Z","customType":"x"}
`
	const tail = `{"type":"message","id":"u1","parentId":"c1","timestamp":"2026-07-09T10:00:01.000Z","message":{"role":"user","content":"hello","timestamp":1}}
{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-07-09T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"call-1","name":"bash","arguments":{}}],"api":"a","provider":"p","model":"m","stopReason":"toolUse","timestamp":2}}
{"type":"message","id":"r1","parentId":"a1","timestamp":"2026-07-09T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"call-1","toolName":"bash","content":[{"type":"text","text":"ok"}],"isError":false,"timestamp":3}}
`
	const custom = `,"timestamp":"2026-07-09T10:00:00.500Z","customType":"x"}` + "\n"
	for _, c := range []struct {
		name, record string
		relinked     bool
	}{
		{"one id", `{"type":"custom","id":"m2","parentId":"b0"` + custom, true},
		{"two ids", `{"type":"custom","id":"m2","id":"c1","parentId":"b0"` + custom, false},
		{"two parents", `{"type":"custom","id":"m2","parentId":"b0","parentId":"u1"` + custom, false},
		{"two ids further up", `{"type":"custom","id":"m2","id":"c1","parentId":"b0"` + custom + `{"type":"custom","id":"m3","parentId":"m2"` + custom, false},
	} {
		text := head + c.record + tail
		out, f, err := repaired([]byte(text), FixOptions{Unsafe: true})
		if relinked := string(out) != text; err != nil || relinked != c.relinked {
			t.Errorf("%s: %v, %+v\n%s", c.name, err, f.Repairs, out)
		}
	}
}

// doubledBefore is a log in which a key occurs twice and the last call has no result.
const doubledBefore = `{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","cwd":"/x","message":{"role":"user","content":"q","content":"r"}}
{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","cwd":"/x","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}}
`

// TestPlaceholderBehindDoubled: a placeholder goes behind the last record of a log in which a key
// occurs twice.
func TestPlaceholderBehindDoubled(t *testing.T) {
	for _, text := range []string{doubledBefore, strings.TrimSuffix(doubledBefore, "\n"), doubledBefore + "\n"} {
		out, f, err := repaired([]byte(text), FixOptions{Options: Options{Send: true}})
		if err != nil {
			t.Fatal(err)
		}
		const placeholder = `"tool_use_id":"t1","content":"[toolguard]`
		if len(f.Repairs) != 1 || !strings.HasPrefix(string(out), strings.TrimRight(text, "\n")+"\n") || strings.Count(string(out), placeholder) != 1 {
			t.Errorf("%d repairs\n%s", len(f.Repairs), out)
		}
	}
}
