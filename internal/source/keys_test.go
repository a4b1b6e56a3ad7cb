package source

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// checkWalk compares a walk over an object, and over the objects in it, with Members.
func checkWalk(t *testing.T, k *Keys, numbers map[string]int, v Value) {
	t.Helper()
	type met struct{ key, val Span }
	var want, got []met
	for key, val := range v.Members() {
		want = append(want, met{key.Span(), val.Span()})
	}
	var w Walk
	for w.Begin(v, k); w.Next(); {
		got = append(got, met{w.Key().Span(), w.Value().Span()})
		if w.KeySpan() != w.Key().Span() {
			t.Fatalf("%q: the key is at %v, and at %v", v.Raw(), w.Key().Span(), w.KeySpan())
		}
		key := string(w.Key().Raw())
		n, known := numbers[key]
		switch {
		case strings.Contains(key, `\`) && w.Number() > 0:
			t.Fatalf("%q: %s has number %d", v.Raw(), key, w.Number())
		case known && w.Number() != n:
			t.Fatalf("%q: %s has number %d, and had %d", v.Raw(), key, w.Number(), n)
		case !known && w.Number() > 0:
			if w.Number() != len(numbers)+1 {
				t.Fatalf("%q: %s has number %d, behind %d others", v.Raw(), key, w.Number(), len(numbers))
			}
			numbers[key] = w.Number()
		case !known && len(numbers) < MaxKeys && len(key) <= longestKey && !strings.Contains(key, `\`):
			t.Fatalf("%q: %s has no number", v.Raw(), key)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q:\n got %v\nwant %v", v.Raw(), got, want)
	}
	for _, val := range v.Members() {
		checkWalk(t, k, numbers, val)
	}
}

// TestWalk checks that a walk yields the same fields as Members and gives each key one
// number, regardless of earlier objects.
func TestWalk(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	long := strings.Repeat("k", longestKey)
	for round := range sample.Size(200, 50, 20) {
		keys := []string{"a", "ab", "abc", "b", "", "type", "typed", `t\u0079pe`, `\"`, `a\\`, long[2:], long[1:], "content", "é"}
		for i := range rnd.IntN(80) {
			keys = append(keys, fmt.Sprint("key", i))
		}
		vals := []string{`1`, `"x"`, `{}`, `{"a":1}`, `[ ]`, `[{"b":2}]`, `"` + long + `"`, `{"a":{"ab":"` + long + `"},"b":[]}`, `null`, `"a\",\"b\":1"`}
		blank := []string{"", "", "", " ", "\n\t"}
		one := func(list []string) string { return list[rnd.IntN(len(list))] }
		k, numbers := &Keys{}, map[string]int{}
		for range 20 {
			var text strings.Builder
			text.WriteString("{" + one(blank))
			for i, first := 0, rnd.IntN(len(keys)); i < rnd.IntN(90); i++ {
				if i > 0 {
					text.WriteString(one(blank) + "," + one(blank))
				}
				key := keys[(first+i)%len(keys)] // mostly in their usual order
				if rnd.IntN(8) == 0 {
					key = one(keys)
				}
				text.WriteString(`"` + key + `"` + one(blank) + ":" + one(blank) + one(vals))
			}
			text.WriteString(one(blank) + "}")
			in := []byte(text.String())
			s := NewScanner().Scan(in, 0, Strict)
			if s.Kind != FaultNone {
				t.Fatalf("%q: %+v", in, s)
			}
			checkWalk(t, k, numbers, s.value(in, 100))
			checkWalk(t, k, numbers, NewValue(in, 0).Indexed())
			if round%10 == 0 {
				for end := range in { // a walk must also stay inside invalid JSON
					checkWalk(t, k, numbers, NewValue(in[:end], 0))
				}
			}
		}
	}
}

// TestWalkOverOthers checks that a value that is not an object has no fields.
func TestWalkOverOthers(t *testing.T) {
	t.Parallel()
	k := &Keys{}
	for _, text := range []string{"", "1", `"a"`, "[]", `[{"a":1}]`, "null"} {
		checkWalk(t, k, map[string]int{}, NewValue([]byte(text), 0))
	}
}
