package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A choice is the value of --fix: whether to repair sessions, and which. It implements pflag.Value
// and is shown like a bool, because the numbers usually follow as arguments: --fix 1,3.
type choice struct {
	made    bool
	numbers []int // in the list, from 1; empty for all sessions
}

// Type implements pflag.Value.
func (c *choice) Type() string { return "bool" }

// String implements pflag.Value.
func (c *choice) String() string { return strconv.FormatBool(c.made) }

// Set implements pflag.Value.
func (c *choice) Set(value string) error {
	if all, err := strconv.ParseBool(value); err == nil && value != "0" && value != "1" {
		*c = choice{made: all}
		return nil
	}
	c.made = true
	return c.add(value)
}

// add adds the numbers of sessions, separated by commas.
func (c *choice) add(list string) error {
	for text := range strings.SplitSeq(strings.TrimSuffix(list, ","), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("expected the numbers of sessions in the list, such as 2 or 1,3, got %q", list)
		}
		c.numbers = append(c.numbers, n)
	}
	return nil
}

// of returns the chosen sessions.
func (c *choice) of(sessions []*stored) ([]*stored, error) {
	if len(c.numbers) == 0 {
		return sessions, nil
	}
	for _, n := range c.numbers {
		switch {
		case len(sessions) == 0:
			return nil, fmt.Errorf("--fix: there is no session %d: the list is empty", n)
		case n > len(sessions):
			return nil, fmt.Errorf("--fix: there is no session %d: the list ends with %d", n, len(sessions))
		}
	}
	return slices.DeleteFunc(slices.Clone(sessions), func(s *stored) bool { return !slices.Contains(c.numbers, s.number) }), nil
}
