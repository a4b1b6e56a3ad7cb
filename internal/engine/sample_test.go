package engine

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// sampled returns a sample of fixtures and worked cases: one in every, at least one of each
// dialect, and at least one in which each rule finds something.
func sampled(t testing.TB, every int, all []fixture) []fixture {
	t.Helper()
	return sample.Of(t, every, all, func(f fixture) string { return f.name }, func(f fixture) []string { return kindsOf(t, f) })
}

// kinds keeps the results of kindsOf, because several tests take samples.
var kinds sync.Map

// kindsOf returns the dialect of a fixture and the rules that find something in it.
func kindsOf(t testing.TB, f fixture) []string {
	t.Helper()
	if known, ok := kinds.Load(f.name); ok {
		return known.([]string)
	}
	rep := check(t, f.name, f.text, Options{Send: true})
	dialect, _, inFolder := strings.Cut(f.name, "/")
	if !inFolder {
		dialect = rep.File.Dialect
	}
	of := []string{dialect}
	for fd := range rep.Findings.All() {
		of = append(of, fd.Rule.Name)
	}
	slices.Sort(of)
	of = slices.Compact(of)
	kinds.Store(f.name, of)
	return of
}

// TestSampleHasEveryRule: the rules that find something in all fixtures do so in each sample.
func TestSampleHasEveryRule(t *testing.T) {
	t.Parallel()
	found := func(in []fixture) (names []string) {
		for _, f := range in {
			names = append(names, kindsOf(t, f)...)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	all := fixtures(t)
	taken := sampled(t, 1000, all)
	if !slices.Equal(found(all), found(taken)) {
		t.Errorf("%d fixtures of %d have %q, want %q", len(taken), len(all), found(taken), found(all))
	}
	t.Logf("%d fixtures of %d", len(taken), len(all))
	if !sample.Long() && len(taken) > len(all)/2 {
		t.Errorf("a sample has %d fixtures of %d", len(taken), len(all))
	}
}
