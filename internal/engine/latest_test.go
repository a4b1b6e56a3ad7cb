package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestFixNumbered: in a log with numbered records, placeholders go to the end, behind the
// bookkeeping that follows the calls, and continue the numbers.
func TestFixNumbered(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "codex", "broken", "killed.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out, _ := fixText(t, "killed.jsonl", text, FixOptions{Options: Options{Send: true}})
	answer := func(ms, ordinal int, id string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-02T05:00:03.%dZ","ordinal":%d,"type":"response_item","payload":{"type":"function_call_output","call_id":%q,"output":%q}}`+"\n", ms, ordinal, id, stand)
	}
	want := string(text) + answer(301, 6, "call_a") + answer(302, 7, "call_b")
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
