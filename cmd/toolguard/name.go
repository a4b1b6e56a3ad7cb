package main

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/profile"
)

// knowsDialect returns an error if no dialect of a set has the name. An empty name
// is allowed.
func knowsDialect(set *dialect.Set, name string) error {
	if name == "" {
		return nil
	}
	_, err := names.User.Format(set, name)
	return of("--from", err)
}

// findTarget returns the profile with a name, nil for an empty name.
func findTarget(name string) (*profile.Profile, error) {
	if name == "" {
		return nil, nil
	}
	p, err := names.User.Provider(name)
	return p, of("--provider", err)
}

// of names the flag that an error is about, if there is one.
func of(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
