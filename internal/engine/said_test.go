package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestSaidBefore: the text of a message is known when the next one is read, even if the
// document is read through a window.
func TestSaidBefore(t *testing.T) {
	t.Parallel()
	said := func(text string) string {
		turn := `{"role":"user","content":"q"},{"role":"assistant","content":"` + text + `"},{"role":"tool","content":"` + strings.Repeat("1", 2*len(text)) + `"}`
		return "[" + strings.Repeat(turn+",\n", 200) +
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"1"}]`
	}
	for _, text := range []string{"I look.                        ", `<tool_call>{\"name\": \"f\"}</tool_call>`} {
		results := -1
		for _, held := range []int64{1 << 20, 16, 200, 12 << 10, 16 << 10, 20 << 10} {
			src := source.FromBytes("a.json", []byte(said(text)))
			src.SetWindow(held)
			rep, err := Check(context.Background(), src, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if results < 0 {
				results = rep.Results
			}
			if rep.Results != results {
				t.Errorf("%s, %d bytes in memory: %d results, want %d", text, held, rep.Results, results)
			}
		}
	}
}
