//go:build !linux && !darwin

package write

import (
	"errors"
	"os"
)

// getAttributes finds none: how they are read is known of Linux and macOS alone.
func getAttributes(*os.File) ([]attribute, error) { return nil, nil }

func setAttribute(*os.File, attribute) error { return errors.ErrUnsupported }
