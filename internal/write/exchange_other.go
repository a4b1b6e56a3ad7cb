//go:build !linux && !darwin

package write

import "errors"

// exchange cannot exchange the names of two files.
func exchange(string, string) error { return errors.ErrUnsupported }
