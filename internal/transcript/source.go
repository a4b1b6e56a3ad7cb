package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// chunkSize is how much is read from a source at a time.
const chunkSize = 256 << 10

// spoolSize is how much of a stream is kept in memory before it goes to a
// temporary file.
const spoolSize = 8 << 20

// A Source is the bytes of one transcript, read piece by piece and never held
// as a whole. Its size is what it was when it was opened: what is appended
// later is not seen, and a file that has become shorter is an error.
type Source struct {
	name  string
	r     io.ReaderAt
	size  int64
	close func() error
	// packed is how it was compressed.
	packed string
}

// NewSource returns a source of size bytes that are read from r.
func NewSource(name string, r io.ReaderAt, size int64) *Source {
	return &Source{name: name, r: r, size: size}
}

// FromBytes returns a source of the bytes b, which must not change while it is
// in use.
func FromBytes(name string, b []byte) *Source {
	return NewSource(name, bytes.NewReader(b), int64(len(b)))
}

// Open opens the regular file path as a source, unpacked if it is compressed.
// The caller closes it.
func Open(path string) (*Source, error) {
	// Asked before it is opened, because opening a named pipe waits for its
	// writer; and after, because the name may stand for another file by then.
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, pathError(path, err)
	}
	src := NewSource(path, f, info.Size())
	src.close = f.Close
	return unpack(src)
}

func regular(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s: is a directory", path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: is not a regular file", path)
	}
	return nil
}

// Spool reads r to its end and returns what it held as a source: in memory if
// it is small, else in a temporary file that is gone when the source is closed
// or the process ends. What is compressed is unpacked.
func Spool(name string, r io.Reader) (*Source, error) {
	src, err := spool(name, r)
	if err != nil {
		return nil, err
	}
	return unpack(src)
}

func spool(name string, r io.Reader) (*Source, error) {
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(r, spoolSize+1))
	if err != nil {
		return nil, pathError(name, err)
	}
	if n <= spoolSize {
		return FromBytes(name, head.Bytes()), nil
	}
	f, err := os.CreateTemp("", "toolguard-*")
	if err != nil {
		return nil, pathError(name, err)
	}
	remove := func() error { return os.Remove(f.Name()) }
	if runtime.GOOS != "windows" {
		// The file lives on without its name until it is closed, so not even a
		// killed process leaves it behind. Windows cannot do that.
		if err := remove(); err != nil {
			f.Close()
			return nil, pathError(name, err)
		}
		remove = func() error { return nil }
	}
	src := NewSource(name, f, 0)
	src.close = func() error { return errors.Join(f.Close(), remove()) }
	src.size, err = io.Copy(f, io.MultiReader(&head, r))
	if err != nil {
		src.Close()
		return nil, pathError(name, err)
	}
	return src, nil
}

// Name returns the name the source was opened with.
func (s *Source) Name() string { return s.name }

// Size returns the number of bytes in the source.
func (s *Source) Size() int64 { return s.size }

// A Stream reads a source from its start to its end.
type Stream struct {
	*io.SectionReader
	src *Source
}

// Stream returns a reader of the whole source.
func (s *Source) Stream() *Stream { return &Stream{io.NewSectionReader(s, 0, s.size), s} }

// Source returns the source that is read.
func (r *Stream) Source() *Source { return r.src }

// Close releases what the source holds open.
func (s *Source) Close() error {
	if s.close == nil {
		return nil
	}
	if err := s.close(); err != nil {
		return pathError(s.name, err)
	}
	return nil
}

// ReadAt implements io.ReaderAt. Only the end of the source as it was opened
// is io.EOF: a file that ends before it is an error that names the file.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: negative offset %d", s.name, off)
	}
	if off >= s.size {
		return 0, io.EOF
	}
	clipped := p[:min(int64(len(p)), s.size-off)]
	n, err := s.r.ReadAt(clipped, off)
	switch {
	case n == len(clipped):
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		return n, fmt.Errorf("%s: became shorter while it was read", s.name)
	}
	return n, pathError(s.name, err)
}

// readFull fills p from off on; the bytes must all be inside the source.
func (s *Source) readFull(p []byte, off int64) error {
	n, err := s.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: bytes %d to %d are outside the source", s.name, off, off+int64(len(p)))
	}
	return err
}

// Bytes returns a copy of the bytes of a span.
func (s *Source) Bytes(span Span) ([]byte, error) {
	return s.Into([]byte{}, span)
}

// Into reads the bytes of a span into a buffer, which grows where it has to, and
// returns it.
func (s *Source) Into(buf []byte, span Span) ([]byte, error) {
	if span.Start < 0 || span.End < span.Start || span.End > s.size {
		return nil, fmt.Errorf("%s: bytes %d to %d are outside the source", s.name, span.Start, span.End)
	}
	if int64(cap(buf)) < span.Len() {
		buf = make([]byte, span.Len())
	}
	buf = buf[:span.Len()]
	if err := s.readFull(buf, span.Start); err != nil {
		return nil, err
	}
	return buf, nil
}

// pathError puts the path first and leaves out what was being done to it, the
// way compilers and linters report files.
func pathError(path string, err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return &sourceError{path: path, err: pe.Err}
}

// A sourceError keeps the cause for errors.Is, and its text the same on all
// systems where there is a common one.
type sourceError struct {
	path string
	err  error
}

func (e *sourceError) Unwrap() error { return e.err }

func (e *sourceError) Error() string {
	switch {
	case errors.Is(e.err, fs.ErrNotExist):
		return e.path + ": no such file or directory"
	case errors.Is(e.err, fs.ErrPermission):
		return e.path + ": permission denied"
	}
	return e.path + ": " + e.err.Error()
}
