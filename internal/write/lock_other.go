//go:build !unix || aix

package write

import (
	"errors"
	"os"
)

// lockFile locks nothing. Windows lets nobody remove a file that is open, which
// keeps the temporary file of a run from being taken for abandoned.
func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func lockOpen(*os.File) error { return errors.ErrUnsupported }
