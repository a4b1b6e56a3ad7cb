package agents

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
)

// TestFaults: the faults of requests that an API accepts and rejects. toolguard judges
// the same requests, so the two must agree on each.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, api, body string
		want            []string
	}{
		{"answered", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}},{"type":"tool_use","id":"b","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"y"}]},{"type":"text","text":"go on"}]}]}`, nil},
		{"open", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":"go on"}]}`, []string{`messages[2]: call "a" has no result here`}},
		{"at the end", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]}]}`, []string{`messages[2]: call "a" has no result here`}},
		{"twice and late", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"text","text":"well"},{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`, []string{
			`messages[2]: result "a" has no call in the message before`, `messages[2]: something else comes before a result`,
		}},
		{"orphan", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`, []string{`messages[0]: result "a" has no call in the message before`}},
		{"a message between", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":"go on"},
			{"role":"assistant","content":"yes"},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`, []string{
			`messages[2]: call "a" has no result here`, `messages[4]: result "a" has no call in the message before`,
		}},
		{"an id twice", "anthropic", `{"max_tokens":9,"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}},{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`, []string{
			`messages[1]: the id "a" of a call is empty or occurs twice`,
		}},

		{"answered", "openai-responses", `{"model":"m","input":[
			{"type":"message","role":"user","content":"q"},
			{"type":"function_call","call_id":"a","name":"shell","arguments":"{}"},
			{"type":"function_call","call_id":"b","name":"shell","arguments":"{}"},
			{"type":"function_call_output","call_id":"b","output":"x"},
			{"type":"function_call_output","call_id":"a","output":"y"}]}`, nil},
		{"open", "openai-responses", `{"model":"m","input":[
			{"type":"function_call","call_id":"a","name":"shell","arguments":"{}"},
			{"type":"message","role":"user","content":"go on"}]}`, []string{`input[0]: call "a" has no output`}},
		{"orphan and twice", "openai-responses", `{"model":"m","input":[
			{"type":"function_call_output","call_id":"b","output":"x"},
			{"type":"function_call","call_id":"a","name":"shell","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"x"},
			{"type":"function_call_output","call_id":"a","output":"x"}]}`, []string{
			`input[0]: output "b" has no call before it`, `input[3]: call "a" has two outputs`,
		}},

		{"answered", "openai-chat", `{"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"b","content":"x"},
			{"role":"tool","tool_call_id":"a","content":"y"},
			{"role":"user","content":"go on"}]}`, nil},
		{"open", "openai-chat", `{"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},
			{"role":"user","content":"go on"},
			{"role":"tool","tool_call_id":"a","content":"y"}]}`, []string{
			`messages[2]: call "a" has no tool message before this message`, `messages[3]: tool message "a" answers no call right before it`,
		}},
		{"at the end", "openai-chat", `{"model":"m","messages":[
			{"role":"user","content":"q"},
			{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}]}`, []string{
			`messages[2]: call "a" has no tool message before this message`,
		}},

		{"answered", "gemini", `{"contents":[
			{"role":"user","parts":[{"text":"q"}]},
			{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"id":"b","name":"cat","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{}}},{"functionResponse":{"id":"b","name":"cat","response":{}}}]}]}`, nil},
		{"open", "gemini", `{"contents":[
			{"role":"user","parts":[{"text":"q"}]},
			{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"cat","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{}}}]}]}`, []string{`contents[2]: call to "cat" (id "") has no response here`}},
		{"at the end", "gemini", `{"contents":[
			{"role":"user","parts":[{"text":"q"}]},
			{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}]}`, []string{`contents[2]: call to "ls" (id "") has no response here`}},
		{"orphan", "gemini", `{"contents":[
			{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{}}}]}]}`, []string{`contents[0]: response to "ls" (id "") has no call in the content before`}},
		{"at the beginning", "gemini", `{"contents":[
			{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{}}}]}]}`, []string{`contents[0]: the first content has calls`}},
	} {
		t.Run(test.api+": "+test.name, func(t *testing.T) {
			t.Parallel()
			for _, api := range wires() {
				if api.name != test.api {
					continue
				}
				messages, _, err := api.read([]byte(test.body))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, api.faults(messages)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if errors := errorsOf(t, api, []byte(test.body)); (len(errors) > 0) != (len(test.want) > 0) {
					t.Errorf("toolguard reports %q", errors)
				}
				return
			}
			t.Fatal("no such API")
		})
	}
}

// errorsOf returns the errors that toolguard finds in a request.
func errorsOf(t *testing.T, api *wire, body []byte) (out []string) {
	t.Helper()
	report, err := toolguard.CheckBytes(t.Context(), body, toolguard.Request(), toolguard.Dialect(api.name), toolguard.Send())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		if f.Severity == toolguard.Error {
			out = append(out, f.Rule+": "+f.Message)
		}
	}
	return out
}
