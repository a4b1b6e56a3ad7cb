package engine

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// foundBy counts the findings of a rule.
func foundBy(r *Report, rule *rules.Rule) (n int) {
	for f := range r.Findings.All() {
		if f.Rule == rule {
			n++
		}
	}
	return n
}

// TestEditsAlone: the edits of a finding are its repair. Made alone, they leave one finding
// of its kind less and break no record.
func TestEditsAlone(t *testing.T) {
	told := 0
	for _, in := range append(fixtures(t), caseInputs(t)...) {
		before := check(t, in.name, in.text, Options{Edits: true})
		for f := range before.Findings.All() {
			if f.Fix == nil {
				if f.Edits != nil {
					t.Errorf("%s: %s has edits, but no repair", in.name, f.Rule.Name)
				}
				continue
			}
			told++
			if len(f.Edits) == 0 {
				t.Errorf("%s, line %d: %s does not say what its repair changes", in.name, f.Start.Line, f.Rule.Name)
				continue
			}
			end := int64(0)
			for _, e := range f.Edits {
				if e.Span.Start < end || e.Span.End < e.Span.Start || e.Span.End > int64(len(in.text)) {
					t.Fatalf("%s, line %d: %s has edits out of order: %v", in.name, f.Start.Line, f.Rule.Name, f.Edits)
				}
				end = e.Span.End
			}
			pieces, err := edit.Apply(source.FromBytes(in.name, in.text), f.Edits)
			if err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(io.NewSectionReader(pieces, 0, pieces.Size()))
			if err != nil || bytes.Equal(out, in.text) {
				t.Fatalf("%s, line %d: %s: %v", in.name, f.Start.Line, f.Rule.Name, err)
			}
			after := check(t, in.name, out, Options{})
			if after.Skipped != "" && before.Skipped == "" || lost(after.File) > lost(before.File) {
				t.Errorf("%s, line %d: the repair of %s alone breaks the file:\n%s", in.name, f.Start.Line, f.Rule.Name, out)
			}
			// What is in the way of a repair.
			clears := strings.HasPrefix(f.Fix.Title, "drop the reasoning") && f.Rule.Name == "tool-use-not-last" ||
				strings.HasSuffix(f.Fix.Title, "behind the results of its turn, to turn it into text")
			if n := foundBy(after, f.Rule); n >= foundBy(before, f.Rule) && !clears {
				t.Errorf("%s, line %d: the repair of %s alone repairs nothing: there are %d", in.name, f.Start.Line, f.Rule.Name, n)
			}
		}
	}
	if told < 300 {
		t.Errorf("only %d repairs", told)
	}
	t.Logf("%d repairs", told)
}

// TestEditsOfManyFindings: the edits of a repair that very many findings share stand with the first ones
// only, so that a report does not grow with the square of their number.
func TestEditsOfManyFindings(t *testing.T) {
	for _, n := range []int{1, mostTold, mostTold + 1, 300} {
		text := `{"messages":[` + loadUser + `,{"role":"assistant","content":null,"tool_calls":[` + joined(n, loadCall) + `]},` + loadUser + `]}`
		rep := check(t, "x.json", []byte(text), Options{Edits: true})
		var first *Finding
		i := 0
		for f := range rep.Findings.All() {
			if first == nil {
				first = f
			}
			if f.Fix == nil || f.Fix.ID != first.Fix.ID || f.Fix.Title != first.Fix.Title {
				t.Fatalf("%d calls: finding %d has repair %+v, the first one %+v", n, i, f.Fix, first.Fix)
			}
			if i < mostTold {
				if len(f.Edits) != 1 || f.EditAt == nil || strings.Count(string(f.Edits[0].Text), `"tool_call_id"`) != n {
					t.Fatalf("%d calls: finding %d has the edits %v", n, i, f.Edits)
				}
			} else if f.Edits != nil || f.EditAt != nil {
				t.Fatalf("%d calls: finding %d has the edits %v", n, i, f.Edits)
			}
			i++
		}
		if i != n {
			t.Errorf("%d findings of %d calls", i, n)
		}
	}
}
