// Package small reads small files that another user may have created. It reads only
// regular files, and never more than a limit. It does not interpret their contents.
package small

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// The size limits by kind of file.
const (
	Config    = 1 << 20
	Lock      = 1 << 20
	Gitignore = 1 << 20
	Sidecar   = 1 << 20
	Tools     = 16 << 20
	Manifest  = 64 << 20
	Baseline  = 64 << 20
)

// File returns the contents of a regular file of at most most bytes. It returns an error
// for any other file without reading it, because reading a pipe may block and reading a
// device may never end. Errors are of type *fs.PathError.
func File(name string, most int64) ([]byte, error) {
	// Check before opening, because opening a named pipe blocks until it has a writer.
	// Check again afterwards, because the name may refer to another file by then.
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
	// The reported size may be wrong.
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("is larger than %d MiB", most>>20)}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Absent reports whether an error says that no file has a name. No file has a name that is
// too long for its file system.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG)
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
