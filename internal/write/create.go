package write

import (
	"bufio"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
)

// tries is how often a run tries to create a temporary file that other runs remove and create
// again.
const tries = 10

// An Output is a file that is being written. It gets its name when it is complete. A stream
// such as standard output is written at once.
type Output struct {
	*bufio.Writer

	f    *os.File
	name string // for errors
	path string // the file after resolving links
	temp string // "" for a stream, and after the file is complete

	was   fs.FileInfo // the replaced file, nil if there is none
	there fs.FileInfo // the file at that name at the beginning, nil if there is none
	acl   []byte
}

// Create begins a file at name. An existing file stays until Commit. Errors begin with the
// name.
func Create(name string) (*Output, error) {
	o := &Output{name: name, path: name}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		o.path = target
	}
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return nil, outputError(name, errors.New("is a directory"))
	case err == nil && (!info.Mode().IsRegular() || isOwnStream(name)):
		o.f, err = openStream(name, o.path, info)
	case err == nil:
		o.was = info
		err = o.begin(0o600)
	case errors.Is(err, fs.ErrNotExist):
		switch entry, there := os.Lstat(o.path); {
		case there == nil && entry.Mode().Type() != fs.ModeSymlink:
			return Create(name) // another run has just completed it
		case there == nil:
			return nil, outputError(name, errors.New("links to a file that does not exist"))
		}
		err = o.begin(0o666)
	}
	if err != nil {
		return nil, outputError(name, err)
	}
	o.there, _ = os.Lstat(o.path)
	o.Writer = bufio.NewWriter(direct{o})
	return o, nil
}

// openStream opens a file that is meant to be written to as it is: a stream that the process
// was given, the null device, or a terminal. Any other pipe could block forever without a
// reader. If a stream is a regular file, the output is appended to it: somebody else has it
// open and may have written to it.
func openStream(name, path string, info fs.FileInfo) (*os.File, error) {
	null, err := os.Stat(os.DevNull)
	allowed := err == nil && os.SameFile(info, null) || isOwnStream(name)
	if !allowed && info.Mode()&fs.ModeCharDevice == 0 {
		return nil, errIrregular
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|nonBlocking, 0)
	if err == nil && !allowed && !isatty.IsTerminal(f.Fd()) {
		f.Close()
		return nil, errIrregular
	}
	return f, err
}

