package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/transcript"
)

const (
	// inUse is how long an agent's session log must have been left alone
	// before it is written.
	inUse = 10 * time.Second
	// copySize is how much is copied at a time.
	copySize = 256 << 10
	// mostBackups is how many backups of one file there may be.
	mostBackups = 1000
	// mostName is how much of a file's name its temporary file repeats, so that
	// the whole stays below what file systems allow.
	mostName = 200
)

// A File is a file that was read and repaired.
type File struct {
	Path string
	// Info is what the file was before it was opened. If it is anything else
	// when it is to be replaced, it is left alone.
	Info   fs.FileInfo
	Source *transcript.Source
	Pieces *edit.Pieces
}

// WriteOptions say how a repaired file is written.
type WriteOptions struct {
	// Backup is the suffix under which the original is kept, "" for none.
	Backup string
	// SessionLog says that the file is an agent's own log, which the agent may
	// be writing to.
	SessionLog bool
	// Force writes a session log that seems to be in use, and a file that has
	// more than one name.
	Force bool

	system fileSystem       // nil for the real one
	now    func() time.Time // nil for the clock
}

// A Written says what was done beside writing.
type Written struct {
	Backup string // where the original is kept, "" if it is not
	Note   string // what the user should know, "" for nothing
}

// Write replaces a file by its repaired text, whole or not at all: the text
// goes to a temporary file beside it, which then takes its name. It closes the
// source. On an error the file is what it was, and nothing is left beside it.
func Write(ctx context.Context, f File, opts WriteOptions) (*Written, error) {
	w := &writer{file: f, opts: opts, sys: opts.system}
	if w.sys == nil {
		w.sys = realFiles{}
	}
	if w.opts.now == nil {
		w.opts.now = time.Now
	}
	out, err := w.write(ctx)
	if err != nil {
		w.tidy()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, writeError(f.Path, err)
	}
	return out, nil
}

// A refusal is a reason not to write a file that has nothing to do with the
// system failing.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "not written: " + r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// unsynced is the error of a file that was written, as far as anybody can see.
type unsynced struct{ err error }

func (u *unsynced) Error() string {
	return "repaired, but that may not outlast a power failure: " + u.err.Error()
}

// writeError puts the path first and leaves out the system call and the name of
// the temporary file.
func writeError(path string, err error) error {
	if u, ok := errors.AsType[*unsynced](err); ok {
		return fmt.Errorf("%s: %w", path, &unsynced{reason(u.err)})
	}
	if _, ok := errors.AsType[*refusal](err); ok {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%s: not written: %w", path, reason(err))
}

// reason returns the cause of an error of the system. What goes wrong most has
// the same text on all systems.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied")
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such file or directory")
	}
	return err
}

// A writer is one write under way.
type writer struct {
	file   File
	opts   WriteOptions
	sys    fileSystem
	target string   // the file behind all links
	made   []string // what is to be removed if the write fails
}

// tidy removes what a failed write made.
func (w *writer) tidy() {
	for _, name := range w.made {
		// What cannot be removed stays: the error that is reported is the one
		// that came first.
		_ = w.sys.Remove(name)
	}
}

func (w *writer) write(ctx context.Context) (*Written, error) {
	out := &Written{}
	var err error
	if w.target, err = w.sys.EvalSymlinks(w.file.Path); err != nil {
		return nil, err
	}
	if out.Note, err = w.allowed(); err != nil {
		return nil, err
	}
	temp, err := w.create(ctx, io.NewSectionReader(w.file.Pieces, 0, w.file.Pieces.Size()))
	if err != nil {
		return nil, err
	}
	if w.opts.Backup != "" {
		if out.Backup, err = w.backup(ctx); err != nil {
			return nil, err
		}
	}
	// Windows replaces no file that is open.
	if err := w.file.Source.Close(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := w.unchanged(); err != nil {
		return nil, err
	}
	if err := w.sys.Rename(temp, w.target); err != nil {
		return nil, err
	}
	w.made = nil
	if err := w.sys.SyncDir(filepath.Dir(w.target)); err != nil {
		return nil, &unsynced{err}
	}
	return out, nil
}

// allowed reports why the file must not be written, or what is to be said
// although it may.
func (w *writer) allowed() (note string, err error) {
	info := w.file.Info
	if !info.Mode().IsRegular() {
		return "", refuse("it is no regular file")
	}
	if p := w.file.Source.Packed(); p != "" {
		return "", refuse("it is compressed with %s", p)
	}
	if err := w.unchanged(); err != nil {
		return "", err
	}
	if age := w.opts.now().Sub(info.ModTime()); w.opts.SessionLog && !w.opts.Force && age < inUse {
		return "", refuse("an agent seems to be writing it: it changed within the last %d seconds (--force writes it)", int(inUse/time.Second))
	}
	if info.Mode().Perm()&0o222 == 0 {
		return "", refuse("it is read-only")
	}
	// Only asks whether it could be done: nothing is written through it.
	f, err := w.sys.Open(w.target, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return "", refuse("it is read-only")
	}
	if err != nil {
		return "", err
	}
	f.Close()
	if n := links(info); n > 1 {
		if !w.opts.Force {
			return "", refuse("it has %d names (hard links), and the others would keep the old text (--force writes it)", n)
		}
		note = fmt.Sprintf("had %d names (hard links); the others keep the old text", n)
	}
	return note, nil
}

// unchanged returns an error if the file is no longer what was read.
func (w *writer) unchanged() error {
	now, err := w.sys.Stat(w.target)
	if err != nil {
		return err
	}
	was := w.file.Info
	if !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) || now.Size() != w.file.Source.Size() {
		return refuse("it changed after it was read")
	}
	return nil
}

