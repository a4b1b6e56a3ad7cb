package agents

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExchanges: the calls and results that requests of each API have, and which of them belong
// together.
func TestExchanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, api, body string
		want            []string
	}{
		{"answered", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"y"}]},{"type":"text","text":"go on"}]}]}`, []string{
			`Bash {"command":"ls"} "a": y`, `Bash {} "b": x`,
		}},
		{"open and orphan", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}]}`, []string{
			`Bash {} "a" has no result`, `result "a" has no call: x`,
		}},
		{"twice", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"a","content":"y"}]}]}`, []string{
			`Bash {} "a": x`, `result "a" has no call: y`,
		}},
		{"the same id in two turns", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}]}`, []string{
			`Bash {} "a": x`, `Bash {} "a": y`,
		}},

		{"answered", "openai-responses", `{"model":"m","input":[
			{"type":"message","role":"user","content":"q"},
			{"type":"function_call","call_id":"a","name":"shell","arguments":"{}"},
			{"type":"custom_tool_call","call_id":"b","name":"patch","input":"***"},
			{"type":"custom_tool_call_output","call_id":"b","output":"x"},
			{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"y"}]}]}`, []string{
			`shell {} "a": y`, `patch *** "b": x`,
		}},
		{"open, orphan and twice", "openai-responses", `{"model":"m","input":[
			{"type":"function_call_output","call_id":"b","output":"x"},
			{"type":"function_call","call_id":"a","name":"shell","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"x"},
			{"type":"function_call","call_id":"c","name":"shell","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"y"}]}`, []string{
			`shell {} "a": x`, `shell {} "c" has no result`, `result "b" has no call: x`, `result "a" has no call: y`,
		}},

		{"answered", "openai-chat", `{"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"b","content":"x"},
			{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"y"}]},
			{"role":"user","content":"go on"}]}`, []string{
			`ls {} "a": y`, `ls {} "b": x`,
		}},
		{"open", "openai-chat", `{"model":"m","messages":[
			{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"b","content":"y"}]}`, []string{
			`ls {} "a" has no result`, `result "b" has no call: y`,
		}},

		{"answered", "gemini", `{"contents":[
			{"role":"user","parts":[{"text":"q"}]},
			{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"id":"b","name":"cat","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"b","name":"cat","response":{}}},{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}]}`, []string{
			`ls {} "": {"output":"x"}`, `cat {} "b": {}`,
		}},
		{"another name and another id", "gemini", `{"contents":[
			{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"id":"b","name":"cat","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"cat","response":{}}},{"functionResponse":{"id":"c","name":"cat","response":{}}}]}]}`, []string{
			`ls {} "" has no result`, `cat {} "b" has no result`, `result "" has no call: {}`, `result "c" has no call: {}`,
		}},
	} {
		t.Run(test.api+": "+test.name, func(t *testing.T) {
			t.Parallel()
			messages, _, err := wireOf(t, test.api).read([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range exchanges(messages) {
				got = append(got, e.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestKeptResponses: the scripted model keeps no responses, so a request that continues one is not
// answered.
func TestKeptResponses(t *testing.T) {
	t.Parallel()
	const want = "previous_response_id: the server keeps no responses"
	_, _, err := wireOf(t, "openai-responses").read([]byte(`{"previous_response_id":"resp_1","input":[]}`))
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
