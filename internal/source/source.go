package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
)

// chunkSize is how many bytes are read from a source at a time.
const chunkSize = 256 << 10

// spoolSize is how many bytes of a stream are kept in memory before the stream goes to a
// temporary file.
const spoolSize = 8 << 20

// A Source is the bytes of one transcript. It is read in pieces and never held as a
// whole. Its size is fixed when it is opened: bytes that are appended later are ignored,
// and a file that has become shorter causes an error.
type Source struct {
	name  string
	r     io.ReaderAt
	size  int64
	close func() error
	// unchanged returns an error if the file has changed since it was opened. It is nil
	// for sources that are not files.
	unchanged func() error
	// ctx cancels reading; nil means that reading cannot be canceled. It is a field so
	// that every reader of the source sees the cancellation.
	ctx context.Context
	// named is set if the errors of r already begin with the name of the source.
	named bool
	// packed is the name of the compression, "" if the file was not compressed.
	packed string
	lines  lines
	held   int64 // how many bytes of a document may be held; 0 means heldDocument
	failed atomic.Pointer[error]
	// progress counts what is read of a file or a stream.
	progress *progress
	ahead    bool
	array    int64 // the least length of an array that is read ahead
	jobs     int   // how many goroutines may read stretches
	stretch  int64 // how many bytes a stretch has at least, 0 for the default
	asLines  bool  // the framing is known: one record per line
	// text is the whole source if it is in memory, and nil otherwise.
	text []byte
	// near is the record being examined. Spans inside it are served without reading.
	near Value
	// spare is the reader of the last stretch.
	spare *Reader
	// view is the buffer of the last View, and viewAt its offset.
	view   []byte
	viewAt int64
}

// NewSource returns a source that reads size bytes from r.
func NewSource(name string, r io.ReaderAt, size int64) *Source {
	return &Source{name: name, r: r, size: size}
}

// FromBytes returns a source of the bytes b, which must not change while the source is in
// use. The source neither copies nor changes them.
func FromBytes(name string, b []byte) *Source {
	src := NewSource(name, bytes.NewReader(b), int64(len(b)))
	src.text = slices.Clip(b)
	return src
}

// Hold is Spool for bytes that are in memory: nothing goes to a temporary file, and bytes
// that are not compressed are not copied. They must not change while the source is in use.
func Hold(ctx context.Context, name string, b []byte) (*Source, error) {
	src := FromBytes(name, b)
	src.ctx = ctx
	return unpack(src, 0, hold)
}

// hold reads r to its end into memory.
func hold(ctx context.Context, name string, r io.Reader) (*Source, error) {
	text, err := io.ReadAll(contextReader{ctx, r})
	if err != nil {
		return nil, pathError(name, err)
	}
	src := FromBytes(name, text)
	src.ctx = ctx
	return src, nil
}

// AsLines says that the source has one record per line, so that nobody decides it from the
// bytes. A single row of a dataset would be taken for a document.
func (s *Source) AsLines() { s.asLines = true }

// Text returns the whole source if it is in memory, and nil otherwise. The caller must not
// change it.
func (s *Source) Text() []byte { return s.text }

// Open opens the regular file at path as a source. A compressed file is unpacked to at
// most most bytes, or to the default limits if most is 0. Once ctx is done, reading the
// source returns the error of ctx. The caller closes the source.
func Open(ctx context.Context, path string, most int64) (*Source, error) {
	// Check before opening, because opening a named pipe blocks until it has a writer.
	// Check again afterwards, because the path may name another file by then.
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
	if info.Size() == 0 {
		// The file may be empty, or it may be generated on reading and report no size.
		defer f.Close()
		return Spool(ctx, path, f, most)
	}
	src := NewSource(path, f, info.Size())
	src.close, src.ctx = f.Close, ctx
	src.progress = newProgress(ctx, src.size, 0)
	src.unchanged = func() error {
		now, err := f.Stat()
		if err != nil {
			return pathError(path, err)
		}
		// Appended bytes are ignored, but a file of the same size may have been
		// overwritten.
		if now.Size() == info.Size() && !now.ModTime().Equal(info.ModTime()) {
			return fmt.Errorf("%s: changed while it was read", path)
		}
		return nil
	}
	if err := src.holdSmall(); err != nil {
		f.Close()
		return nil, err
	}
	return unpack(src, most, spool)
}

