// Package names looks up what users name: rules and categories, severities, strategies, providers and
// formats. Its errors do not say which flag, key or field had the name.
package names

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/suggest"
)

// An Asker is who gives the names. Errors say where it finds those that there are.
type Asker uint8

// The askers.
const (
	User    Asker = iota // can run a command that lists the names
	Program              // cannot, and is told the names
)

// unknown returns the error for an unknown name. command is the one that lists the names.
func (a Asker) unknown(what, name string, known []string, command string) error {
	list := "toolguard " + command + " lists them"
	if a == Program {
		list = "expected one of " + strings.Join(known, ", ")
	}
	return suggest.Unknown(what, name, known, list)
}

// Rule returns the rule with a name.
func (a Asker) Rule(name string) (*rules.Rule, error) {
	if r := rules.ByName(name); r != nil {
		return r, nil
	}
	return nil, a.unknown("rule", name, rules.Names(), "rules")
}

// Rules returns an error for the first name that is neither a rule nor a category.
func (a Asker) Rules(names []string) error {
	known := rules.Selectable()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return a.unknown("rule or category", name, known, "rules")
		}
	}
	return nil
}

// Severity returns the severity that is set for a rule.
func (a Asker) Severity(rule, level string) (rules.Severity, error) {
	if _, err := a.Rule(rule); err != nil {
		return 0, err
	}
	s, ok := rules.ParseSeverity(level)
	if !ok {
		return 0, fmt.Errorf("expected off, info, warning or error for %s, got %q%s", rule, level, meant(level, "off", "info", "warning", "error"))
	}
	return s, nil
}

// FailOn returns the least severity of what counts as a problem.
func FailOn(level string) (rules.Severity, error) {
	s, ok := rules.ParseSeverity(level)
	if !ok || s == rules.Off {
		return 0, fmt.Errorf("expected error, warning or info, got %q%s", level, meant(level, "error", "warning", "info"))
	}
	return s, nil
}

// Strategy returns an error if a rule does not exist or has no such strategy.
func (a Asker) Strategy(rule, name string) error {
	r, err := a.Rule(rule)
	switch {
	case err != nil:
		return err
	case len(r.Strategies) == 0:
		return fmt.Errorf("%s has no strategies", rule)
	case !slices.Contains(r.Strategies, name):
		return fmt.Errorf("unknown strategy %q%s (known for %s: %s)", name, meant(name, r.Strategies...), rule, strings.Join(r.Strategies, ", "))
	}
	return nil
}

// Strategies returns the strategy of each rule that values name: rule=name.
func (a Asker) Strategies(values []string) (map[string]string, error) {
	set := map[string]string{}
	for _, value := range values {
		name, strategy, ok := strings.Cut(value, "=")
		if !ok {
			return nil, fmt.Errorf("expected rule=name, got %q", value)
		}
		if err := a.Strategy(name, strategy); err != nil {
			return nil, err
		}
		if before, set := set[name]; set && before != strategy {
			return nil, fmt.Errorf("%s cannot be both %s and %s", name, before, strategy)
		}
		set[name] = strategy
	}
	return set, nil
}

// Provider returns the profile with a name.
func (a Asker) Provider(name string) (*profile.Profile, error) {
	if p := profile.ByName(name); p != nil {
		return p, nil
	}
	if p := profile.Like(name); p != nil {
		return nil, fmt.Errorf("unknown provider %q; did you mean %q?", name, p.Name)
	}
	return nil, a.unknown("provider", name, profile.Names(), "profiles")
}

// Format returns the format of a set with a name.
func (a Asker) Format(set *dialect.Set, name string) (*dialect.Dialect, error) {
	if d := set.ByName(name); d != nil {
		return d, nil
	}
	return nil, a.unknown("format", name, set.Names(), "formats")
}

// meant returns which word of a list an unknown word may stand for, as the end of an error.
func meant(word string, known ...string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
