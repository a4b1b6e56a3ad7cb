package report

import (
	"cmp"
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
	p := problemOf(t.Rule)
	out := fmt.Sprintf("%d %s", t.Count, pick(t.Count, p.one, p.more))
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
	// session is what a session with them is, "" for one that is "with" them.
	session string
	// root marks faults of the file, which cause findings of other rules.
	root bool
}

// problems has the rules that break sessions most often. The others are called by their names.
var problems = map[string]problem{
	"missing-tool-result":   {one: "call without a result", more: "calls without a result"},
	"pending-tool-call":     {one: "open call"},
	"orphan-tool-result":    {one: "result without a call", more: "results without a call"},
	"misplaced-tool-result": {one: "misplaced result"},
	"result-before-call":    {one: "result before its call", more: "results before their calls"},
	"duplicate-tool-result": {one: "duplicate result"},
	"duplicate-call-id":     {one: "duplicate call id"},
	"truncated-record":      {one: "torn record", session: "cut off", root: true},
	"invalid-json":          {one: "invalid line", root: true},
	"nul-padding":           {one: "run of NUL bytes", more: "runs of NUL bytes", root: true},
	"broken-link":           {one: "broken link", root: true},
	"stale-parent":          {one: "branch that leaves out messages", more: "branches that leave out messages", root: true},
	"tool-input-not-object": {one: "call with invalid arguments", more: "calls with invalid arguments"},
	"missing-call-id":       {one: "call without an id", more: "calls without an id"},
	"empty-message":         {one: "empty message"},
	"replayed-reasoning":    {one: "message with reasoning", more: "messages with reasoning", session: "with reasoning"},
}

// problemOf returns what the findings of a rule are called.
func problemOf(rule string) problem {
	p, known := problems[rule]
	if !known {
		p = problem{one: "finding of " + rule, more: "findings of " + rule}
	}
	p.more = cmp.Or(p.more, p.one+"s")
	p.session = cmp.Or(p.session, "with "+p.more)
	return p
}

// mostCauses is how many causes are named.
const mostCauses = 5

// Causes counts sessions by what is mainly wrong with each, the most frequent first:
//
//	7 with calls without a result, 3 with broken links, 2 cut off
//
// That is a fault of the file if there is one, or else what is wrong most often.
func Causes(sessions [][]Tally) string {
	count := map[string]int{}
	var causes []string
	for _, tallies := range sessions {
		cause := mainCause(tallies)
		if count[cause]++; count[cause] == 1 {
			causes = append(causes, cause)
		}
	}
	if len(causes) == 1 && len(sessions) > 1 {
		return "all " + problemOf(causes[0]).session
	}
	slices.SortStableFunc(causes, func(a, b string) int { return count[b] - count[a] })
	var parts []string
	rest := len(sessions)
	for _, cause := range causes[:min(len(causes), mostCauses)] {
		parts = append(parts, fmt.Sprintf("%d %s", count[cause], problemOf(cause).session))
		rest -= count[cause]
	}
	if rest > 0 {
		parts = append(parts, fmt.Sprintf("%d with other faults", rest))
	}
	return strings.Join(parts, ", ")
}

// mainCause returns the rule that says what is mainly wrong with a session.
func mainCause(tallies []Tally) string {
	return slices.MaxFunc(tallies, func(a, b Tally) int {
		rank := func(t Tally) int {
			switch {
			case problemOf(t.Rule).root:
				return 2
			case t.Rule == rules.ReplayedReasoning: // it is no fault
				return 0
			}
			return 1
		}
		return cmp.Or(rank(a)-rank(b), a.Count-b.Count)
	}).Rule
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
