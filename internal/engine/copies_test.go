package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// TestCopies: the copies of a call in its message change with it.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		opts           FixOptions
	}{
		{
			name: "a rename reaches every copy",
			in: `[{"type":"ai","content":[{"type":"text","text":"x"},{"type":"tool_use","id":" a","name":"f","input":{}}],"tool_calls":[{"name":"f","args":{},"id":" a"}],"additional_kwargs":{"tool_calls":[{"id":" a","type":"function","function":{"name":"f","arguments":"{}"}}]},"tool_call_chunks":[{"id":" a","name":"f","args":"{}"}]},
{"type":"tool","content":"1","tool_call_id":" a"}]`,
			want: `[{"type":"ai","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{}}],"tool_calls":[{"name":"f","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"tool_call_chunks":[{"id":"a","name":"f","args":"{}"}]},
{"type":"tool","content":"1","tool_call_id":"a"}]`,
		},
		{
			name: "a copy of another call stays",
			in: `[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a "},{"name":"f","args":{},"id":"b"}],"additional_kwargs":{"tool_calls":[{"id":"b","function":{"name":"f","arguments":"{}"}},{"id":"a ","function":{"name":"f","arguments":"{}"}}]}},
{"type":"tool","content":"1","tool_call_id":"a "},
{"type":"tool","content":"1","tool_call_id":"b"}]`,
			want: `[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a"},{"name":"f","args":{},"id":"b"}],"additional_kwargs":{"tool_calls":[{"id":"b","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"f","arguments":"{}"}}]}},
{"type":"tool","content":"1","tool_call_id":"a"},
{"type":"tool","content":"1","tool_call_id":"b"}]`,
		},
		{
			name: "a minted id is written into a copy that has none",
			in: `[{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":[{"type":"function_call","name":"f","arguments":"{}"}],"tool_calls":[{"name":"f","args":{}}]}},
{"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"content":"1","tool_call_id":null}}]`,
			want: `[{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":[{"call_id":"call_afaa685fb8d1","type":"function_call","name":"f","arguments":"{}"}],"tool_calls":[{"id":"call_afaa685fb8d1","name":"f","args":{}}]}},
{"lc":1,"type":"constructor","id":["langchain","schema","messages","ToolMessage"],"kwargs":{"content":"1","tool_call_id":"call_afaa685fb8d1"}}]`,
		},
		{
			name: "of a state that stands in two places both are renamed",
			in:   `[{"id":"m","role":"assistant","content":"","parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":" a","toolName":"f ","args":{},"result":"1"}}],"toolInvocations":[{"state":"result","toolCallId":" a","toolName":"f ","args":{},"result":"1"}]}]`,
			want: `[{"id":"m","role":"assistant","content":"","parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"a","toolName":"f","args":{},"result":"1"}}],"toolInvocations":[{"state":"result","toolCallId":"a","toolName":"f","args":{},"result":"1"}]}]`,
		},
		{
			name: "an id that a state writes twice is renamed twice",
			in:   `{"history":[{"message":{"role":"assistant","content":"","toolCalls":[{"id":" a","type":"function","function":{"name":"f","arguments":"{}"}}]},"contextItems":[],"toolCallStates":[{"toolCallId":" a","toolCall":{"id":" a","type":"function","function":{"name":"f","arguments":"{}"}},"status":"done","output":[]}]}]}`,
			want: `{"history":[{"message":{"role":"assistant","content":"","toolCalls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"contextItems":[],"toolCallStates":[{"toolCallId":"a","toolCall":{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},"status":"done","output":[]}]}]}`,
		},
		{
			name: "a name is trimmed in every copy",
			in: `[{"type":"ai","content":"","tool_calls":[{"name":"f ","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f ","arguments":"{}"}}]}},
{"type":"tool","content":"1","tool_call_id":"a"}]`,
			want: `[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}},
{"type":"tool","content":"1","tool_call_id":"a"}]`,
		},
		{
			name: "a call is dropped with its copies, and with lists that would be left empty where nobody expects one",
			in: `[{"type":"ai","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{}}],"tool_calls":[{"name":"f","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}],"n":1},"invalid_tool_calls":[]},
{"type":"human","content":"go on"}]`,
			want: `[{"type":"ai","content":[{"type":"text","text":"x"}],"tool_calls":[],"additional_kwargs":{"n":1},"invalid_tool_calls":[]},
{"type":"human","content":"go on"}]`,
			opts: FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"missing-tool-result": "strip"}}},
		},
		{
			name: "of two identical calls one is dropped, with one copy",
			in: `[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a"},{"name":"f","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"a","function":{"name":"f","arguments":"{}"}}]}},
{"type":"tool","content":"1","tool_call_id":"a"}]`,
			want: `[{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}},
{"type":"tool","content":"1","tool_call_id":"a"}]`,
		},
		{
			name: "a call that a chat message repeats in its content",
			in: `[{"role":"assistant","content":[{"type":"tool_use","id":"a ","name":"f","input":{}}],"tool_calls":[{"id":"a ","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a ","content":"1"}]`,
			want: `[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}],"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a","content":"1"}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := fixText(t, "x.json", []byte(c.in), c.opts)
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCopiesAreNotCounted: a call that occurs in four places is one call.
func TestCopiesAreNotCounted(t *testing.T) {
	const text = `[{"type":"ai","content":[{"type":"tool_use","id":"a","name":"f","input":{}}],"tool_calls":[{"name":"f","args":{},"id":"a"}],"additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"tool_call_chunks":[{"id":"a","name":"f","args":"{}"}]},
{"type":"tool","content":"1","tool_call_id":"a"}]`
	rep, err := Check(t.Context(), source.FromBytes("x.json", []byte(text)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Calls != 1 || rep.Results != 1 || rep.Findings.Len() > 0 {
		t.Errorf("%s", render(rep))
	}
}
