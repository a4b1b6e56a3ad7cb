package report

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// TestMore: reports and the summary mention findings that are only counted.
func TestMore(t *testing.T) {
	t.Parallel()
	rep, err := engine.Check(t.Context(), source.FromBytes("s.jsonl", []byte(strings.Repeat("{\"role\":\"user\",\"content\":\"x\"}\n", 3)+strings.Repeat("x\n", 3))), engine.Options{Most: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if !f.Few {
			continue
		}
		var out strings.Builder
		r := f.New(&out, Options{ShowInfo: func(*engine.Finding) bool { return false }})
		if err := r.File(rep); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(&Summary{}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); f.Name == "github" {
			if want := "::error file=s.jsonl,title=invalid-json::2 more of this kind; -o json lists all of them\n"; !strings.Contains(got, want) {
				t.Errorf("%s: %s", f.Name, got)
			}
		} else if f.Name == "junit" {
			if !strings.Contains(got, `message="3 findings, the first: `) || !strings.Contains(got, "s.jsonl: error: 2 more of this kind; -o json lists all of them [invalid-json]\n") {
				t.Errorf("%s: %s", f.Name, got)
			}
		} else if strings.Count(got, "invalid-json") != 2 || !strings.Contains(got, "s.jsonl: error: 2 more of this kind") || strings.Contains(got, "consecutive-roles") {
			t.Errorf("%s: %s", f.Name, got)
		}
	}
	var s Summary
	s.Add(rep)
	if s.Errors != 3 || s.FixableUnsafe != 3 || s.AtLeast(rules.Info) != 5 {
		t.Errorf("%+v", s)
	}
}
