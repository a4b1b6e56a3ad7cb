package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestToolFields: a field of a message that speaks of tools makes nothing else of the
// file; calls in blocks that nobody knows do. A message is not empty that has such a field.
func TestToolFields(t *testing.T) {
	t.Parallel()
	const unread = `unread-tool-field info: field "tool_log" names tools, but toolguard does not read it, so calls and results in it are not checked`
	plain := []string{"openai-chat json-messages, 0 calls, 0 results, skipped: false"}
	noted := []string{plain[0], unread}
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a list", `[{"role":"user","content":"x"},{"role":"assistant","content":"y","tool_log":[1]}]`, noted},
		{"a text", `[{"role":"user","content":"x"},{"role":"assistant","content":"y","tool_log":"ls"}]`, noted},
		{"on each message", `[{"role":"user","content":"x","tool_log":{"a":1}},{"role":"assistant","content":"y","tool_log":{"a":1}}]`, []string{plain[0], unread + " (2 messages have it)"}},
		{"nothing in it", `[{"role":"user","content":"x"},{"role":"assistant","content":"y","tool_log":[]}]`, plain},
		{"in a request", `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y","tool_log":[1]}]}`, noted},
		{"beside blocks", `[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":[{"type":"text","text":"y"}],"tool_log":[1]}]`, noted},
		{"in a text block", `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"y","toolset":"a"}]}]`, plain},
		{"unknown blocks", `[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_run","name":"ls"}]}]`, []string{" , 0 calls, 0 results, skipped: true"}},
		{"alone in a message", `[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_log":[1]},{"role":"user","content":"z"}]`, noted},
		{"without content", `[{"role":"user","content":"x"},{"role":"assistant","tool_log":[1]},{"role":"user","content":"z"}]`, noted},
	} {
		if diff := cmp.Diff(test.want, told(t, "a.json", []byte(test.text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	lines := "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\",\"tool_log\":[1]}\n"
	want := []string{"openai-chat jsonl-messages, 0 calls, 0 results, skipped: false", unread}
	if diff := cmp.Diff(want, told(t, "a.jsonl", []byte(lines))); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	const log = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}}
{"type":"user","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}
{"type":"assistant","uuid":"u4","parentUuid":"u3","sessionId":"s","message":{"id":"n","role":"assistant","content":"done","tool_log":[1]}}
`
	want = []string{"claude-code linked-log, 1 calls, 1 results, skipped: false", unread}
	if diff := cmp.Diff(want, told(t, "a.jsonl", []byte(log))); diff != "" {
		t.Errorf("a log (-want +got):\n%s", diff)
	}
}
