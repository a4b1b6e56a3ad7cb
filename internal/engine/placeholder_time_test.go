package engine

import (
	"strings"
	"testing"
)

// TestTimeOfPlaceholder: the record of a placeholder has the time of the record before it if that is no
// object, whatever the time of its call is.
func TestTimeOfPlaceholder(t *testing.T) {
	const (
		head  = `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"x"}}` + "\n"
		time  = `"2026-01-01T00:00:01.000Z"`
		said  = `{"timestamp":` + time + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}` + "\n"
		added = `"type":"response_item","payload":{"type":"function_call_output","call_id":"lost","output":"[toolguard]`
	)
	call := func(time, id string) string {
		return `{"timestamp":` + time + `,"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"` + id + `"}}` + "\n"
	}
	result := func(time string) string {
		return `{"timestamp":` + time + `,"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"x"}}` + "\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{"the call has none", call(`{"0":1}`, "lost") + said, "{" + added},
		{"the record before has none", call(time, "a") + call(time, "lost") + result(`{"0":1}`) + said, "{" + added},
		{"only the call has none", call(time, "a") + call(`{"0":1}`, "lost") + result(time) + said, `{"timestamp":` + time + "," + added},
		{"all have one", call(time, "a") + call(time, "lost") + result(time) + said, `{"timestamp":` + time + "," + added},
	} {
		out, _, err := tryFix(c.name, []byte(head+c.text), FixOptions{})
		if err != nil || !strings.Contains(string(out), "\n"+c.want) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}
