// Package write knows how a file is replaced or created so that nobody ever
// finds half of it: neither a reader, nor the next run after a kill, a full
// disk or a power failure. It knows files: their names, owners, modes, access
// control lists, extended attributes, and who else has them open. It does not know what is in them.
package write

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// inUse is how long an agent's session log must have been left alone
	// before it is written.
	inUse = 10 * time.Second
	// copySize is how much is copied at a time.
	copySize = 256 << 10
	// mostBackups is how many backups of one file there may be.
	mostBackups = 1000
	// backupSuffix names a file that is kept because it cannot be put back.
	backupSuffix = ".bak"
)

// A Text is bytes that are read piece by piece.
type Text interface {
	io.ReaderAt
	Size() int64
}

// An Original is the open file that is replaced.
type Original interface {
	Text
	io.Closer
}

// A File is a file that was read, and the text that takes its place.
type File struct {
	Path string
	// Info describes the file before it was opened. If the file is different
	// when it is to be replaced, it is left alone.
	Info     fs.FileInfo
	Original Original
	// Packed is how the file is compressed, "" if it is not.
	Packed string
	Text   Text
}

// Options say how a file is replaced.
type Options struct {
	// Backup is the suffix under which the original is kept beside the file, ""
	// for no backup there.
	Backup string
	// Keeper keeps the original elsewhere; then none is kept beside the file.
	Keeper Keeper
	// Session says that the file is an agent's own log, which the agent may be
	// writing to.
	Session bool
	// Force writes a session log that changed just now, a file that another
	// program has open for writing, a file that has several names, and one whose
	// extended attributes the file system does not take.
	Force bool
	// Reserved reports whether the run writes another file under a name, which no
	// backup may take then. It is nil where the run writes none.
	Reserved func(name string) bool
	// Copies returns where copies of the file at path are kept elsewhere than beside
	// it. It is nil where none are.
	Copies func(path string) []string

	system fileSystem       // nil for the real one
	now    func() time.Time // nil for the clock
}

// A Keeper keeps originals elsewhere than beside their files.
type Keeper interface {
	// Keep copies the original of the file at path.
	Keep(ctx context.Context, path string, info fs.FileInfo, original io.Reader) (Kept, error)
}

// A Kept is a copy of an original. Either Record is called and the file is
// replaced, or Withdraw is called; both where replacing it fails.
type Kept interface {
	// Name returns where the copy is.
	Name() string
	// Record says what is about to take the place of the original.
	Record(size int64, sum [sha256.Size]byte) error
	// Withdraw removes the copy, because the file is still the original.
	Withdraw()
}

// Done says what Replace did besides replacing the file.
type Done struct {
	Backup string // where the original is kept, "" if it is not
	Note   string // what the user should know, "" for nothing
}

// Replace replaces a file by its new text, whole or not at all: the text goes to
// a temporary file beside it, and the two exchange their names. It closes the
// original. On an error the file is what it was, and nothing is left beside it,
// unless the error says otherwise; what the user should know is returned then
// too.
func Replace(ctx context.Context, f File, opts Options) (*Done, error) {
	w := &writer{file: f, opts: opts, sys: opts.system}
	if w.sys == nil {
		w.sys = realFiles{}
	}
	if w.opts.now == nil {
		w.opts.now = time.Now
	}
	defer w.unlock()
	done, err := w.write(ctx)
	if err != nil {
		w.tidy()
		done = &Done{Note: w.reminder()}
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		return done, writeError(f.Path, err)
	}
	return done, nil
}

// A writer replaces one file.
type writer struct {
	file   File
	opts   Options
	sys    fileSystem
	target string // the file behind all links
	temp   string // where the new text is written, and the old one is after an exchange
	aside  string // where the old text is for a moment without an exchange
	left   string // where is kept what a run that was killed left

	info  fs.FileInfo // the target, as it was looked at last
	acl   []byte      // its access control list, nil for none
	attrs []attribute // its extended attributes
	fresh fs.FileInfo // the new text, once it is written
	sum   [sha256.Size]byte
	kept  Kept

	locks  []io.Closer
	locked bool     // whether the file system has locks
	made   []string // what is to be removed if the write fails
	notes  []string
	kin    []string // what is kept of runs that were killed
}

