package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRenameAlong: an id is rewritten together with the ids of all results of its call,
// however they are written.
func TestRenameAlong(t *testing.T) {
	t.Parallel()
	call := func(id string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	}
	result := func(id, content string) string {
		return `{"role":"tool","tool_call_id":"` + id + `","content":"` + content + `"}`
	}
	for name, tt := range map[string]struct{ text, want string }{
		"two results of the id that the call gets": {
			call(" c1") + "," + result("c1", "a") + "," + result("c1", "b"),
			call("c1") + "," + result("c1", "a") + "," + result("c1", "b"),
		},
		"results written in two ways": {
			call(" c1") + "," + result("c1 ", "a") + "," + result("c1", "b"),
			call("c1") + "," + result("c1", "a") + "," + result("c1", "b"),
		},
		"the call has the id already": {
			call("c1") + "," + result(" c1", "a") + "," + result(" c1", "b"),
			call("c1") + "," + result("c1", "a") + "," + result("c1", "b"),
		},
	} {
		out, _, err := repaired([]byte(`[{"role":"user","content":"q"},`+tt.text+`]`), FixOptions{})
		if diff := cmp.Diff(`[{"role":"user","content":"q"},`+tt.want+`]`, string(out)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
