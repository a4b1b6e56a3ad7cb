//go:build !linux && !darwin

package write

import (
	"errors"
	"os"
)

// getAttributes returns none, because toolguard reads them only on Linux and macOS.
func getAttributes(*os.File) ([]attribute, error) { return nil, nil }

func setAttribute(*os.File, attribute) error { return errors.ErrUnsupported }