// find settles the names of the file and of what may lie beside it.
func (w *writer) find(path string) error {
	var err error
	if w.target, err = w.sys.EvalSymlinks(path); err != nil {
		return err
	}
	w.temp, w.aside = beside(w.target, tempMark), beside(w.target, asideMark)
	dir, base := filepath.Split(w.target)
	w.left = filepath.Join(dir, shortened(base)+leftMark)
	return nil
}

// tidy takes back what a failed write did.
func (w *writer) tidy() {
	for _, name := range w.made {
		// What cannot be removed stays: the error that is reported is the one
		// that came first.
		_ = w.sys.Remove(name)
	}
	if w.kept != nil {
		w.kept.Withdraw()
	}
}

func (w *writer) unlock() {
	for _, l := range w.locks {
		l.Close()
	}
}

// settled marks the file as replaced: from here on nothing is taken back.
func (w *writer) settled() { w.made, w.kept = nil, nil }

func (w *writer) write(ctx context.Context) (*Done, error) {
	if err := w.find(w.file.Path); err != nil {
		return nil, err
	}
	if err := w.allowed(); err != nil {
		return nil, err
	}
	if err := w.lock(w.target); err != nil {
		return nil, err
	}
	if err := w.clear(); err != nil {
		return nil, err
	}
	if err := w.single(); err != nil {
		return nil, err
	}
	var err error
	done := &Done{}
	// The backup comes first, so that there is never more than one temporary
	// file.
	if done.Backup, err = w.keep(ctx); err != nil {
		return nil, err
	}
	if err := w.create(ctx, w.file.Text); err != nil {
		return nil, err
	}
	if w.kept != nil {
		if err := w.kept.Record(w.file.Text.Size(), w.sum); err != nil {
			return nil, unkept(err)
		}
	}
	// From here on another run finds the new file locked, whatever its name is.
	if err := w.lock(w.temp); err != nil {
		return nil, err
	}
	// Windows replaces no file that is open.
	if err := w.file.Original.Close(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := w.swap(); err != nil {
		return nil, err
	}
	if err := w.sys.SyncDir(filepath.Dir(w.target)); err != nil {
		return nil, &unsynced{err}
	}
	if reminder := w.reminder(); reminder != "" {
		w.notes = append(w.notes, reminder)
	}
	done.Note = strings.Join(w.notes, "; ")
	return done, nil
}

// allowed returns an error if the file must not be written.
func (w *writer) allowed() error {
	info := w.file.Info
	if !info.Mode().IsRegular() {
		return refuse("it is not a regular file")
	}
	if w.file.Packed != "" {
		return refuse("it is compressed with %s", w.file.Packed)
	}
	if err := w.unchanged(); err != nil {
		return err
	}
	if age := w.opts.now().Sub(info.ModTime()); w.opts.Session && !w.opts.Force && age < inUse {
		return refuse("an agent seems to be writing it: it changed within the last %d seconds (--force writes it)", int(inUse/time.Second))
	}
	if info.Mode().Perm()&0o222 == 0 {
		return refuse("it is read-only")
	}
	// This only asks whether the file could be written: nothing is written here.
	f, err := w.sys.Open(w.target, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return refuse("it is read-only")
	}
	if err != nil {
		return err
	}
	what := "access control list"
	if w.acl, err = f.ACL(); err == nil {
		what = "extended attributes"
		w.attrs, err = f.Attributes()
	}
	f.Close()
	if err != nil {
		return refuse("its %s cannot be read: %v", what, reason(err))
	}
	return w.unheld(w.target)
}

// unheld returns an error if another program has a file open for writing: what
// it writes later would go to the file that was replaced.
func (w *writer) unheld(name string) error {
	if w.opts.Force {
		return nil
	}
	if who := w.sys.Writer(name, w.target); who != "" {
		return refuse("%s has it open for writing (--force writes it)", who)
	}
	return nil
}

// unchanged returns an error if the file is no longer what was read.
func (w *writer) unchanged() error {
	now, err := w.sys.Stat(w.target)
	if err != nil {
		return err
	}
	if !os.SameFile(w.file.Info, now) || w.changed(now) || w.file.Info.Mode() != now.Mode() {
		return refuse("it changed after it was read")
	}
	w.info = now
	return nil
}

// changed reports whether the text of a file may be another than the one that
// was read.
func (w *writer) changed(now fs.FileInfo) bool {
	was := w.file.Info
	return was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) || now.Size() != w.file.Original.Size()
}

