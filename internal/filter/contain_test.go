package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/planted"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// plantedOptions have the dialect and the rule that panic.
func plantedOptions() (opts Options) {
	opts.Check.Dialects = dialect.Builtin().With(planted.Dialect())
	opts.Check.Rules = append(rules.All(), planted.Rule())
	return opts
}

// TestPanicInRow: a row whose check or repair panics is rejected, and what becomes of the others
// does not depend on it.
func TestPanicInRow(t *testing.T) {
	t.Parallel()
	sound := `{"history":[{"by":"user","says":"x"},{"by":"model","says":"y"}]}`
	repair := map[string]string{"missing-tool-result": "insert"}
	for _, tt := range []struct {
		id  string
		fix bool
	}{
		{planted.InReader, false},
		{planted.InRule, false},
		{planted.InReader, true},
		{planted.InRule, true},
		{planted.InRepair, true},
		{planted.InProof, true},
	} {
		opts := plantedOptions()
		if tt.fix {
			opts = repairing(opts, repair)
		}
		bad := planted.Row(tt.id)
		others := []string{sound, planted.Row("c1"), `{"n":1}`, `{"history":[`, planted.Row("c2"), sound}
		want := parts(t, strings.Join(others, "\n")+"\n", opts)
		if want.err != nil || want.Rejected == 0 || want.Kept == 0 {
			t.Fatalf("%+v", want)
		}
		// At the start, in the middle, at the end, one behind the other.
		for _, at := range [][]int{{0}, {2}, {6}, {1, 1, 2}, {0, 0, 3, 5, 6, 6}} {
			var rows, rejected []string
			badAt := map[int]bool{}
			for i := 0; i <= len(others); i++ {
				for _, k := range at {
					if k == i {
						rows = append(rows, bad)
						badAt[len(rows)] = true
					}
				}
				if i < len(others) {
					rows = append(rows, others[i])
				}
			}
			name := fmt.Sprintf("%s, with repairs %v, before %v", tt.id, tt.fix, at)
			got := parts(t, strings.Join(rows, "\n")+"\n", opts)
			if got.err != nil || got.Caught == nil || got.Caught.Panic != planted.Value {
				t.Errorf("%s: %v, %+v", name, got.err, got.Caught)
				continue
			}
			for row := range strings.Lines(got.rejects) {
				if strings.TrimSuffix(row, "\n") != bad {
					rejected = append(rejected, row)
				}
			}
			if diff := cmp.Diff(want.out, got.out); diff != "" {
				t.Errorf("%s: the rows that pass: %s", name, diff)
			}
			if diff := cmp.Diff(want.rejects, strings.Join(rejected, "")); diff != "" || strings.Count(got.rejects, bad) != len(at) {
				t.Errorf("%s: the other rejected rows: %s\n%s", name, diff, got.rejects)
			}
			was, is := want.Counts, got.Counts
			is.Conversations -= len(at)
			is.Rejected -= len(at)
			if is.Rules[InternalError] != len(at) {
				t.Errorf("%s: rejected by %v", name, is.Rules)
			}
			delete(is.Rules, InternalError)
			if diff := cmp.Diff(was, is); diff != "" {
				t.Errorf("%s: counts of the others: %s", name, diff)
			}
			var reasons, wanted []string
			for _, r := range got.reasons {
				if r.Internal {
					if !badAt[int(r.Record)] || r.Line != int(r.Record) || r.Findings.Len() > 0 {
						t.Errorf("%s: the reason %+v", name, r)
					}
					continue
				}
				for f := range r.Findings.All() {
					reasons = append(reasons, f.Rule.Name+": "+f.Message)
				}
			}
			for _, r := range want.reasons {
				for f := range r.Findings.All() {
					wanted = append(wanted, f.Rule.Name+": "+f.Message)
				}
			}
			if diff := cmp.Diff(wanted, reasons); diff != "" || len(got.reasons) != len(want.reasons)+len(at) {
				t.Errorf("%s: the reasons: %s", name, diff)
			}
		}
	}
}

// TestPanicOutsideRows: a document is checked as a whole, so a panic is one of the whole source.
// So is a panic of a goroutine that reads ahead, behind which nobody knows the rows.
func TestPanicOutsideRows(t *testing.T) {
	t.Parallel()
	text := "[" + planted.Row("c1") + "," + planted.Row(planted.InRule) + "]"
	err := contain.Do(func() error { return parts(t, text, plantedOptions()).err })
	if caught := contain.From(err); caught == nil || caught.Panic != planted.Value {
		t.Errorf("a document: %v", err)
	}
	text = strings.Repeat(planted.Row("c1")+"\n", 10_000)
	src := source.NewSource("t", endless{strings.NewReader(text), 1 << 20}, int64(len(text)))
	src.SetAhead(0)
	p := partsOf(t, src, plantedOptions())
	if caught := contain.From(p.err); caught == nil || caught.Panic != planted.Value {
		t.Errorf("a panic ahead: %v, %+v", p.err, p.Result)
	}
}

// An endless reader panics behind an offset.
type endless struct {
	*strings.Reader
	most int64
}

func (e endless) ReadAt(b []byte, off int64) (int, error) {
	if off >= e.most {
		panic(planted.Value)
	}
	return e.Reader.ReadAt(b, off)
}
