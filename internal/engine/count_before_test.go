package engine

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// countsOf returns how many findings of each kind a report has.
func countsOf(r *Report) map[string]int {
	out := map[string]int{}
	for f, n := range r.Kinds() {
		out[fmt.Sprintf("%s %s %+v", f.Rule.Name, f.Severity, f.Fix)] += n
	}
	return out
}

// TestCountBefore: a repair that only counts the findings before it is the same, and counts them alike. If
// nothing is repaired, it has them.
func TestCountBefore(t *testing.T) {
	counted := 0
	for _, f := range fixtures(t) {
		for _, opts := range []FixOptions{{}, {Unsafe: true}, {Options: Options{Most: 1, Strategy: map[string]string{"missing-tool-result": "insert"}}}} {
			whole := settledText(f.text, opts, nil)
			opts.CountBefore = true
			got := settledText(f.text, opts, nil)
			if _, changed := got["text"]; changed {
				counted++
				delete(whole, "before")
				delete(got, "before")
			}
			if diff := cmp.Diff(whole, got); diff != "" {
				t.Fatalf("%s: %s", f.name, diff)
			}
			is, err := Settle(context.Background(), source.FromBytes("history", f.text), opts)
			opts.CountBefore = false
			was, failed := Settle(context.Background(), source.FromBytes("history", f.text), opts)
			if fmt.Sprint(err) != fmt.Sprint(failed) || (is == nil) != (was == nil) {
				t.Fatalf("%s: %v, %v", f.name, err, failed)
			}
			if is != nil && (!maps.Equal(countsOf(is.Before), countsOf(was.Before)) || is.Before.Findings.Len() != was.Before.Findings.Len()) {
				t.Errorf("%s: %v, not %v", f.name, countsOf(is.Before), countsOf(was.Before))
			}
		}
	}
	if counted < 100 {
		t.Errorf("only %d repairs", counted)
	}
}
