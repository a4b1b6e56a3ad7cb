package engine

import (
	"strings"
	"testing"
)

// TestFixLatest: Claude Code resumes a session at its latest record, and some versions take the
// first of two with the same time. So a placeholder at the end of a log is later than the records
// before it. One with a record behind it has the time of the record before it.
func TestFixLatest(t *testing.T) {
	t.Parallel()
	asked, called := userLine("u1", "null", "go", 1), useLine("a1", "u1", "m1", 2, "t1", "t2")
	out, f := fixText(t, "s.jsonl", []byte(asked+called), FixOptions{Options: Options{Send: true}})
	if !f.Changed() {
		t.Fatal("nothing is repaired")
	}
	var times []string
	for line := range strings.Lines(string(out)) {
		_, rest, _ := strings.Cut(line, `"timestamp":"`)
		at, _, _ := strings.Cut(rest, `"`)
		times = append(times, at)
	}
	want := "2026-02-08T17:00:01.000Z 2026-02-08T17:00:02.000Z 2026-02-08T17:00:02.001Z 2026-02-08T17:00:02.002Z"
	if got := strings.Join(times, " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