// isOwnStream reports whether a name is that of a stream that the process was given.
func isOwnStream(name string) bool {
	return slices.ContainsFunc([]string{"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// direct is the writer behind the buffer of an Output. Its errors name the file that the user
// gave.
type direct struct{ o *Output }

// Write implements io.Writer.
func (d direct) Write(p []byte) (int, error) {
	n, err := d.o.f.Write(p)
	if err != nil {
		err = outputError(d.o.name, err)
	}
	return n, err
}

// begin creates the temporary file. It first removes the temporary file of a killed run.
func (o *Output) begin(mode fs.FileMode) error {
	if o.was != nil {
		old, err := os.OpenFile(o.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		o.acl, err = getACL(old)
		old.Close()
		if err != nil {
			return err
		}
	}
	dir, base := filepath.Split(o.path)
	temp := filepath.Join(dir, "."+shortened(base)+newMark)
	for range tries {
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			if err := discardLeft(temp); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		// Another run may have removed it as abandoned before it was locked.
		if err := lockOpen(f); !errors.Is(err, errLocked) && is(temp, f) {
			o.f, o.temp = f, temp
			return nil
		}
		f.Close()
	}
	return errBusy
}

var (
	errBusy      = errors.New("another run of toolguard is writing it")
	errTaken     = errors.New("not written: another program created it in the meantime")
	errIrregular = errors.New("is not a regular file")
)

// discardLeft removes a temporary file that no run is writing.
func discardLeft(temp string) error {
	l, err := claim(realFiles{}, temp, time.Now(), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if l != nil {
		defer l.Close()
	}
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// is reports whether a name refers to an open file.
func is(name string, f *os.File) bool {
	a, err := os.Lstat(name)
	if err != nil {
		return false
	}
	b, err := f.Stat()
	return err == nil && os.SameFile(a, b)
}

// Commit flushes the buffer and gives the file its name.
func (o *Output) Commit() error {
	err := o.Flush()
	if err == nil && o.temp != "" {
		err = o.finish()
	}
	if err != nil {
		o.Discard() // while it is open, because a closed file cannot be identified
		return outputError(o.name, err)
	}
	if err := o.f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return outputError(o.name, err)
	}
	return nil
}

// finish gives the temporary file the owner and permissions of the file that it replaces, and
// then its name.
func (o *Output) finish() error {
	if o.was != nil {
		if err := dress(realFile{o.f}, o.was, o.acl); err != nil && !isWindows {
			return err
		}
	}
	if err := o.f.Sync(); err != nil {
		return err
	}
	if !is(o.temp, o.f) {
		return errBusy
	}
	// A file that was created meanwhile may be the only copy of something.
	now, err := os.Lstat(o.path)
	if err == nil && (o.there == nil || !os.SameFile(now, o.there)) {
		return errTaken
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Windows cannot rename an open file. On other systems the lock lasts until the file has
	// its name.
	if isWindows {
		if err := o.f.Close(); err != nil {
			return err
		}
	}
	err = os.Rename(o.temp, o.path)
	if errors.Is(err, fs.ErrNotExist) && !is(o.temp, o.f) {
		err = errBusy // another run removed the file as abandoned, or uses the same name
	}
	if err != nil && isWindows {
		os.Remove(o.temp)
	}
	if err == nil {
		o.temp = ""
	}
	return err
}

// Discard removes a file that was not committed.
func (o *Output) Discard() {
	mine := o.temp != "" && is(o.temp, o.f)
	if isWindows {
		o.f.Close() // Windows cannot remove an open file
	}
	if mine {
		os.Remove(o.temp)
	}
	o.temp = ""
	o.f.Close()
}

// outputError puts the name first and omits the system call and the name of the temporary
// file.
func outputError(name string, err error) error {
	if errors.As(err, new(*OutputError)) {
		return err
	}
	return &OutputError{name, reason(err)}
}

// An OutputError is the error of a file that cannot be written.
type OutputError struct {
	Name string
	Err  error
}

// Error implements error.
func (e *OutputError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// Overlap looks for a file that is both written and read: the same file behind links, under
// several names or in another spelling. It opens no file.
func Overlap(written, read iter.Seq2[string, fs.FileInfo]) (output, input string, found bool) {
	var names []string
	var infos []fs.FileInfo
	for name, info := range written {
		names, infos = append(names, name), append(infos, info)
	}
	if len(infos) == 0 {
		return "", "", false
	}
	for name, info := range read {
		for i := range infos {
			if os.SameFile(infos[i], info) {
				return names[i], name, true
			}
		}
	}
	return "", "", false
}

// Reserve returns a function that reports whether a name is one of the written files, in any
// spelling. Names that differ only by case count as the same, because on some file systems
// they are.
func Reserve(written []string) func(name string) bool {
	taken := map[string]bool{}
	for _, name := range written {
		for _, key := range spellings(name) {
			taken[key] = true
		}
	}
	return func(name string) bool {
		return slices.ContainsFunc(spellings(name), func(key string) bool { return taken[key] })
	}
}

// Repeated returns a file that is in a list more than once, in any spelling, and whether there
// is one. Names that differ only by case are different.
func Repeated(names []string) (name string, found bool) {
	dirs := map[string]string{} // with their links resolved
	taken := map[string]bool{}
	for _, name := range names {
		full, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		dir, known := dirs[filepath.Dir(full)]
		if !known {
			dir = resolved(filepath.Dir(full))
			dirs[filepath.Dir(full)] = dir
		}
		full = filepath.Join(dir, filepath.Base(full))
		if target, err := filepath.EvalSymlinks(full); err == nil {
			full = target
		}
		if taken[full] {
			return name, true
		}
		taken[full] = true
	}
	return "", false
}

// resolved returns a directory with its links resolved, as far as it exists.
func resolved(dir string) string {
	if linked, err := filepath.EvalSymlinks(dir); err == nil {
		return linked
	}
	if parent := filepath.Dir(dir); parent != dir {
		return filepath.Join(resolved(parent), filepath.Base(dir))
	}
	return dir
}

// spellings returns the absolute names of a file, which need not exist: as given, with the
// links of its directory resolved, and with all links resolved.
func spellings(name string) []string {
	fold := func(name string) string { return strings.ToLower(strings.ToUpper(name)) }
	name, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	out := []string{fold(name)}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		out = append(out, fold(filepath.Join(dir, filepath.Base(name))))
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		out = append(out, fold(target))
	}
	return out
}

// Existing yields the names that are regular files, with their file infos.
func Existing(names iter.Seq[string]) iter.Seq2[string, fs.FileInfo] {
	return func(yield func(string, fs.FileInfo) bool) {
		for name := range names {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && !yield(name, info) {
				return
			}
		}
	}
}
