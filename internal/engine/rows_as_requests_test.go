package engine

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// TestRowsAsRequests: reasoning that a request could not send again is an error in rows that are
// judged as requests, as it is in a single history, and only an info in rows that are not.
func TestRowsAsRequests(t *testing.T) {
	t.Parallel()
	const items = `[{"role":"user","content":"Go."},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"role":"user","content":"Go on."},` +
		`{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}","id":"fc_1"},{"type":"function_call_output","call_id":"call_1","output":"1"}]`
	rows := strings.Repeat(`{"messages":`+items+"}\n", 2)
	single := `{"input":` + items + `}` + "\n"
	zdr := strings.ReplaceAll(rows, `,"encrypted_content":"gAAA"`, "")
	for _, c := range []struct {
		name, text, rule string
		opts             Options
		want             rules.Severity
	}{
		{"rows", rows, "reasoning-unreplayable", Options{}, rules.Info},
		{"rows to send", rows, "reasoning-unreplayable", Options{Send: true}, rules.Error},
		{"rows for a provider", rows, "reasoning-unreplayable", Options{Target: profile.ByName("openai-responses")}, rules.Error},
		{"one history", single, "reasoning-unreplayable", Options{Send: true}, rules.Error},
		{"rows that nobody stores", zdr, "item-not-stored", Options{Target: profile.ByName("openai-responses-zdr")}, rules.Error},
	} {
		worst := rules.Off
		for f := range check(t, "t.jsonl", []byte(c.text), c.opts).All() {
			if f.Rule.Name == c.rule {
				worst = max(worst, f.Severity)
			}
		}
		if worst != c.want {
			t.Errorf("%s: %v, want %v", c.name, worst, c.want)
		}
	}
}
