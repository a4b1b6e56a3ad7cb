// Package contain turns a panic into an error, so that a fault that nobody foresaw ends the work
// on one file and not the program. It does not know what panics.
//
// Whoever catches an Error throws away what the failed work has used: its caches may be half
// written.
package contain

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// An Error is a panic.
type Error struct {
	Panic string // its value
	Stack []byte // of its goroutine
}

// Error implements error. The value of a panic says nothing to users, and may have text of a
// transcript.
func (e *Error) Error() string { return "internal error" }

// Catch turns a panic of the function that defers it into an error.
func Catch(err *error) {
	if value := recover(); value != nil {
		*err = Of(value)
	}
}

// Of returns the error for a value that was just recovered.
func Of(value any) *Error { return &Error{fmt.Sprint(value), debug.Stack()} }

// Do calls f and returns its error, or its panic as one.
func Do(f func() error) (err error) {
	defer Catch(&err)
	return f()
}

// Go calls f on another goroutine. If f panics, Go calls failed there, so that whoever waits for f
// learns of it. Nothing else in this module starts a goroutine, because a panic on it could not
// be caught anywhere else.
func Go(f func(), failed func(*Error)) {
	go func() {
		if caught := From(Do(func() error { f(); return nil })); caught != nil {
			failed(caught)
		}
	}()
}

// From returns the panic that an error is or wraps, and nil for any other error.
func From(err error) *Error {
	var caught *Error
	errors.As(err, &caught)
	return caught
}
