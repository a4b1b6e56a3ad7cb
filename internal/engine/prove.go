package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/rules"
)

// prove holds the repaired source against the original. That each round took out and
// put in what its fixes say was proved when it was made.
func prove(f *Fixed, before, after *round) error {
	if f.After.Skipped != "" {
		return &ProofError{"leave no transcript: " + f.After.Skipped, nil}
	}
	if n, m := lost(f.Before.File), lost(f.After.File); m > n {
		return &ProofError{fmt.Sprintf("leave %d records that cannot be read, %d more than before", m, m-n), nil}
	}
	was, is := before.byFamily(), after.byFamily()
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if name == order && is[order]-was[order] <= settled(was, is) {
			continue
		}
		if is[name] > was[name] {
			return &ProofError{
				fmt.Sprintf("cause %s (%d before, %d after)", name, was[name], is[name]),
				worse(f, before, after, name),
			}
		}
	}
	if at := unchanged(f, before, after); len(at) > 0 {
		return &ProofError{"change nothing about what it is for", at}
	}
	if onlyInserts(f.Repairs) && is[unanswered] >= was[unanswered] {
		return &ProofError{"put in results that are not read as such", nil}
	}
	gone, err := before.facts.lost(f.Pieces, &after.facts, after.waived)
	if err != nil || len(gone) == 0 {
		return err
	}
	in := map[int]bool{} // conversations
	for _, r := range gone {
		in[int(r.conversation)] = true
	}
	first := slices.MinFunc(gone, func(a, b fact) int { return cmp.Compare(a.payload.Start, b.payload.Start) })
	return &ProofError{fmt.Sprintf("change which call the result at byte %d answers", first.payload.Start), in}
}

// worse returns the conversations in which more of a family is found than
// before, nil where that is not to be told.
func worse(f *Fixed, before, after *round, name string) map[int]bool {
	if f.Before.File.Conversations != f.After.File.Conversations {
		return nil
	}
	out := map[int]bool{}
	for c, n := range after.counts {
		if c.family == name && n > before.counts[c] {
			out[c.conversation] = true
		}
	}
	return out
}

// unchanged returns the conversations in which something was repaired and a rule finds
// as much as before of what it was repaired for. Where messages are put in order, what
// is out of order can be another one then.
func unchanged(f *Fixed, before, after *round) map[int]bool {
	if f.Before.File.Conversations != f.After.File.Conversations {
		return nil
	}
	out := map[int]bool{}
	for d := range before.did {
		if was := before.found[d]; was > 0 && after.found[d] >= was && family(d.rule) != order {
			out[d.conversation] = true
		}
	}
	return out
}

// lost counts the records that cannot be read.
func lost(f *container.File) int {
	n := 0
	for _, fault := range f.Faults {
		if fault.Unreadable() {
			n++
		}
	}
	return n
}

// byFamily counts errors and warnings of all rules, whatever is reported of them.
func (r *round) byFamily() map[string]int {
	out := map[string]int{}
	for c, n := range r.counts {
		out[c.family] += n
	}
	return out
}

// family returns what a rule's findings count as in the proof. A call without a
// result is one problem whichever rule reports it, and so are a result that
// does not stand where it answers and a record that is torn: a repair beside it
// may turn one into the other.
func family(rule string) string {
	switch rule {
	case "missing-tool-result", "pending-tool-call":
		return unanswered
	case "orphan-tool-result", "result-before-call", "duplicate-tool-result":
		return "misplaced-tool-result"
	case "truncated-record":
		return "invalid-json"
	case "unknown-tool": // what an unfit name is replaced by is no tool either
		return "invalid-tool-name"
	case "missing-arguments":
		return "schema-violation"
	case "consecutive-roles", "first-role", "last-role", "user-after-tool", "mixed-tool-result-message", "result-order-mismatch",
		"reasoning-unreplayable":
		return order
	}
	return rule
}

// familyOf returns the family of a finding. Reasoning that is left without what it led
// to is none that comes to light: something was taken from it.
func familyOf(f *rules.Finding) string {
	if f.Rule.Name == "reasoning-unreplayable" && f.Kind == "" {
		return f.Rule.Name
	}
	return family(f.Rule.Name)
}

// unanswered is the family of calls without a result.
const unanswered = "missing-tool-result"

// onlyInserts reports whether nothing was done but to put in results.
func onlyInserts(repairs []Repair) bool {
	insert := (*operation.InsertResults)(nil).Kind()
	return len(repairs) > 0 && !slices.ContainsFunc(repairs, func(r Repair) bool { return r.Kind != insert })
}

// order is the family of what providers want of the order of messages, and of the
// reasoning in the last turns. It can come to light where a result is put in its
// place.
const order = "the order of messages"

// settled counts the faults of other kinds that are there no more.
func settled(was, is map[string]int) int {
	n := 0
	for name := range was {
		if name != order {
			n += was[name] - is[name]
		}
	}
	return n
}
