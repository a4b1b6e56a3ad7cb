package write

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps the names of two files atomically.
func exchange(a, b string) error {
	err := again(func() error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP):
		return errors.ErrUnsupported
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
