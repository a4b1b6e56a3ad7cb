package report

import (
	"testing"

	"github.com/toolguard/toolguard/internal/rules"
)

func TestTally(t *testing.T) {
	t.Parallel()
	for want, tally := range map[string]Tally{
		"1 call without a result":                               {"missing-tool-result", 1, nil, false},
		"2 calls without a result (Bash)":                       {"missing-tool-result", 2, []string{"Bash"}, false},
		"9 calls without a result (a, b, c and 2 more)":         {"missing-tool-result", 9, []string{"a", "b", "c", "d", "e"}, false},
		"2 duplicate results":                                   {"duplicate-tool-result", 2, nil, false},
		"2 messages with reasoning":                             {"replayed-reasoning", 2, nil, false},
		"1 finding of first-role":                               {"first-role", 1, nil, false},
		"3 findings of first-role (x)":                          {"first-role", 3, []string{"x"}, false},
		"2 results before their calls":                          {"result-before-call", 2, nil, false},
		"1 run of NUL bytes":                                    {"nul-padding", 1, nil, false},
		"4 calls with invalid arguments (edit, write and more)": {"tool-input-not-object", 4, []string{"edit", "write and more"}, false},
	} {
		if got := tally.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestProblems: each rule that has another name for its findings exists.
func TestProblems(t *testing.T) {
	t.Parallel()
	for name, p := range problems {
		if rules.ByName(name) == nil || p.one == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
