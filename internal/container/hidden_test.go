package container_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestHidesNothing checks that fields, nulls, headers and envelopes that other formats
// also have do not hide messages.
func TestHidesNothing(t *testing.T) {
	t.Parallel()
	call := func(more string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]` + more + `}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"null beside the spelling that counts": {
			`[` + call(`,"toolCalls":null`) + `,{"role":"tool","toolCallId":null,"tool_call_id":"c","content":"ok"}]`, "openai-chat 1 1 c",
		},
		"null before the spelling that counts": {
			`[{"role":"user","items":[{"content_type":"text","text":"q"}]},{"role":"assistant","items":[{"content_type":"function_call","id":"c","function_name":null,"name":"f","arguments":"{}"}]}]`,
			"semantic-kernel 1 0 f",
		},
		"an id of a session on an item":     {`[{"type":"function_call","call_id":"k","name":"f","arguments":"{}","sessionId":"s"}]`, "openai-responses 1 0 f"},
		"an id of a record on a message":    {call(`,"type":"message","uuid":"u"`) + "\n" + `{"role":"user","content":"q","type":"message","uuid":"v"}`, "openai-chat 1 0 f"},
		"book-keeping with ids at the head": {strings.Repeat(`{"type":"boot","uuid":"u"}`+"\n", 3) + call("") + "\n" + user + "\n" + answer, "openai-chat 1 0 f"},
		"much book-keeping at the head":     {strings.Repeat(`{"event":"b"}`+"\n", 300) + call("") + "\n" + user, "openai-chat 1 0 f"},
		"much text before the first call":   {strings.Repeat(user+"\n", 300) + use, "anthropic 1 0 f"},
		"a list with an unknown head":       {`[` + strings.Repeat(`{"type":"x"},`, 20) + item + `]`, "openai-responses 1 0 f"},
		"a log in an envelope": {
			`{"data":` + record + "}\n" + `{"data":` + recordUse + "}\n" + `{"data":{"type":"summary","summary":"s","leafUuid":"v"}}`, "claude-code 1 0 f",
		},
	} {
		calls, results, tool := 0, 0, ""
		f, all := container.Read(source.FromBytes("t", []byte(c.text)), detect.Options{})
		for conv, err := range all {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			calls, results = calls+len(conv.Calls), results+len(conv.Results)
			for i := range conv.Calls {
				tool = conv.Calls[i].Name.Text()
			}
			for i := range conv.Results {
				tool = conv.Results[i].ID.Text()
			}
		}
		if got := fmt.Sprintf("%s %d %d %s", f.Dialect, calls, results, tool); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
