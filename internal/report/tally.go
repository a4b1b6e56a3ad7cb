package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
)

// A Tally is the number of findings of a rule in a file, and the names of the tools that they
// are about.
type Tally struct {
	Rule  string
	Count int
	Tools []string
	// Recorded says that a missing result is recorded elsewhere in the file, where the agent
	// does not look for it.
	Recorded bool
}

// TallyErrors counts the errors in a file by rule, in the order of their places.
func TallyErrors(r *engine.Report) []Tally {
	var out []Tally
	for f, n := range r.All() {
		if f.Severity != rules.Error {
			continue
		}
		i := slices.IndexFunc(out, func(t Tally) bool { return t.Rule == f.Rule.Name })
		if i < 0 {
			i = len(out)
			out = append(out, Tally{Rule: f.Rule.Name, Tools: []string{}})
		}
		t := &out[i]
		t.Count += n
		t.Recorded = t.Recorded || f.Recorded
		if f.Tool != "" && !slices.Contains(t.Tools, f.Tool) {
			t.Tools = append(t.Tools, f.Tool)
		}
	}
	return out
}

// mostTools is how many tools a tally names.
const mostTools = 3

// String describes the findings: 2 calls without a result (Bash, Read).
func (t Tally) String() string {
	p := problems[t.Rule]
	one, more := p.one, p.more
	if one == "" {
		one = "finding of " + t.Rule
		more = "findings of " + t.Rule
	}
	if more == "" {
		more = one + "s"
	}
	out := fmt.Sprintf("%d %s", t.Count, pick(t.Count, one, more))
	if tools := t.Tools; len(tools) > 0 {
		rest := ""
		if n := len(tools) - mostTools; n > 0 {
			tools, rest = tools[:mostTools], fmt.Sprintf(" and %d more", n)
		}
		out += " (" + strings.Join(tools, ", ") + rest + ")"
	}
	return out
}

// A problem is what the findings of a rule are called.
type problem struct {
	one  string
	more string // "" for one with an s
}

// problems has the rules that break sessions most often. The others are called by their names.
var problems = map[string]problem{
	"missing-tool-result":   {"call without a result", "calls without a result"},
	"pending-tool-call":     {"open call", ""},
	"orphan-tool-result":    {"result without a call", "results without a call"},
	"misplaced-tool-result": {"misplaced result", ""},
	"result-before-call":    {"result before its call", "results before their calls"},
	"duplicate-tool-result": {"duplicate result", ""},
	"duplicate-call-id":     {"duplicate call id", ""},
	"truncated-record":      {"torn record", ""},
	"invalid-json":          {"invalid line", ""},
	"nul-padding":           {"run of NUL bytes", "runs of NUL bytes"},
	"broken-link":           {"broken link", ""},
	"stale-parent":          {"branch that leaves out messages", "branches that leave out messages"},
	"tool-input-not-object": {"call with invalid arguments", "calls with invalid arguments"},
	"missing-call-id":       {"call without an id", "calls without an id"},
	"empty-message":         {"empty message", ""},
	"replayed-reasoning":    {"message with reasoning", "messages with reasoning"},
}

// Plan describes what a repair does to a file: 2 placeholders, 1 moved.
func Plan(f *engine.Fixed) string {
	var s FixSummary
	s.AddFixed(f)
	if n := s.did["inserted"]; n > 0 {
		delete(s.did, "inserted")
		return strings.TrimSuffix(count(n, "placeholder")+", "+s.deeds(), ", ")
	}
	return s.deeds()
}
