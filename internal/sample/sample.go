// Package sample says how much of their work heavy tests do. It knows nothing of what they
// test.
//
// By default a heavy test does a fixed part of its work: its random inputs come from a fixed
// seed, and of long lists it takes a sample (Of) that always is the same and has something of
// every kind, such as each dialect and each rule. TOOLGUARD_LONG=1 makes it do all of it. With
// -short or the race detector it does less. No test does nothing, and one that runs out of
// time stops before the time limit (Until).
package sample

import (
	"cmp"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Long reports whether tests do all of their work.
func Long() bool { return os.Getenv("TOOLGUARD_LONG") == "1" }

// Size returns how much a heavy test does: in a long run, usually, and with -short or the
// race detector.
func Size(long, usual, short int) int {
	switch {
	case Race || testing.Short():
		return short
	case Long():
		return long
	}
	return usual
}

// Inputs returns how many inputs a test generates: TOOLGUARD_MUTANTS, or as Size says.
func Inputs(long, usual, short int) int {
	if n, err := strconv.Atoi(os.Getenv("TOOLGUARD_MUTANTS")); err == nil {
		return n
	}
	return Size(long, usual, short)
}

// Seed returns TOOLGUARD_SEED, or the usual seed.
func Seed(usual uint64) uint64 {
	if s, err := strconv.ParseUint(os.Getenv("TOOLGUARD_SEED"), 10, 64); err == nil {
		return s
	}
	return usual
}

// Of returns the sample of a list that a test takes, in the order of the list: one item in
// every, all in a long run, and at least one of each kind that an item is of. The sample
// depends on the names of the items and of the test, so other tests take other items.
func Of[T any](t testing.TB, every int, all []T, name func(T) string, kinds func(T) []string) []T {
	t.Helper()
	if Long() || every <= 1 {
		return all
	}
	order := make([]int, len(all))
	rank := make([]uint64, len(all))
	for i, item := range all {
		h := fnv.New64a()
		_, _ = h.Write([]byte(t.Name() + "\x00" + name(item)))
		// FNV hardly spreads the last bytes of a name over the high bits of the sum.
		order[i], rank[i] = i, h.Sum64()*0x9e3779b97f4a7c15>>7
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	taken := map[string]bool{}
	var chosen []int
	for place, i := range order {
		fresh := false
		for _, kind := range kinds(all[i]) {
			fresh = fresh || !taken[kind]
		}
		if !fresh && place*every >= len(all) {
			continue
		}
		for _, kind := range kinds(all[i]) {
			taken[kind] = true
		}
		chosen = append(chosen, i)
	}
	slices.Sort(chosen)
	out := make([]T, len(chosen))
	for k, i := range chosen {
		out[k] = all[i]
	}
	return out
}

// began is the time when the tests began.
var began = time.Now()

// Until returns a function that reports when a heavy loop must end: after three fifths of the
// time limit.
func Until(t *testing.T) func() bool {
	t.Helper()
	end, limited := t.Deadline()
	end = began.Add(end.Sub(began) / 5 * 3)
	return func() bool {
		if limited && time.Now().After(end) {
			t.Log("there is no time left, and the rest is left out")
			return true
		}
		return false
	}
}
