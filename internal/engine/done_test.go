package engine

import (
	"testing"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// TestDoneNotesAFixOnce: what a fix touches and drops is noted once, however many operations
// it carries out, and once for each rule that asked for it. Otherwise memory would grow with
// the square of a turn.
func TestDoneNotesAFixOnce(t *testing.T) {
	t.Parallel()
	const n = 100
	var fix edit.Fix
	for i := range int64(n) {
		s := source.Span{Start: 10 * i, End: 10*i + 5}
		fix.Edits, fix.Gone, fix.Reads = append(fix.Edits, edit.Edit{Span: s}), append(fix.Gone, s), append(fix.Reads, s)
	}
	two := rules.All()[:2]
	var wishes []wish
	for i := range n {
		wishes = append(wishes, wish{Operation: &operation.Operation{Do: &operation.MoveResults{}, Class: operation.Unsafe}, rule: two[i%2]})
	}
	r := &round{settler: &settler{did: map[ruleIn]bool{}}}
	r.done(&fix, wishes...)
	if len(r.touched) != 3*n {
		t.Errorf("%d spans are touched, want %d", len(r.touched), 3*n)
	}
	if len(r.repairs) != n || len(r.places) != 1 || len(r.places[0]) != n {
		t.Errorf("%d repairs, %d places", len(r.repairs), len(r.places))
	}
	for i, done := range r.repairs {
		want := 0
		if i < 2 {
			want = n
		}
		if len(done.Dropped) != want || done.Rule != two[i%2].Name {
			t.Errorf("repair %d of %s dropped %d elements, want %d", i, done.Rule, len(done.Dropped), want)
		}
	}
}
