package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

// TestPlaceholdersOfTheirOwn: each placeholder has the fields of the record of its call and the time of the record before it, and is made whether
// its finding is shown or not.
func TestPlaceholdersOfTheirOwn(t *testing.T) {
	var b strings.Builder
	parent := "null"
	for i := range 4 {
		fmt.Fprintf(&b, `{"parentUuid":%[2]s,"sessionId":"s","cwd":"/of/%[1]d","version":"2.1.0","type":"assistant","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"tool_use","id":"s%[1]d","name":"f","input":{}},{"type":"tool_use","id":"t%[1]d","name":"f","input":{}}]},"uuid":"a%[1]d","timestamp":"2026-01-01T00:00:00.000Z"}`+"\n", i, parent)
		fmt.Fprintf(&b, `{"parentUuid":"a%[1]d","sessionId":"s","cwd":"/","version":"2.1.0","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"s%[1]d","content":"ok"}]},"uuid":"r%[1]d","timestamp":"2026-01-01T00:00:0%[1]d.000Z"}`+"\n", i)
		fmt.Fprintf(&b, `{"parentUuid":"r%[1]d","sessionId":"s","cwd":"/","version":"2.1.0","type":"user","message":{"role":"user","content":"go on"},"uuid":"u%[1]d","timestamp":"2026-01-01T00:00:09.000Z"}`+"\n", i)
		parent = fmt.Sprintf(`"u%d"`, i)
	}
	for name, opts := range map[string]Options{
		"all are shown":  {},
		"none are shown": {Shown: func(*rules.Rule, rules.Severity) bool { return false }},
	} {
		out, _, err := tryFix(name, []byte(b.String()), FixOptions{Options: opts})
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "[toolguard]") {
				continue
			}
			for _, own := range []string{`"cwd":"/of/%d"`, `"tool_use_id":"t%d"`, `"timestamp":"2026-01-01T00:00:0%d.000Z"`} {
				if own = fmt.Sprintf(own, made); !strings.Contains(line, own) {
					t.Errorf("%s: placeholder %d has not %s: %s", name, made, own, line)
				}
			}
			made++
		}
		if made != 4 {
			t.Errorf("%s: %d placeholders of 4", name, made)
		}
	}
}
