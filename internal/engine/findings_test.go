package engine

import (
	cmp2 "cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// madeUp returns findings in which every field is set or empty at random.
func madeUp(n int) []Finding {
	rnd := rand.New(rand.NewPCG(5, 6))
	text := func() string { return strings.Repeat(fmt.Sprintf("%x \x00é", rnd.Uint64()), rnd.IntN(3)) }
	num := func() int { return rnd.IntN(1<<(1+rnd.IntN(40))) - 1 }
	span := func() source.Span { s := int64(num()); return source.Span{Start: s, End: s + int64(num())} }
	at := func() source.Position {
		return source.Position{Offset: int64(num()), Line: num(), Column: num(), Char: num()}
	}
	op := func() *operation.Operation {
		if rnd.IntN(2) == 0 {
			return nil
		}
		return &operation.Operation{ID: rnd.Int32(), Class: operation.Unsafe, Title: text(), ByStrategy: rnd.IntN(2) == 0}
	}
	excerpt := func() Excerpt {
		return Excerpt{Text: []byte("y" + text()), Mark: [2]int{num(), num()}, CutBefore: rnd.IntN(2) == 0, CutAfter: rnd.IntN(2) == 0}
	}
	all := rules.All()
	var out []Finding
	for range n {
		f := Finding{
			Finding: rules.Finding{
				Rule: all[rnd.IntN(len(all))], Severity: rules.Severity(rnd.IntN(4)), Message: text(), Discreet: text(), Within: num(), Span: span(),
				Conversation: num(), Turn: num(), Record: rnd.Int32(), CallID: text(), Tool: text(), NestedID: num()%2 == 0, NestedTool: num()%2 == 0, Kind: text(), Refusal: text(), Confidence: text(),
				Fix: op(), Unfixed: text(),
			},
			Path: text(), Dialect: text(), Pointer: text(), Start: at(), End: at(), Fingerprint: text(), RecordHash: text(), withheld: op(),
		}
		for range rnd.IntN(3) {
			f.Related = append(f.Related, rules.Related{Message: text(), Span: span()})
			f.RelatedAt = append(f.RelatedAt, at(), at())
			f.Edits = append(f.Edits, edit.Edit{Span: span(), Text: []byte("x" + text())})
			f.RelatedExcerpts = append(f.RelatedExcerpts, excerpt())
		}
		if rnd.IntN(2) == 0 {
			f.EditAt = &[2]source.Position{at(), at()}
			f.Excerpt = excerpt()
		}
		out = append(out, f)
	}
	return out
}

var sameFindings = cmp.Options{
	cmp.AllowUnexported(Finding{}), cmpopts.IgnoreUnexported(rules.Finding{}),
	cmp.Comparer(func(a, b *rules.Rule) bool { return a == b }),
}

// TestFindings: findings are unpacked as they were packed.
func TestFindings(t *testing.T) {
	want := madeUp(500)
	var fs Findings
	for i := range want {
		fs.Add(&want[i])
	}
	if fs.Len() != len(want) || len(fs.packed.chunks) < 3 {
		t.Fatalf("%d findings, %d chunks", fs.Len(), len(fs.packed.chunks))
	}
	if diff := cmp.Diff(want, fs.List(), sameFindings); diff != "" {
		t.Fatal(diff)
	}
	seen := fs.Changed(func(f *Finding) { f.Message = "seen" })
	for f := range seen.All() {
		if f.Message != "seen" {
			t.Fatalf("message %q", f.Message)
		}
	}
	if got := fs.List()[0].Message; got != want[0].Message {
		t.Errorf("the list itself says %q", got)
	}
	var none Findings
	if none.Len() != 0 || none.List() != nil {
		t.Error("an empty list has findings")
	}
}

// TestHits: hits are flat and small, and the finding of each, in any order, has what was kept of it.
func TestHits(t *testing.T) {
	if size := unsafe.Sizeof(hit{}); size > 40 {
		t.Errorf("a hit takes %d bytes", size)
	}
	want := madeUp(2000)
	var hs hits
	for i := range want {
		f := &want[i]
		f.Conversation, f.Record = f.Conversation%1000-1, f.Record%1000
		hs.add(f)
		*f = Finding{Finding: f.Finding, Dialect: f.Dialect, Index: f.Index, Place: f.Place}
		if f.Fix != nil {
			f.Fix = &operation.Operation{ID: f.Fix.ID}
		}
	}
	if len(hs.packed.chunks) < 3 {
		t.Fatalf("%d chunks", len(hs.packed.chunks))
	}
	from := unpacker{packed: &hs.packed}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(len(want)) {
		if diff := cmp.Diff(want[i], *hs.finding(&hs.list[i], &from), sameFindings); diff != "" {
			t.Fatalf("finding %d: %s", i, diff)
		}
	}
	n := 300
	for f := range hs.findings(n) {
		if diff := cmp.Diff(want[n], *f, sameFindings); diff != "" {
			t.Fatalf("finding %d: %s", n, diff)
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d findings", n)
	}
}

// TestHitsSorted: hits are in the order of a sort of their findings.
func TestHitsSorted(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	all := rules.All()
	var want []Finding
	var hs hits
	for i := range 3000 {
		start := int64(rnd.IntN(20))
		f := Finding{Finding: rules.Finding{
			Rule: all[rnd.IntN(3)], Message: strconv.Itoa(rnd.IntN(4)), Span: source.Span{Start: start, End: start + int64(rnd.IntN(3))}, Turn: i,
		}}
		want = append(want, f)
		hs.add(&f)
	}
	slices.SortStableFunc(want, func(a, b Finding) int {
		return cmp2.Or(cmp2.Compare(a.Span.Start, b.Span.Start), cmp2.Compare(a.Span.End, b.Span.End), cmp2.Compare(a.Rule.Name, b.Rule.Name), cmp2.Compare(a.Message, b.Message))
	})
	hs.sort(&unpacker{packed: &hs.packed})
	if diff := cmp.Diff(want, slices.Collect(values(hs.findings(0))), sameFindings); diff != "" {
		t.Error(diff)
	}
}

// values yields what pointers point to.
func values[T any](list iter.Seq[*T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range list {
			if !yield(*v) {
				return
			}
		}
	}
}

// TestNumbers: numbers of all sizes are read as they were written.
func TestNumbers(t *testing.T) {
	for _, want := range []int64{0, 1, -1, 63, 64, -64, -65, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		w := packer{writes: true}
		number(&w, &want)
		var got int64
		if number(&packer{in: string(w.out)}, &got); got != want {
			t.Errorf("%d is read as %d", want, got)
		}
	}
}

// TestShown: a finding that will not be shown is only counted.
func TestShown(t *testing.T) {
	text := []byte(strings.Repeat(loadUser+"\n", 5) + "x\n")
	rep := check(t, "s.jsonl", text, Options{Shown: func(_ *rules.Rule, s rules.Severity) bool { return s > rules.Info }})
	var got []string
	for f, n := range rep.All() {
		got = append(got, fmt.Sprintf("%s %s %d", f.Severity, f.Rule.Name, n))
	}
	if want := []string{"error invalid-json 1", "info consecutive-roles 4"}; !slices.Equal(got, want) || rep.Findings.Len() != 1 {
		t.Errorf("got %q, want %q", got, want)
	}
}

// orphans returns n results without calls, one a line.
func orphans(n int) []byte {
	var b strings.Builder
	b.WriteString("{\"role\":\"user\",\"content\":\"q\"}\n")
	for i := range n {
		fmt.Fprintf(&b, "{\"role\":\"tool\",\"tool_call_id\":\"call_%08d\",\"content\":\"result %d\"}\n", i, i)
	}
	return []byte(b.String())
}

// TestMemoryOfKeptFindings: a report keeps only a few bytes for each finding.
func TestMemoryOfKeptFindings(t *testing.T) {
	n := sample.Size(300_000, 30_000, 10_000)
	src := source.FromBytes("s.jsonl", orphans(n))
	rep, err := Check(context.Background(), src, Options{Edits: true})
	if err != nil || rep.Findings.Len() != n {
		t.Fatalf("%v, %d findings", err, rep.Findings.Len())
	}
	size := 0
	for _, c := range rep.Findings.packed.chunks {
		size += cap(c)
	}
	if got := float64(size) / float64(n); got > 90 {
		t.Errorf("a finding takes %.0f bytes", got)
	} else {
		t.Logf("a finding takes %.0f bytes", got)
	}
}

// TestMemoryOfPlacedFindings: a repair is forgotten once its outcome is known, and what is known of findings
// once they are placed, so that a check does not hold them twice.
func TestMemoryOfPlacedFindings(t *testing.T) {
	const n = 20_000
	c := newChecker(source.FromBytes("s.jsonl", orphans(n)), Options{Edits: true})
	c.mode = seeing{checking{c}, func(*View) error {
		if got := len(c.offers.open); got != n {
			t.Errorf("%d repairs, want %d", got, n)
		}
		if slices.ContainsFunc(c.offers.open, func(op *operation.Operation) bool { return op != nil }) {
			t.Error("repairs are held although their outcome is known")
		}
		return nil
	}}
	rep, err := c.run(context.Background())
	if err != nil || rep.Findings.Len() != n {
		t.Fatalf("%v, %d findings", err, rep.Findings.Len())
	}
	for name, p := range map[string]*packed{"hits": &c.found.packed, "offers": &c.offers.details} {
		held := slices.DeleteFunc(slices.Clone(p.chunks), func(chunk []byte) bool { return chunk == nil })
		if len(p.chunks) < 10 || len(held) > 0 {
			t.Errorf("%d of %d chunks of the %s are held", len(held), len(p.chunks), name)
		}
	}
}
