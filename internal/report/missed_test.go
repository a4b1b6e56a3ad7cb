package report

import (
	"io"
	"strings"
	"testing"
)

// TestMissed: a report that is a separate file names the files that were not checked. On a
// terminal, standard error names them.
func TestMissed(t *testing.T) {
	t.Parallel()
	sum := &Summary{
		Lookalikes: []Missed{{"log.json", "no messages in it"}},
		Failed:     []Missed{{"gone.json", "no such file or directory"}},
	}
	const want = "gone.json: failed: no such file or directory\nlog.json: skipped, although it looks like a transcript: no messages in it\n"
	all := append(Formats(), Format{Name: "statistics", Human: true, New: NewStatistics})
	for _, f := range all {
		for _, own := range []bool{false, true} {
			var out strings.Builder
			if err := f.New(&out, Options{Apart: own, NoExcerpt: own}).Close(sum); err != nil {
				t.Fatal(err)
			}
			switch got := out.String(); {
			case f.Human && own && got != want:
				t.Errorf("%s: %q, want %q", f.Name, got, want)
			case f.Human && !own && got != "":
				t.Errorf("%s: %q on standard output", f.Name, got)
			case !f.Human && (!strings.Contains(got, "gone.json") || !strings.Contains(got, "no such file or directory") || !strings.Contains(got, "log.json")):
				t.Errorf("%s does not name the files: %s", f.Name, got)
			}
		}
	}
}

// TestMissedInTerminal: where lines are broken, they are not broken in a path.
func TestMissedInTerminal(t *testing.T) {
	t.Parallel()
	sum := &Summary{Failed: []Missed{{"a file that is gone.json", "no such file or directory"}}}
	const want = "a file that is gone.json: failed: no\n        such file or directory\n"
	for name, format := range map[string]func(io.Writer, Options) Reporter{"text": newText, "statistics": NewStatistics} {
		var out strings.Builder
		if err := format(&out, Options{Apart: true, Width: 40}).Close(sum); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
