package engine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
)

// TestTwice repairs the result of a repair. There must be nothing to do, even if the fields
// that identified the dialect are gone.
func TestTwice(t *testing.T) {
	const (
		user  = `{"role":"user","content":"read both","timestamp":1}` + "\n"
		think = `{"role":"assistant","content":[{"type":"thinking","thinking":"both"},{"type":"text","text":"hm"}]`
		made  = `,"api":"anthropic-messages","provider":"anthropic","model":"m","usage":{},"stopReason":"stop","timestamp":2}` + "\n"
		late  = `{"role":"toolResult","toolCallId":"call_1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false,"timestamp":3}` + "\n"
		said  = `{"role":"assistant","content":[{"type":"text","text":"1 and 2."}]`
	)
	tests := []struct {
		name, text string
		drops      bool
	}{
		{"told by its members", user + think + made + late + said + made, true},
		{"told by what goes", user + think + "}\n" + late + said + "}\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opts := FixOptions{Unsafe: true}
			opts.Strategy = map[string]string{"orphan-tool-result": "drop"}
			opts.Target = profile.ByName("openai-responses")
			once, _, err := repaired([]byte(tt.text), opts)
			if err != nil {
				t.Fatal(err)
			}
			if dropped := !strings.Contains(string(once), "call_1"); dropped != tt.drops {
				t.Errorf("the result is dropped: %v", dropped)
			}
			if !bytes.Contains(once, []byte(`"thinking":"both"`)) {
				t.Errorf("the thinking is gone:\n%s", once)
			}
			if twice, _, err := repaired(once, opts); err != nil || !bytes.Equal(once, twice) {
				t.Errorf("%v; the second repair makes of\n%s\n%s", err, once, twice)
			}
		})
	}
}
