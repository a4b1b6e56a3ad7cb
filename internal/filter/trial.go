package filter

import (
	"maps"
	"slices"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
)

// lacking returns the rules whose repairs have to be allowed, so that whatever rejects a
// conversation and can be repaired is repaired. It returns nil if that cannot be enough.
func (r *run) lacking(found *engine.Findings) map[string]bool {
	if r.Untold || found == nil || found.Len() == 0 {
		return nil
	}
	safe := &engine.FixOptions{Options: r.Check, SafeOnly: true}
	missing, repairs := map[string]bool{}, false
	for f := range found.All() {
		switch changes := f.Rule.Change() != ""; {
		case f.Unproved():
			return nil
		case f.Severity < r.FailOn:
			continue
		case f.Fix == nil:
			if !changes || r.Check.Strategy[f.Rule.Name] != "" {
				continue // the repair of another finding may do
			}
			missing[f.Rule.Name] = true // some rules have a repair only then
		case safe.Allows(f):
		case !changes: // no strategy allows it
			return nil
		case r.Fix == nil || !r.Fix.Allows(f):
			missing[f.Rule.Name] = true
		}
		repairs = true
	}
	if !repairs || r.Fix != nil && len(missing) == 0 {
		return nil // the allowed repairs were not enough
	}
	return missing
}

// trial returns a run that also allows the repairs of some rules. It writes nothing and counts
// nothing.
func (r *run) trial(missing map[string]bool) *run {
	t := *r
	t.parts, t.result = slices.Clone(r.parts), &Result{Report: r.result.Report}
	t.Check.Strategy = maps.Clone(r.Check.Strategy)
	if t.Check.Strategy == nil {
		t.Check.Strategy = map[string]string{}
	}
	fix := engine.FixOptions{SafeOnly: true, AnyClass: map[string]bool{}}
	if r.Fix != nil {
		fix = *r.Fix
		fix.AnyClass = maps.Clone(r.Fix.AnyClass)
	}
	for name := range missing {
		t.Check.Strategy[name] = rules.ByName(name).Change()
		fix.AnyClass[name] = true
	}
	placeholder := fix.Placeholder
	fix.Options = t.Check
	fix.Placeholder, fix.Edits, fix.Shown = placeholder, false, nil
	t.Fix = &fix
	return &t
}

// mendable counts a rejected conversation that a repair saves.
func (r *run) mendable(missing map[string]bool) {
	r.result.Repairable++
	for name := range missing {
		add(&r.result.Missing, name, 1)
	}
}

// mostTrials is how many rows are tried. A trial takes three times as long as all else, so a dataset in
// which very much is broken is told about from its first rows.
const mostTrials = 1000

// tryRow counts a rejected row that passes with more repairs.
func (w *rows) tryRow(r *run, u *engine.Unit, at source.Span) error {
	if u.Unreadable {
		return nil
	}
	missing := r.lacking(&u.Findings)
	if missing == nil {
		return nil
	}
	if w.tried == mostTrials {
		r.result.Untried++
		return nil
	}
	w.tried++
	return r.try(missing, func(t *run) ([]string, error) {
		_, left, _, err := w.repair(t, u, at)
		return left, err
	})
}

// tryWhole counts a rejected source that passes with more repairs.
func (r *run) tryWhole(found *engine.Findings) error {
	return r.try(r.lacking(found), func(t *run) (left []string, err error) {
		err = contain.Do(func() error {
			f, _, err := t.settle(r.src, *t.Fix)
			if left = t.failing(found); f != nil {
				left = t.failing(&f.After.Findings)
			}
			return err
		})
		return left, err
	})
}

// try counts a rejected conversation that passes with the repairs of missing. repair makes the
// allowed repairs, and returns the rules that reject the conversation all the same. A repair can
// leave something for another rule, whose repair is tried too.
func (r *run) try(missing map[string]bool, repair func(*run) (left []string, err error)) error {
	for missing != nil {
		left, err := repair(r.trial(missing))
		switch {
		case err != nil && contain.From(err) != nil:
			return r.src.Err()
		case err != nil:
			return err
		case len(left) == 0:
			r.mendable(missing)
			return nil
		}
		missing = r.also(missing, left)
	}
	return nil
}

// also adds the rules that reject a conversation after a trial to those whose repairs it allowed.
// It returns nil if the repair of one of them is allowed already, or cannot be allowed.
func (r *run) also(missing map[string]bool, left []string) map[string]bool {
	more := maps.Clone(missing)
	for _, name := range left {
		rule := rules.ByName(name)
		if rule == nil || rule.Change() == "" || missing[name] || r.Fix != nil && r.Fix.AnyClass[name] {
			return nil
		}
		more[name] = true
	}
	return more
}

// tryParts counts the rejected elements of a document that pass with more repairs. A document is
// repaired as a whole, so all of them are tried together, until the rules of those that pass are
// the ones whose repairs were allowed.
func (r *run) tryParts() error {
	lacking := make([]map[string]bool, len(r.parts))
	for i := range r.parts {
		if p := &r.parts[i]; len(p.names) > 0 {
			lacking[i] = r.lacking(p.found)
		}
	}
	for allowed := union(lacking); allowed != nil; {
		t := r.trial(allowed)
		if err := contain.Do(func() error { _, err := t.repairParts(); return err }); err != nil {
			return r.src.Err() // nil if it cannot be repaired as a whole
		}
		if len(t.failing(&t.beside)) > 0 {
			return nil
		}
		for i := range lacking {
			if len(t.parts[i].names) > 0 {
				lacking[i] = nil
			}
		}
		of := union(lacking)
		if maps.Equal(of, allowed) {
			break
		}
		allowed = of
	}
	for _, missing := range lacking {
		if missing != nil {
			r.mendable(missing)
		}
	}
	return nil
}

// union returns the rules of all sets, nil if there is no set.
func union(sets []map[string]bool) map[string]bool {
	var all map[string]bool
	for _, set := range sets {
		if set != nil && all == nil {
			all = map[string]bool{}
		}
		maps.Copy(all, set)
	}
	return all
}
