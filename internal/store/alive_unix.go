//go:build unix

package store

import (
	"errors"
	"syscall"
)

// Alive reports whether there is a process with an id. In doubt there is.
func Alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