// create writes a temporary file beside the target, with its mode and, where
// that is possible, its owner.
func (w *writer) create(ctx context.Context, text io.Reader) (name string, err error) {
	f, name, err := w.temporary()
	if err != nil {
		return "", err
	}
	closed := false
	defer func() {
		if !closed {
			f.Close()
		}
	}()
	if err := copyText(ctx, f, text); err != nil {
		return "", err
	}
	// The owner first: a change of owner takes bits off the mode. Only root can
	// give files away, and only a member can give one to a group. Where that
	// fails the file belongs to who repaired it, and a group that could not read
	// it before cannot now.
	mode := w.file.Info.Mode().Perm()
	if uid, gid, ok := owner(w.file.Info); ok && f.Chown(uid, gid) != nil && f.Chown(-1, gid) != nil {
		mode &^= 0o070 &^ (mode & 0o007 << 3)
	}
	if err := f.Chmod(mode); err != nil && runtime.GOOS != "windows" {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	closed = true
	return name, f.Close()
}

// temporary creates a file beside the target that only its owner can read.
func (w *writer) temporary() (f file, name string, err error) {
	dir, base := filepath.Split(w.target)
	if len(base) > mostName {
		cut := mostName
		for cut > 0 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = base[:cut]
	}
	for range 100 {
		name = filepath.Join(dir, "."+base+".toolguard-"+strconv.FormatUint(rand.Uint64(), 36))
		f, err = w.sys.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			w.made = append(w.made, name)
			return f, name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, "", refuse("no file can be created in its directory")
	}
	return nil, "", err
}

// copyText copies a text piece by piece, as long as the context lets it.
func copyText(ctx context.Context, w io.Writer, r io.Reader) error {
	buf := make([]byte, copySize)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// backup keeps the original under a name that nothing has yet. It is a copy,
// and complete as soon as it has its name.
func (w *writer) backup(ctx context.Context) (string, error) {
	src := w.file.Source
	temp, err := w.create(ctx, io.NewSectionReader(src, 0, src.Size()))
	if err != nil {
		return "", err
	}
	_ = w.sys.Chtimes(temp, w.file.Info.ModTime()) // a copy is as old as the original
	for i := range mostBackups {
		name := w.target + w.opts.Backup
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		taken, err := w.name(temp, name)
		if err != nil {
			return "", err
		}
		if !taken {
			return name, nil
		}
	}
	return "", refuse("there are %d backups of it", mostBackups)
}

// name gives a temporary file its name, unless it is taken.
func (w *writer) name(temp, name string) (taken bool, err error) {
	err = w.sys.Link(temp, name)
	switch {
	case err == nil:
		w.made = append(w.made, name)
		return false, w.sys.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return true, nil
	}
	// There are file systems without links.
	if _, err := w.sys.Lstat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	if err := w.sys.Rename(temp, name); err != nil {
		return false, err
	}
	w.made = append(w.made, name)
	return false, nil
}

// A fileSystem is what a write needs of the system.
type fileSystem interface {
	EvalSymlinks(name string) (string, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Open(name string, flag int, mode fs.FileMode) (file, error)
	Chtimes(name string, modified time.Time) error
	Link(from, to string) error
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(name string) error
}

// A file is an open file.
type file interface {
	io.ReadWriteCloser
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
}

// realFiles is the file system of the process.
type realFiles struct{}

func (realFiles) EvalSymlinks(name string) (string, error) { return filepath.EvalSymlinks(name) }
func (realFiles) Stat(name string) (fs.FileInfo, error)    { return os.Stat(name) }
func (realFiles) Lstat(name string) (fs.FileInfo, error)   { return os.Lstat(name) }
func (realFiles) Link(from, to string) error               { return os.Link(from, to) }
func (realFiles) Rename(from, to string) error             { return os.Rename(from, to) }
func (realFiles) Remove(name string) error                 { return os.Remove(name) }

func (realFiles) Chtimes(name string, modified time.Time) error {
	return os.Chtimes(name, time.Time{}, modified)
}

func (realFiles) Open(name string, flag int, mode fs.FileMode) (file, error) {
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err // and no file that is not nil
	}
	return f, nil
}

// SyncDir makes a new name in a directory outlast a power failure, where the
// system has a way to.
func (realFiles) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return nil //nolint:nilerr // a directory that may be written and not read is not synced
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
