package engine

import (
	"strings"
	"testing"
)

// TestLateForPlaceholder: a real result replaces a placeholder by default only if the model
// had not continued from the placeholder.
func TestLateForPlaceholder(t *testing.T) {
	const (
		head = `[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true}]},`
		tail = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"REAL LATE"},{"type":"text","text":"z"}]}]`
	)
	for _, tt := range []struct {
		name, between string
		opts          FixOptions
		stays         bool
	}{
		{"behind a turn", `{"role":"assistant","content":"x"},`, FixOptions{}, true},
		{"behind a turn, unsafe", `{"role":"assistant","content":"x"},`, FixOptions{Unsafe: true}, false},
		{"at once", ``, FixOptions{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := head + tt.between + tail
			out, _, err := repaired([]byte(text), tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			if stays := string(out) == text; stays != tt.stays || !strings.Contains(string(out), "REAL LATE") {
				t.Errorf("left as it is: %v\n%s", stays, out)
			}
		})
	}
}
