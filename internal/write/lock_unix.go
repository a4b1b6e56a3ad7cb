//go:build unix && !aix

package write

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile locks a file for this run. The system gives the lock back when the
// process ends, however it ends.
func lockFile(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := lockOpen(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lockOpen locks a file that is open. It waits for a moment: a process that was
// forked holds the locks of its parent until it starts its program.
func lockOpen(f *os.File) error {
	lock := func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	err := again(lock)
	for wait := time.Millisecond; errors.Is(err, unix.EWOULDBLOCK) && wait < patience; wait *= 2 {
		time.Sleep(wait)
		err = again(lock)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return errLocked
	}
	// Network file systems answer in many ways that they have no such locks.
	return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
}

// again repeats a system call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
