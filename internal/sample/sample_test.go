package sample

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names returns n names of ten kinds.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%03d/kind%d", i, i%10))
	}
	return all
}

func itself(s string) string { return s }

func folder(s string) []string {
	_, kind, _ := strings.Cut(s, "/")
	return []string{kind}
}

func TestOf(t *testing.T) {
	t.Setenv("TOOLGUARD_LONG", "")
	all := append(names(400), "401/rare", "402/rare")
	some := Of(t, 20, all, itself, folder)
	if diff := cmp.Diff(some, Of(t, 20, all, itself, folder)); diff != "" {
		t.Errorf("two samples differ: %s", diff)
	}
	// One in twenty is 21, and each of the eleven kinds can add one.
	if len(some) < 21 || len(some) > 32 || !slices.IsSorted(some) {
		t.Errorf("%d of %d: %q", len(some), len(all), some)
	}
	kinds := map[string]bool{}
	for _, s := range some {
		kinds[folder(s)[0]] = true
	}
	if len(kinds) != 11 {
		t.Errorf("kinds %v of %q", kinds, some)
	}
	t.Run("other test", func(t *testing.T) {
		if other := Of(t, 20, all, itself, folder); slices.Equal(other, some) {
			t.Errorf("the same sample: %q", other)
		}
	})
	if got := Of(t, 1, all, itself, folder); len(got) != len(all) {
		t.Errorf("one in one is %d of %d", len(got), len(all))
	}
	t.Setenv("TOOLGUARD_LONG", "1")
	if got := Of(t, 20, all, itself, folder); !slices.Equal(got, all) {
		t.Errorf("in a long run: %d of %d", len(got), len(all))
	}
}

func TestSize(t *testing.T) {
	usual := 2
	if Race || testing.Short() {
		usual = 1
	}
	for _, c := range []struct {
		long, mutants      string
		size, inputs, seed int
	}{
		{"", "", usual, usual, 7},
		{"0", "", usual, usual, 7},
		{"1", "", max(3*(usual-1), 1), max(3*(usual-1), 1), 7},
		{"", "50", usual, 50, 7},
	} {
		t.Setenv("TOOLGUARD_LONG", c.long)
		t.Setenv("TOOLGUARD_MUTANTS", c.mutants)
		t.Setenv("TOOLGUARD_SEED", "")
		if got := Size(3, 2, 1); got != c.size {
			t.Errorf("%+v: size %d", c, got)
		}
		if got := Inputs(3, 2, 1); got != c.inputs {
			t.Errorf("%+v: %d inputs", c, got)
		}
		if got := Seed(7); got != uint64(c.seed) {
			t.Errorf("%+v: seed %d", c, got)
		}
	}
	t.Setenv("TOOLGUARD_SEED", "9")
	if got := Seed(7); got != 9 {
		t.Errorf("seed %d, want 9", got)
	}
}
