package rules

import "slices"

// Selectable lists the names that Select accepts: those of the categories and of the rules.
func Selectable() []string { return append(Categories(), Names()...) }

// Select returns the selected rules, or all rules if none are selected, except the ignored
// ones. Both lists hold names of rules and of categories. Select also returns the rules that
// are selected by their own names: a user who names a rule wants to see its infos, and to
// have them repaired.
func Select(selected, ignored []string) (run []*Rule, byName map[string]bool) {
	names := func(list []string, r *Rule) bool {
		return slices.Contains(list, r.Name) || slices.Contains(list, r.Category)
	}
	run, byName = []*Rule{}, map[string]bool{}
	for _, r := range All() {
		if len(selected) > 0 && !names(selected, r) || names(ignored, r) {
			continue
		}
		run = append(run, r)
		if slices.Contains(selected, r.Name) {
			byName[r.Name] = true
		}
	}
	return run, byName
}