// single returns an error if the file has more than one name.
func (w *writer) single() error {
	if err := w.unchanged(); err != nil {
		return err
	}
	n := links(w.info)
	if n <= 1 {
		return nil
	}
	if !w.opts.Force {
		return refuse("it has %d names (hard links), and the others would keep the old text (--force writes it)", n)
	}
	w.note("had %d names (hard links); the others keep the old text", n)
	return nil
}

// note tells the user something, once.
func (w *writer) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(w.notes, note) {
		w.notes = append(w.notes, note)
	}
}

// create writes a text to the temporary file, with the owner, the mode and the
// access control list of the target.
func (w *writer) create(ctx context.Context, text Text) error {
	f, err := w.sys.Open(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return refuse("another run of toolguard is writing it")
	case errors.Is(err, fs.ErrPermission):
		return refuse("no file can be created in its directory")
	case err != nil:
		return err
	}
	w.made = append(w.made, w.temp)
	closed := false
	defer func() {
		if !closed {
			f.Close()
		}
	}()
	sum := sha256.New()
	out := io.Writer(f)
	if w.kept != nil {
		out = io.MultiWriter(f, sum)
	}
	if err := Copy(ctx, out, io.NewSectionReader(text, 0, text.Size())); err != nil {
		return err
	}
	sum.Sum(w.sum[:0])
	if err := w.keepAttributes(f); err != nil {
		return err
	}
	// Last, because a file may be one that its owner must not write.
	if err := dress(f, w.info, w.acl); err != nil && !isWindows {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if w.fresh, err = f.Stat(); err != nil {
		return err
	}
	closed = true
	return f.Close()
}

// Copy copies a text piece by piece, until the context ends.
func Copy(ctx context.Context, w io.Writer, r io.Reader) error {
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

// keep keeps the original where the options say, and returns the name of the
// copy, "" for none.
func (w *writer) keep(ctx context.Context) (string, error) {
	switch {
	case w.opts.Keeper != nil:
		original := io.NewSectionReader(w.file.Original, 0, w.file.Original.Size())
		kept, err := w.opts.Keeper.Keep(ctx, w.target, w.info, original)
		if err != nil {
			return "", unkept(err)
		}
		w.kept = kept
		return kept.Name(), nil
	case w.opts.Backup != "":
		return w.backup(ctx)
	}
	return "", nil
}

// unkept is the error of a backup elsewhere that could not be made.
func unkept(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return refuse("no backup of it could be made: %v (--backup=none writes it without one)", reason(err))
}

// backup keeps the original beside the file under a name that is free. It is a
// copy, and complete as soon as it has its name.
func (w *writer) backup(ctx context.Context) (string, error) {
	if err := w.create(ctx, w.file.Original); err != nil {
		return "", err
	}
	_ = w.sys.Chtimes(w.temp, w.file.Info.ModTime()) // a copy is as old as the original
	name, err := w.spare(w.temp, w.target+w.opts.Backup)
	if err != nil {
		return "", err
	}
	w.made = []string{name}
	return name, nil
}

// spare gives a file the first name that is free: the base itself, or with a
// number. A name under which the run writes another file is not.
func (w *writer) spare(file, base string) (string, error) {
	for i := range mostBackups {
		name := numbered(base, i)
		if w.reserved(name) {
			continue
		}
		taken, err := w.name(file, name)
		if err != nil {
			return "", err
		}
		if !taken {
			return name, nil
		}
	}
	return "", refuse("there are %d files beside it that are called %s", mostBackups, filepath.Base(base))
}

// numbered returns the name of the i-th file of a kind.
func numbered(base string, i int) string {
	if i == 0 {
		return base
	}
	return base + "." + strconv.Itoa(i)
}

// reserved reports whether the run writes another file under a name.
func (w *writer) reserved(name string) bool { return w.opts.Reserved != nil && w.opts.Reserved(name) }

// name gives a file another name, unless that is taken.
func (w *writer) name(file, name string) (taken bool, err error) {
	err = w.sys.Link(file, name)
	switch {
	case err == nil:
		w.made = append(w.made, name)
		return false, w.sys.Remove(file)
	case errors.Is(err, fs.ErrExist):
		return true, nil
	}
	// There are file systems without links.
	if _, err := w.sys.Lstat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	if err := w.sys.Rename(file, name); err != nil {
		return false, err
	}
	w.made = append(w.made, name)
	return false, nil
}
