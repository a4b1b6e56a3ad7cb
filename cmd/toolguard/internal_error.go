package main

import (
	"fmt"

	"github.com/toolguard/toolguard/internal/contain"
)

// issues is where users report faults of toolguard.
const issues = "https://github.com/toolguard/toolguard/issues"

// described returns an error about a file as users see it: a panic as an internal error.
func (a *app) described(path string, err error) error {
	if caught := contain.From(err); caught != nil {
		return a.internal(path, caught)
	}
	return err
}

// internal returns the error for a panic, and prints its stack if --debug is set. about says
// what it prevented, and begins with a path.
func (a *app) internal(about string, caught *contain.Error) error {
	with := ", with what --debug prints"
	if a.debug {
		fmt.Fprintf(a.stderr, "panic: %s\n%s", caught.Panic, caught.Stack)
		with = ", with the lines above"
	}
	if about != "" {
		about += ": "
	}
	return fmt.Errorf("%sinternal error in toolguard %s; please report it at %s%s", about, programVersion(), issues, with)
}
