package container_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestAnswers checks that each call has exactly one way to get its result.
func TestAnswers(t *testing.T) {
	t.Parallel()
	names := [...]string{"id", "position", "own record", "later", "provider", "provider record", "none"}
	for _, tt := range []struct{ name, text, want string }{
		{"by id", list(user, chatCall, chatResult), "openai-chat: calls [id], results [id]"},
		{
			"without ids by design", list(user, legacyCall, `{"role":"function","name":"f","content":"ok"}`),
			"openai-chat: calls [position], results [position]",
		},
		{
			"without an id where it has to have one", list(user, strings.Replace(chatCall, `"id":"c",`, "", 1), chatResult),
			"openai-chat: calls [id], results [id]",
		},
		{
			"in its own record, with a result and without",
			`[{"id":"m","role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-available","input":{},"output":"ok"},{"type":"tool-f","toolCallId":"d","state":"input-available","input":{}}]}]`,
			"ai-sdk-ui: calls [own record, own record], results [own record]",
		},
		{
			"in its own record, by the provider",
			`[{"id":"m","role":"assistant","parts":[{"type":"tool-f","toolCallId":"c","state":"output-available","input":{},"output":"ok","providerExecuted":true}]}]`,
			"ai-sdk-ui: calls [provider record], results []",
		},
		{
			"its tool goes on",
			list(
				`{"invocationId":"e","author":"a","id":"E1","longRunningToolIds":["c"],"content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{}}},{"functionCall":{"id":"d","name":"f","args":{}}}]}}`,
				`{"invocationId":"e","author":"a","id":"E2","content":{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{}}}]}}`,
			),
			"adk: calls [later, id], results [id]",
		},
		{
			"by the provider, in a block",
			list(user, `{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}`),
			"anthropic: calls [provider], results [provider]",
		},
		{
			"by the provider, because the result is in the message of the call, which has no id",
			`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionResponse":{"name":"f","response":{}}}]},` +
				`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`,
			"gemini: calls [provider, position], results [provider, position]",
		},
		{
			"by the provider, in an item", list(user, item, itemResult, `{"type":"web_search_call","id":"ws_1","status":"completed"}`),
			"openai-responses: calls [id, provider record], results [id]",
		},
		{
			"along with the call before it",
			`{"conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"[{\"name\":\"f\",\"arguments\":{}},{\"name\":\"g\",\"arguments\":{}}]"},{"from":"observation","value":"ok"},{"from":"gpt","value":"a"}]}` + "\n",
			"sharegpt: calls [position, none], results [position]",
		},
		{
			"a tool that needs no result",
			`{"schema_version":"ATIF-v1.2","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"q"},` +
				`{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"finish","arguments":{}}]}]}`,
			"atif: calls [none], results []",
		},
		{
			"a tool that needs no result, and has one",
			`{"schema_version":"ATIF-v1.2","session_id":"s","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"user","message":"q"},` +
				`{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"c","function_name":"finish","arguments":{}}],"observation":{"results":[{"source_call_id":"c","content":"ok"}]}}]}`,
			"atif: calls [id], results [id]",
		},
	} {
		var got []string
		_, all := container.Read(source.FromBytes("t", []byte(tt.text)), detect.Options{})
		for c, err := range all {
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			var calls, results []string
			for i := range c.Calls {
				calls = append(calls, names[c.Calls[i].Answer])
			}
			for i := range c.Results {
				results = append(results, names[c.Results[i].Answer])
			}
			got = append(got, fmt.Sprintf("%s: calls [%s], results [%s]", c.Dialect, strings.Join(calls, ", "), strings.Join(results, ", ")))
		}
		if got := strings.Join(got, "\n"); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
