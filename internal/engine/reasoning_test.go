package engine

import "testing"

// TestReasoningKeepsItsItem: an identical item is not dropped if reasoning would lose the
// item that it led to.
func TestReasoningKeepsItsItem(t *testing.T) {
	t.Parallel()
	const text = `[{"type":"message","role":"user","content":[{"type":"input_text","text":"Think."}]},` +
		`{"type":"message","id":"msg_t","role":"assistant","content":[{"type":"output_text","text":"Done"}]},` +
		`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gAAAAAC"},` +
		`{"type":"message","id":"msg_t","role":"assistant","content":[{"type":"output_text","text":"Done"}]}]`
	out, f, err := repaired([]byte(text), FixOptions{})
	if err != nil || f.Changed() || string(out) != text {
		t.Errorf("%v: %s", err, out)
	}
}
