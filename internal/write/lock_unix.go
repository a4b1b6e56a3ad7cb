//go:build unix && !aix

package write

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile locks a file for this run. The system releases the lock when the process ends.
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

// lockOpen locks an open file. It waits for a moment, because a forked process holds the
// locks of its parent until it starts its program.
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
	// Network file systems without locks return various errors.
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
