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

func TestCauses(t *testing.T) {
	t.Parallel()
	of := func(rules ...string) (out []Tally) {
		for i, r := range rules {
			out = append(out, Tally{Rule: r, Count: i + 1}) // the last one is the most frequent
		}
		return out
	}
	missing, cut, broken := of("missing-tool-result"), of("truncated-record", "missing-tool-result"), of("broken-link", "missing-tool-result")
	for want, sessions := range map[string][][]Tally{
		"2 with calls without a result, 1 cut off":                      {cut, missing, missing},
		"1 with broken links, 1 cut off":                                {broken, cut},
		"1 with results without a call":                                 {of("missing-tool-result", "orphan-tool-result")},
		"all cut off":                                                   {cut, cut},
		"1 with reasoning":                                              {of("replayed-reasoning")},
		"1 with calls without a result":                                 {of("missing-tool-result", "replayed-reasoning")},
		"1 with findings of first-role":                                 {of("first-role")},
		"1 with branches that leave out messages, 1 with invalid lines": {of("stale-parent"), of("invalid-json")},
		"2 cut off, 1 with broken links, 1 with calls without a result, 1 with open calls, 1 with reasoning, 2 with other faults": {
			broken, missing, of("pending-tool-call"), of("replayed-reasoning"), of("first-role"), cut, of("empty-text"), cut,
		},
	} {
		if got := Causes(sessions); got != want {
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
