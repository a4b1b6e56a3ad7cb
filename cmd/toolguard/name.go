package main

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/suggest"
)

// findRule returns the rule with a name.
func findRule(name string) (*rules.Rule, error) {
	if r := rules.ByName(name); r != nil {
		return r, nil
	}
	return nil, suggest.Unknown("rule", name, rules.Names(), "toolguard rules lists them")
}

// knowsDialect returns an error if no dialect of a set has the name. An empty name
// is allowed.
func knowsDialect(set *dialect.Set, name string) error {
	if name == "" || set.ByName(name) != nil {
		return nil
	}
	return fmt.Errorf("--from: %w", suggest.Unknown("format", name, set.Names(), "toolguard formats lists them"))
}

// findTarget returns the profile with a name, nil for an empty name.
func findTarget(name string) (*profile.Profile, error) {
	if name == "" {
		return nil, nil
	}
	if p := profile.ByName(name); p != nil {
		return p, nil
	}
	if p := profile.Like(name); p != nil {
		return nil, fmt.Errorf("--provider: unknown provider %q; did you mean %q?", name, p.Name)
	}
	return nil, fmt.Errorf("--provider: %w", suggest.Unknown("provider", name, profile.Names(), "toolguard profiles lists them"))
}