// holdSmall reads the whole source into memory if it is no larger than chunkSize.
func (s *Source) holdSmall() error {
	if s.size > chunkSize {
		return nil
	}
	text := make([]byte, s.size)
	if err := s.readFull(text, 0); err != nil {
		return err
	}
	s.text, s.r = text, bytes.NewReader(text)
	return nil
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

// Spool reads r to its end and returns its bytes as a source. A small stream stays in
// memory. A larger one goes to a temporary file, which is deleted when the source is
// closed or the process ends. Compressed data is unpacked as in Open. Once ctx is done,
// reading r or the source returns the error of ctx, but a Read of r in progress is not
// interrupted.
func Spool(ctx context.Context, name string, r io.Reader, most int64) (*Source, error) {
	src, err := spool(ctx, name, r)
	if err != nil {
		return nil, err
	}
	return unpack(src, most, spool)
}

func spool(ctx context.Context, name string, r io.Reader) (*Source, error) {
	r = contextReader{ctx, r}
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(r, spoolSize+1))
	if err != nil {
		return nil, pathError(name, err)
	}
	if n <= spoolSize {
		src := FromBytes(name, head.Bytes())
		src.ctx = ctx
		return src, nil
	}
	f, err := os.CreateTemp("", "toolguard-*")
	if err != nil {
		return nil, pathError(name, err)
	}
	remove := func() error { return os.Remove(f.Name()) }
	if runtime.GOOS != "windows" {
		// An unlinked file exists until it is closed, so it disappears even if the
		// process is killed. Windows cannot unlink an open file.
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
	src.ctx = ctx
	src.progress = newProgress(ctx, src.size, 0)
	return src, nil
}

// A contextReader reads until its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Derived returns a source of size bytes that r computes from this source. It has the
// same name and can be read for as long as this source.
func (s *Source) Derived(r io.ReaderAt, size int64) *Source {
	return &Source{name: s.name, r: r, size: size, ctx: s.ctx, named: true, held: s.held, ahead: s.ahead, array: s.array, asLines: s.asLines}
}

// Edited returns a source of the bytes b, which are the bytes of this source after edits.
func (s *Source) Edited(b []byte) *Source {
	out := FromBytes(s.name, b)
	out.ctx, out.ahead, out.array, out.asLines = s.ctx, s.ahead, s.array, s.asLines
	return out
}

// Name returns the name the source was opened with.
func (s *Source) Name() string { return s.name }

// Size returns the number of bytes in the source.
func (s *Source) Size() int64 { return s.size }

// InFile returns the file that has the bytes at an offset, where they are in it, and how many follow. The file
// is nil if the source is in memory or computed. What is read from the file is not checked.
func (s *Source) InFile(off int64) (f *os.File, at, n int64) {
	f, _ = s.r.(*os.File)
	return f, off, max(s.size-off, 0)
}

// Stream returns a reader of the whole source.
func (s *Source) Stream() *io.SectionReader { return io.NewSectionReader(s, 0, s.size) }

// fail records an error that no caller can receive. All later reads return it.
func (s *Source) fail(err error) { s.failed.CompareAndSwap(nil, &err) }

// failure returns the error that fail recorded, if any.
func (s *Source) failure() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Err returns the error that ended reading the source, or the error of its context. It
// returns nil while the source can be read. Long computations on data that was read
// earlier call it to notice cancellation.
func (s *Source) Err() error {
	if err := s.failure(); err != nil {
		return err
	}
	if s.ctx == nil || s.ctx.Err() == nil {
		return nil
	}
	return pathError(s.name, s.ctx.Err())
}

// Unchanged returns an error if the source is a file that was overwritten since it was
// opened. The bytes read so far may then come from different versions.
func (s *Source) Unchanged() error {
	if s.unchanged == nil {
		return nil
	}
	return s.unchanged()
}

// Close closes the file or other resources of the source.
func (s *Source) Close() error {
	if s.close == nil {
		return nil
	}
	if err := s.close(); err != nil {
		return pathError(s.name, err)
	}
	return nil
}

// ReadAt implements io.ReaderAt. It returns io.EOF only at the size that the source had
// when it was opened. If the file ends earlier, the error names the file.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	if err := s.Err(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fmt.Errorf("%s: negative offset %d", s.name, off)
	}
	if off >= s.size {
		return 0, io.EOF
	}
	clipped := p[:min(int64(len(p)), s.size-off)]
	n, err := s.r.ReadAt(clipped, off)
	s.progress.add(n)
	switch {
	case n == len(clipped):
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		return n, fmt.Errorf("%s: became shorter while it was read", s.name)
	case s.named:
		return n, err
	}
	return n, pathError(s.name, err)
}

