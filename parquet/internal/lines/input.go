package lines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/toolguard/toolguard/internal/contain"
)

// DefaultMemory is how much memory a run may take, in bytes.
const DefaultMemory = 200 << 20

// An Input is a file that is read.
type Input struct {
	path string
	*os.File
	info fs.FileInfo
}

// OpenInput opens a regular file. Its errors have no path.
func OpenInput(path string) (*Input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	in := &Input{path: path}
	if in.File, err = os.Open(path); err != nil {
		return nil, err
	}
	if in.info, err = in.Stat(); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// Path returns the path of the file.
func (in *Input) Path() string { return in.path }

// Size returns its size.
func (in *Input) Size() int64 { return in.info.Size() }

// Unchanged returns an error if the file has changed since it was opened.
func (in *Input) Unchanged() error {
	now, err := in.Stat()
	if err != nil {
		return About(in.path, err)
	}
	if now.Size() != in.info.Size() || !now.ModTime().Equal(in.info.ModTime()) {
		return fmt.Errorf("%s: changed while it was read", in.path)
	}
	return nil
}

// About puts the path first in an error about a file.
func About(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case contain.From(err) != nil:
		err = errors.New("not readable: its parts contradict each other")
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("no such file or directory")
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Mega returns a size for people.
func Mega(n int64) string { return fmt.Sprintf("%d MB", (n+1<<20-1)>>20) }
