//go:build !unix || aix

package write

import (
	"errors"
	"os"
)

// lockFile is not supported on this system. On Windows no other run can remove the temporary
// file of a run, because open files cannot be removed.
func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func lockOpen(*os.File) error { return errors.ErrUnsupported }
