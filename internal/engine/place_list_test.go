package engine

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
)

// TestPlaceInList: the place of a finding is the position of its message in the list, also after
// elements that no dialect reads.
func TestPlaceInList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, list, call, after string }{
		{"anthropic", "messages", `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`, ".content.0"},
		{"openai-chat", "messages", `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`, ".tool_calls.0"},
		{"openai-responses", "input", `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`, ""},
	} {
		for _, odd := range []string{`{"type":"weird"}`, `{"type":"weird","content":"c1"}`, `{"type":"new_call","n":[1]}`, "null", "5", `"text"`, "[]"} {
			const user = `{"role":"user","content":"x"}`
			text := "[" + strings.Join([]string{user, odd, user, odd, c.call, user}, ",\n") + "]\n"
			rep := check(t, "t.json", []byte(text), Options{Dialect: dialect.ByName(c.name)})
			found := false
			for f := range rep.All() {
				if f.Rule.Name != "missing-tool-result" {
					continue
				}
				found = true
				if f.Index != 4 || f.Place != c.list+".4"+c.after || !strings.HasPrefix(f.Pointer, "/4/") {
					t.Errorf("%s: %d, %s and %s of\n%s", c.name, f.Index, f.Place, f.Pointer, text)
				}
				if strings.Contains(odd, "c1") && !strings.HasPrefix(f.Unfixed, c.list+".1, which") {
					t.Errorf("%s: the id is in %s.1, not %q", c.name, c.list, f.Unfixed)
				}
			}
			if !found {
				t.Errorf("%s: nothing found in\n%s", c.name, text)
			}
		}
	}
}
