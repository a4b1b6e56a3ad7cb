package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestDoubledKeys checks that keys are compared by their decoded text.
func TestDoubledKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":1,"\u0069d":2}`:      "id",
		`{"\u0069d":1,"id":2}`:      "id",
		`{"\u0069d":1,"i\u0064":2}`: "id",
		`{"id":1,"id":2}`:           "id",
		`{"id":1,"Id":2}`:           "",
	} {
		got := ""
		b := NewBuilder(&Conversation{})
		b.OnKeyFault = func(k KeyFault) { got += k.Key }
		b.Fields(source.NewValue([]byte(text), 0), nil, nil)
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestDoubledKeysOfMany checks that each repeated key is reported with its first
// occurrence, however many and however similar the keys are, and regardless of earlier
// objects.
func TestDoubledKeysOfMany(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var known *Shared
	for round := range 300 {
		if round%10 == 0 {
			known = &Shared{}
		}
		var text strings.Builder
		var want, got []string
		first := map[string]int{}
		text.WriteString("{")
		for i := range rnd.IntN(90) {
			key := string("abcd"[rnd.IntN(4)]) + strings.Repeat("x", rnd.IntN(12)) + string("efgh"[rnd.IntN(4)])
			if i > 0 {
				text.WriteString(", ")
			}
			if at, again := first[key]; again {
				want = append(want, fmt.Sprintf("%s at %d and %d", key, at, text.Len()))
			} else {
				first[key] = text.Len()
			}
			fmt.Fprintf(&text, "%q:1", key)
		}
		text.WriteString("}")
		b := NewBuilder(&Conversation{})
		b.Shared = known
		b.OnKeyFault = func(k KeyFault) {
			got = append(got, fmt.Sprintf("%s at %d and %d", k.Key, k.First.Start, k.Again.Start))
		}
		b.Fields(source.NewValue([]byte(text.String()), 0), nil, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("%s:\n got %q\nwant %q", text.String(), got, want)
		}
	}
}
