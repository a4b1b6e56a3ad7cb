package engine

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/rules"
)

// prove holds the repaired source against the original.
func prove(f *Fixed, had, has *payloads, named *waiver) error {
	if f.After.Skipped != "" {
		return &ProofError{"the result is no transcript any more: " + f.After.Skipped, nil}
	}
	if n, m := lost(f.Before.File), lost(f.After.File); m > n {
		return &ProofError{fmt.Sprintf("%d records could not be read before, %d after", n, m), nil}
	}
	was, is := counts(f.Before), counts(f.After)
	for _, r := range rules.All() {
		name := family(r.Name)
		if name == order && is[order]-was[order] <= settled(was, is) {
			continue
		}
		if is[name] > was[name] {
			return &ProofError{
				fmt.Sprintf("%s was found %d times before and %d times after", name, was[name], is[name]),
				worse(f, name),
			}
		}
	}
	gone, err := lose(f.Pieces, had, has, named)
	if err != nil || len(gone) == 0 {
		return err
	}
	in := map[int]bool{} // conversations
	first := gone[0].at.Start
	for _, r := range gone {
		in[int(r.conversation)] = true
		first = min(first, r.at.Start)
	}
	return &ProofError{fmt.Sprintf("the result payload at byte %d would be lost", first), in}
}

// worse returns the conversations in which more of a family is found than
// before, nil where that is not to be told.
func worse(f *Fixed, name string) map[int]bool {
	if f.Before.File.Conversations != f.After.File.Conversations {
		return nil
	}
	more := map[int]int{}
	count := func(r *Report, by int) {
		for i := range r.Findings {
			if fd := &r.Findings[i]; fd.Severity >= rules.Warning && family(fd.Rule.Name) == name {
				more[fd.Conversation] += by
			}
		}
	}
	count(f.Before, -1)
	count(f.After, 1)
	out := map[int]bool{}
	for c, n := range more {
		if n > 0 {
			out[c] = true
		}
	}
	return out
}

// lost counts the records that cannot be read.
func lost(f *detect.File) int {
	n := 0
	for _, fault := range f.Faults {
		if fault.Unreadable() {
			n++
		}
	}
	return n
}

// family returns what a rule's findings count as in the proof. A call without a
// result is one problem whichever rule reports it, and so are a result that
// does not stand where it answers and a record that is torn: a repair beside it
// may turn one into the other.
func family(rule string) string {
	switch rule {
	case "pending-tool-call":
		return "missing-tool-result"
	case "orphan-tool-result", "result-before-call", "duplicate-tool-result":
		return "misplaced-tool-result"
	case "truncated-record":
		return "invalid-json"
	case "missing-arguments":
		return "schema-violation"
	case "consecutive-roles", "first-role", "last-role", "user-after-tool", "mixed-tool-result-message", "result-order-mismatch",
		"reasoning-unreplayable":
		return order
	}
	return rule
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

// counts counts errors and warnings by rule.
func counts(r *Report) map[string]int {
	out := map[string]int{}
	for i := range r.Findings {
		if r.Findings[i].Severity >= rules.Warning {
			out[family(r.Findings[i].Rule.Name)]++
		}
	}
	for name, n := range r.ignored {
		out[family(name)] += n
	}
	return out
}