// readFull fills p from offset off. All bytes must be inside the source.
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

// Into reads the bytes of a span into buf and returns it. It allocates a larger buffer if
// buf is too small.
func (s *Source) Into(buf []byte, span Span) ([]byte, error) {
	if span.Start < 0 || span.End < span.Start || span.End > s.size {
		return nil, fmt.Errorf("%s: bytes %d to %d are outside the source", s.name, span.Start, span.End)
	}
	if int64(cap(buf)) < span.Len() {
		buf = make([]byte, span.Len())
	}
	buf = buf[:span.Len()]
	if at := int(span.Start - s.near.base); span.Start >= s.near.base && at+len(buf) <= len(s.near.text) {
		return buf[:copy(buf, s.near.text[at:])], nil
	}
	if err := s.readFull(buf, span.Start); err != nil {
		return nil, err
	}
	return buf, nil
}

// viewSize is the least number of bytes that View reads. Callers that ask for one value usually ask for a later
// one next. Of a place far behind the last one it reads farView bytes.
const (
	viewSize = 16 << 10
	farView  = 4 << 10
)

// View returns the bytes of a span. They are valid until the next call of View or Value
// and must not be changed.
func (s *Source) View(span Span) ([]byte, error) {
	if s.text != nil && span.Start >= 0 && span.Start <= span.End && span.End <= s.size {
		return s.text[span.Start:span.End:span.End], nil
	}
	if at := span.Start - s.near.base; at >= 0 && span.Len() >= 0 && span.End <= s.near.base+int64(len(s.near.text)) {
		return s.near.text[at : at+span.Len()], nil
	}
	if span.Start < s.viewAt || span.End > s.viewAt+int64(len(s.view)) {
		buf, most := s.view, int64(viewSize)
		if behind := span.Start - s.viewAt - int64(len(buf)); behind > viewSize {
			most = farView
		}
		end := max(span.End, min(span.Start+most, s.size))
		if end-span.Start > viewSize || cap(buf) > viewSize {
			buf = nil // a long text has its own memory
		}
		var err error
		if s.view, err = s.Into(buf, Span{span.Start, end}); err != nil {
			return nil, err
		}
		s.viewAt = span.Start
	}
	return s.view[span.Start-s.viewAt : span.End-s.viewAt], nil
}

// Value returns the value at a span. Like the bytes of View, it is valid until the next
// call. A large value of a document that is not held in memory is not read.
func (s *Source) Value(span Span) (Value, error) {
	switch {
	case s.near.Outside():
		if p := s.near.ends.pages; p.isLarge(span) {
			first, err := s.View(Span{span.Start, span.Start + 1})
			if err != nil {
				return Value{}, err
			}
			return p.value(first[0], span), nil
		}
	case span.Start >= s.near.base && span.End <= s.near.base+int64(len(s.near.text)):
		return s.near.Part(span), nil
	}
	text, err := s.View(span)
	return Value{text: text, base: span.Start, to: len(text)}, err
}

// pathError puts the path first and omits the operation, as compilers and linters do.
func pathError(path string, err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return &sourceError{path: path, err: pe.Err}
}

// A sourceError keeps the cause for errors.Is and prints common errors with the same text
// on all systems.
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
