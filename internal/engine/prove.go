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

// proving is the mode of a check for a proof. It runs all rules, because a repair or a cut of what some of
// them find must not make the others find more.
type proving struct {
	checking
	totals *totals
}

// Rules implements mode.
func (proving) Rules() []*rules.Rule { return rules.All() }

// Looks implements mode.
func (proving) Looks() bool { return true }

// Emits implements mode.
func (c proving) Emits(f *rules.Finding) bool {
	c.totals.add(f)
	return slices.Contains(c.opts.Rules, f.Rule)
}

// totals are how much all rules find, whether it is reported or not.
type totals struct {
	counts     map[counted]int
	found      map[ruleIn]int // errors and warnings of the rules
	unanswered int            // calls without a result; those of a dataset are only infos
}

func newTotals() totals { return totals{counts: map[counted]int{}, found: map[ruleIn]int{}} }

// A counted is a family of rules in a conversation, -1 for the file.
type counted struct {
	family       string
	conversation int
	least        rules.Severity // of those that are counted
}

// add adds a finding.
func (t *totals) add(f *rules.Finding) {
	if f.Severity >= rules.Warning {
		for _, least := range counting {
			if f.Severity >= least {
				t.counts[counted{familyOf(f), f.Conversation, least}]++
			}
		}
		t.found[ruleIn{f.Conversation, f.Rule}]++
	}
	if family(f.Rule) == rules.Unanswered {
		t.unanswered++
	}
}

// prove compares the repaired source with the original. Each round has already proved that
// its fixes removed and added exactly what they say.
func prove(f *Fixed, before, after *round) error {
	if f.After.Skipped != "" {
		return &ProofError{Reason: "make the transcript unreadable: " + f.After.Skipped}
	}
	if n, m := lost(f.Before.File), lost(f.After.File); m > n {
		return &ProofError{Reason: fmt.Sprintf("make records unreadable (%d before, %d after)", n, m)}
	}
	for _, least := range counting {
		was, is := before.byFamily(least), after.byFamily(least)
		for _, name := range slices.Sorted(maps.Keys(is)) {
			if name == rules.MessageOrder && (least > rules.Warning || is[rules.MessageOrder]-was[rules.MessageOrder] <= settled(was, is)) {
				continue
			}
			if is[name] > was[name] {
				return &ProofError{
					Reason: fmt.Sprintf("add %s (%d before, %d after)", problems(name, least), was[name], is[name]),
					at:     worse(f, before, after, name, least),
				}
			}
		}
	}
	if at := unchanged(f, before, after); len(at) > 0 {
		return &ProofError{Reason: "not solve the problem", at: at}
	}
	if onlyInserts(f.Repairs) && after.unanswered >= before.unanswered {
		return &ProofError{Reason: "insert results that toolguard does not read as results"}
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
	return &ProofError{Reason: fmt.Sprintf("change which call the result at byte %d answers", first.payload.Start), at: in}
}

// worse returns the conversations in which a family has more findings than before, or nil if
// the conversations cannot be matched.
func worse(f *Fixed, before, after *round, name string, least rules.Severity) map[int]bool {
	if f.Before.File.Conversations != f.After.File.Conversations {
		return nil
	}
	out := map[int]bool{}
	for c, n := range after.counts {
		if c.family == name && c.least == least && n > before.counts[c] {
			out[c.conversation] = true
		}
	}
	return out
}

// unchanged returns the conversations in which a rule's findings were repaired and the rule
// still finds as much as before. It ignores the order of messages: moving one message can put
// another out of order.
func unchanged(f *Fixed, before, after *round) map[int]bool {
	if f.Before.File.Conversations != f.After.File.Conversations {
		return nil
	}
	out := map[int]bool{}
	for d := range before.did {
		if was := before.found[d]; was > 0 && after.found[d] >= was && family(d.rule) != rules.MessageOrder {
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

// counting are the lowest severities of the findings that the proof counts. It counts errors once
// more by themselves, because a repair must not make a warning an error. Of the order of messages it
// counts only both together, because a repair may reveal errors about it.
var counting = []rules.Severity{rules.Warning, rules.Error}

// problems names the findings of a family that have at least a severity.
func problems(family string, least rules.Severity) string {
	if least == rules.Error {
		return family + " errors"
	}
	return family + " problems"
}

// byFamily counts the findings of all rules that have at least a severity, including those that
// are not reported.
func (t *totals) byFamily(least rules.Severity) map[string]int {
	out := map[string]int{}
	for c, n := range t.counts {
		if c.least == least {
			out[c.family] += n
		}
	}
	return out
}

// family returns the family that the proof counts a rule's findings in.
func family(r *rules.Rule) string { return cmp.Or(r.Family, r.Name) }

// familyOf returns the family of a finding. Reasoning whose call was removed forms a family
// of its own: a repair causes it, and does not merely reveal it.
func familyOf(f *rules.Finding) string {
	if f.Rule.Name == "reasoning-unreplayable" && f.Kind == "" {
		return f.Rule.Name
	}
	return family(f.Rule)
}

// onlyInserts reports whether all repairs insert results.
func onlyInserts(repairs []Repair) bool {
	insert := (*operation.InsertResults)(nil).Kind()
	return len(repairs) > 0 && !slices.ContainsFunc(repairs, func(r Repair) bool { return r.Kind != insert })
}

// settled counts the findings of other families that are gone.
func settled(was, is map[string]int) int {
	n := 0
	for name := range was {
		if name != rules.MessageOrder {
			n += was[name] - is[name]
		}
	}
	return n
}
