package engine

import (
	"strings"
	"testing"
)

// TestEnvelopeOfScalars: a record that is put in takes over times and flags of its
// neighbour, and nothing that somebody recorded in their place.
func TestEnvelopeOfScalars(t *testing.T) {
	t.Parallel()
	const text = `{"input":[{"type":"function_call","call_id":"x","id":"fc_1","timestamp":{"k":"RECORDED"},"name":"f","arguments":"{}"},` +
		`{"type":"message","role":"user","content":"M"}]}`
	out, f, err := repaired([]byte(text), FixOptions{})
	if err != nil || !f.Changed() || strings.Count(string(out), "RECORDED") != 1 || !strings.Contains(string(out), "function_call_output") {
		t.Errorf("%v: %s", err, out)
	}
}
