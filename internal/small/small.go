// Package small knows how small files are read whole that somebody else may have
// put there: regular files only, and never more than they may hold. It does not
// know what is in them.
package small

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The most that files of a kind may hold.
const (
	Config   = 1 << 20
	Sidecar  = 1 << 20
	Tools    = 16 << 20
	Baseline = 64 << 20
)

// File returns what is in a regular file of at most most bytes. Any other file
// is an error and not read: a pipe would never answer, and a device never end.
// Errors are of type *fs.PathError.
func File(name string, most int64) ([]byte, error) {
	// Asked before it is opened, because opening a named pipe waits for its
	// writer; and after, because the name may stand for another file by then.
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	// What its size is said to be need not be true.
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("has more than %d MiB", most>>20)}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

func regular(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: name, Err: errors.New("is not a regular file")}
	}
	return nil
}
