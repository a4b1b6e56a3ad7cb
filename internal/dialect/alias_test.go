package dialect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestAliases checks that the first spelling of an id in the dialect's order
// counts, whatever the order in the file, and that the others are aliases.
func TestAliases(t *testing.T) {
	call := func(ids string) string {
		return `{"role":"assistant","tool_calls":[{` + ids + `,"type":"function","function":{"name":"f","arguments":"{}"}}]}`
	}
	result := func(ids string) string { return `{"role":"tool",` + ids + `,"content":"1"}` }
	for _, c := range []struct{ name, text, want string }{
		{"one id", call(`"id":"a"`), `call "a"`},
		{"two ids", call(`"id":"a","call_id":"b"`), `call "a" or "b" at call_id`},
		{"the other order", call(`"call_id":"b","id":"a"`), `call "a" or "b" at call_id`},
		{"the second alone", call(`"call_id":"b"`), `call "b"`},
		{"null is none", call(`"id":null,"call_id":"b"`), `call "b"`},
		{"null and nothing else", call(`"id":null`), `call null`},
		{"the same twice", call(`"id":"a","call_id":"a"`), `call "a" or "a" at call_id`},
		{"a result", result(`"tool_call_id":"a"`), `result "a"`},
		{"a result of three", result(`"call_id":"c","toolCallId":"b","tool_call_id":"a"`), `result "a" or "b" or "c"`},
		{"a result of call_id", result(`"call_id":"c"`), `result "c"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			conv := &transcript.Conversation{}
			OpenAIChat.Driver.Reader(transcript.NewBuilder(conv)).Read(source.NewValue([]byte(c.text), 0))
			var out strings.Builder
			for i := range conv.Calls {
				fmt.Fprintf(&out, "call %s", conv.Calls[i].ID.Raw)
			}
			for i := range conv.Results {
				fmt.Fprintf(&out, "result %s", conv.Results[i].ID.Raw)
			}
			for _, a := range conv.Aliases {
				fmt.Fprintf(&out, " or %s", a.ID.Raw)
				if at := c.text[a.ID.Span.Start:a.ID.Span.End]; at != a.ID.Raw {
					t.Errorf("alias %s has the span of %s", a.ID.Raw, at)
				}
				if (a.Call >= 0) == (a.Result >= 0) {
					t.Errorf("alias of call %d and result %d, want one of them", a.Call, a.Result)
				}
			}
			for _, cp := range conv.Copies { // a repair renames the ids of calls in copies
				fmt.Fprintf(&out, " at %s", cp.IDKey)
			}
			if out.String() != c.want {
				t.Errorf("got  %s\nwant %s", out.String(), c.want)
			}
		})
	}
}
