package pairing

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/toolguard/toolguard/internal/transcript"
)

// Texts get the same number if they are the same, however many there are.
func TestNumbers(t *testing.T) {
	x, want := newNumbers(4), map[string]int32{}
	for i := range 5000 {
		text := strconv.Itoa(i * i % 3001)
		n, seen := want[text]
		if !seen {
			n = int32(len(want))
			want[text] = n
		}
		if got := x.of(text); got != n {
			t.Fatalf("%q has the number %d, want %d", text, got, n)
		}
	}
}

// TestUnique: no two calls have the same id where Pair says so, and it says so of calls with ids of their own.
func TestUnique(t *testing.T) {
	unique := 0
	for seed := range uint64(4000) {
		for _, m := range []*maker{sound(&chooser{state: seed}), wild(&chooser{state: seed})} {
			c := m.Conv
			p := Pair(c, sameArgs(c))
			if !p.Unique {
				continue
			}
			unique++
			seen := map[string]bool{}
			for i := range c.Calls {
				call := &c.Calls[i]
				id := Key(call.ID)
				if id == "" || call.Answer.ByProvider() || call.Kind == transcript.KindApproval || p.Calls[i].State == Exempt {
					continue
				}
				if seen[id] {
					t.Fatalf("seed %d: two calls have the id %q, but Unique is set", seed, id)
				}
				seen[id] = true
			}
		}
	}
	if unique < 1000 {
		t.Errorf("only %d conversations have ids that are unique", unique)
	}
	for _, n := range []int{2, 8, 9, 100} {
		for _, twice := range []bool{false, true} {
			m := newMaker(&chooser{}, transcript.WindowUser)
			for i := range n {
				m.message(transcript.RoleAssistant, "", 0)
				id := fmt.Sprintf("%q", fmt.Sprint("call ", i))
				if twice && i == n-1 {
					id = `"call 0"`
					m.Message().Segment = 1
				}
				m.call(id, "", 0)
				m.message(transcript.RoleUser, "", 0)
				m.result(id, "")
			}
			if p := Pair(m.Conv, nil); p.Unique == twice {
				t.Errorf("%d calls, one id twice: %t, but Unique is %t", n, twice, p.Unique)
			}
		}
	}
}
