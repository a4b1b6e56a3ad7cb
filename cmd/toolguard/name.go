package main

import (
	"fmt"
	"strings"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/profile"
	"github.com/toolguard/toolguard/internal/rules"
)

// unknown returns the error for a name that is none of those known, with the
// one that was probably meant.
func unknown(what, name string, known []string, list string) error {
	msg := fmt.Sprintf("unknown %s %q", what, name)
	if near := nearest(name, known); near != "" {
		return fmt.Errorf("%s; did you mean %q?", msg, near)
	}
	return fmt.Errorf("%s; %s", msg, list)
}

// nearest returns the name that takes the fewest edits to reach, or "" when
// that would be another name altogether.
func nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, least := "", len(name)/2+1
	for _, k := range known {
		d := distance(name, k)
		// A part of a name is meant more often than another short one.
		switch {
		case len(name) < 4:
		case strings.HasPrefix(k, name):
			d = 0
		case strings.Contains(k, name):
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func ruleNames() []string {
	var names []string
	for _, r := range rules.All() {
		names = append(names, r.Name)
	}
	return names
}

func dialectNames() []string {
	var names []string
	for _, d := range dialect.All() {
		names = append(names, d.Name)
	}
	return names
}

func profileNames() []string {
	var names []string
	for _, p := range profile.All() {
		names = append(names, p.Name)
	}
	return names
}

// findRule returns the rule of a name.
func findRule(name string) (*rules.Rule, error) {
	if r := rules.ByName(name); r != nil {
		return r, nil
	}
	return nil, unknown("rule", name, ruleNames(), "toolguard rules lists them")
}

// findDialect returns the dialect of a name, nil for no name.
func findDialect(name string) (*dialect.Dialect, error) {
	if name == "" {
		return nil, nil
	}
	if d := dialect.ByName(name); d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("--dialect: %w", unknown("dialect", name, dialectNames(), "toolguard formats lists them"))
}

// findTarget returns the profile of a name, nil for no name.
func findTarget(name string) (*profile.Profile, error) {
	if name == "" {
		return nil, nil
	}
	if p := profile.ByName(name); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("--target: %w", unknown("profile", name, profileNames(), "known are "+strings.Join(profileNames(), ", ")))
}
