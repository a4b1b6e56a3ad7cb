package rules

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/profile"
)

// TestWithoutPlaces compares positions in errors with an expression that matches them.
func TestWithoutPlaces(t *testing.T) {
	t.Parallel()
	places := regexp.MustCompile(`((?:messages|message|input|content|contents|parts|tool_calls)(?:\.|\[|\.\[| index ))\d+`)
	compare := func(text string) {
		t.Helper()
		if got, want := withoutPlaces(text), places.ReplaceAllString(text, "${1}…"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	n := 0
	for _, p := range profile.All() {
		for _, cell := range p.Cells {
			if cell != nil {
				compare(cell.Text)
				n++
			}
		}
	}
	if n < 50 {
		t.Errorf("%d errors", n)
	}
	pieces := []string{"messages", "message", "content", "contents", "input", "xinput", ".", "[", ".[", " index ", "1", "23", "x", " ", "…", "tool_calls"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var text strings.Builder
		for range rnd.IntN(12) {
			text.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		compare(text.String())
	}
}
