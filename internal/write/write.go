// Package write replaces and creates files so that nobody ever finds an incomplete one:
// neither a reader, nor the next run after a kill, a full disk or a power failure. It knows
// the names, owners, modes, access control lists and extended attributes of files, and who
// else has them open. It does not know their content.
//
// It does this itself, because the libraries for atomic writes only rename a new file over
// the old one. They do not keep its owner, access control list and extended attributes, and
// do not notice that another program has changed it.
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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// inUse is how long an agent's session log must have been unchanged before it is written.
	inUse = 10 * time.Second
	// copySize is the number of bytes that are copied at a time.
	copySize = 256 << 10
	// shareSize is the number of bytes of a file that the system copies at a time.
	shareSize = 8 << 20
	// mostBackups is the maximum number of backups of one file.
	mostBackups = 1000
	// backupSuffix is the suffix of a file that is kept because it could not be put back.
	backupSuffix = ".bak"
)

// A Text is a text that is read in parts.
type Text interface {
	io.ReaderAt
	Size() int64
}

// A Filed is a Text that is in a file, or parts of it are. The system copies them without passing them on.
type Filed interface {
	Text
	// InFile returns the file that has the bytes at an offset, where they are in it, and how many follow in
	// the text as in the file. The file is nil if the bytes are in none.
	InFile(off int64) (f *os.File, at, n int64)
}

// An Original is the open file that is replaced.
type Original interface {
	Text
	io.Closer
}

// A File is a file that was read, and its new text.
type File struct {
	Path string
	// Info describes the file before it was opened. If the file has changed since then, it is
	// not replaced.
	Info     fs.FileInfo
	Original Original
	// Packed is the compression of the file, "" if it is not compressed.
	Packed string
	Text   Text
}

// Options say how a file is replaced.
type Options struct {
	// Backup is the suffix of the backup beside the file, "" for no backup there.
	Backup string
	// Keeper keeps the original elsewhere; then no backup is made beside the file.
	Keeper Keeper
	// Session says that the file is an agent's own log, which the agent may be writing to.
	Session bool
	// Force also writes a session log that changed just now, a file that another program has
	// open for writing, a file with several names, and a file whose extended attributes the
	// file system rejects.
	Force bool
	// Strict says that no flag writes a file that is refused, so errors name none.
	Strict bool
	// Modified is the modification time of the new file; zero means the time of the write.
	Modified time.Time
	// Ready is called right before the file is replaced. Its error prevents that. It is nil if
	// there is nothing more to check.
	Ready func() error
	// Reserved reports whether the run writes another file at a name. No backup may have that
	// name. It is nil if the run writes no other file.
	Reserved func(name string) bool
	// Copies returns the copies of the file at path that are not beside it. It is nil if
	// there are none.
	Copies func(path string) []string
	// Known reports whether a text is one that a run wrote to the file at path, and that can be
	// computed again. It is nil if no such text is known.
	Known func(path string, text io.Reader) bool

	system fileSystem       // nil for the real one
	now    func() time.Time // nil for time.Now
}

// A Keeper keeps originals elsewhere than beside their files.
type Keeper interface {
	// Keep copies the original of the file at path.
	Keep(ctx context.Context, path string, info fs.FileInfo, original io.Reader) (Kept, error)
}

// A Kept is a copy of an original. Record is called before the file is replaced. Withdraw is
// called if the file is not replaced.
type Kept interface {
	// Name returns the path of the copy.
	Name() string
	// Record notes the text that is about to replace the original.
	Record(size int64, sum [sha256.Size]byte) error
	// Withdraw removes the copy, because the file is still the original.
	Withdraw()
}

// Done reports what else Replace did.
type Done struct {
	Backup string // the path of the backup, "" if there is none
	Note   string // a note for the user, "" for none
	// Written says that the file has its new text, even if there is an error.
	Written bool
}

// Replace replaces a file by its new text, whole or not at all. It writes the text to a
// temporary file beside the file and swaps their names. It closes the original. After an
// error the file is unchanged and nothing is left beside it, unless the error says otherwise.
func Replace(ctx context.Context, f File, opts Options) (*Done, error) {
	w := newWriter(f, opts)
	defer w.unlock()
	done, err := w.write(ctx)
	if err != nil {
		w.tidy()
		done = &Done{Written: errors.As(err, new(*unsynced)) || errors.As(err, new(*stranded))}
		if ctx.Err() != nil {
			return done, ctx.Err()
		}
		return done, writeError(f.Path, err)
	}
	done.Written = true
	return done, nil
}

// A writer replaces one file.
type writer struct {
	file   File
	opts   Options
	sys    fileSystem
	target string // the file after resolving links
	draft  string // a text that is being written
	temp   string // the new text, and the old one after the swap
	aside  string // the old text, on systems that cannot swap names
	left   string // kept data of killed runs

	info  fs.FileInfo // the target, as last checked
	acl   []byte      // its access control list, nil if it has none
	attrs []attribute // its extended attributes
	fresh fs.FileInfo // the new text, after it is written
	sum   [sha256.Size]byte
	kept  Kept

	locks  []io.Closer
	made   []string // files to remove if the write fails
	notes  []string
	sweeps bool // it only removes the files of killed runs
}

func newWriter(f File, opts Options) *writer {
	w := &writer{file: f, opts: opts, sys: opts.system}
	if w.sys == nil {
		w.sys = realFiles{}
	}
	if w.opts.now == nil {
		w.opts.now = time.Now
	}
	return w
}

// find sets the names of the file and of its temporary files.
func (w *writer) find(path string) error {
	target, err := w.sys.EvalSymlinks(path)
	if err == nil {
		dir, base := filepath.Split(target)
		w.place(dir, shortened(base), target)
	}
	return err
}

// place sets the names of a file and of its temporary files, which repeat a part of its name.
func (w *writer) place(dir, stem, target string) {
	w.target, w.left = target, filepath.Join(dir, stem+leftMark)
	hidden := filepath.Join(dir, "."+stem)
	w.draft, w.temp, w.aside = hidden+newMark, hidden+tempMark, hidden+asideMark
}

// tidy undoes a failed write.
func (w *writer) tidy() {
	for _, name := range w.made {
		// The first error is the one to report, so an error here is ignored.
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

// settled marks the file as replaced, so that nothing is undone.
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
	// The backup comes first, so that there is never more than one temporary file.
	if done.Backup, err = w.keep(ctx); err != nil {
		return nil, err
	}
	if err := w.create(ctx, w.file.Text); err != nil {
		return nil, err
	}
	if w.kept != nil {
		if err := w.kept.Record(w.file.Text.Size(), w.sum); err != nil {
			return nil, w.unkept(err)
		}
	}
	switch taken, err := w.name(w.draft, w.temp); {
	case err != nil:
		return nil, err
	case taken:
		return nil, refuse("%v", errBusy)
	}
	// Windows cannot replace an open file.
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
		return refuse("an agent may be writing it: it changed within the last %d seconds; wait a few seconds and run it again, or use --force", int(inUse/time.Second))
	}
	if info.Mode().Perm()&0o222 == 0 {
		return refuse("it is read-only")
	}
	// The file is opened only to check whether it is writable.
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
	return w.unheld()
}

// unheld returns an error if another program has the file open for writing. It would later
// write to the replaced file.
func (w *writer) unheld() error {
	if w.opts.Force {
		return nil
	}
	if who := w.sys.Writer(w.target, w.target); who != "" {
		return w.heldBy(who)
	}
	return nil
}

// heldBy is the error of a file that a program has open for writing.
func (w *writer) heldBy(who string) error {
	return refuse("%s has it open for writing%s", who, w.hint(" (--force writes it)"))
}

// hint returns the end of an error that names the flag which writes the file all the same.
func (w *writer) hint(text string) string {
	if w.opts.Strict {
		return ""
	}
	return text
}

// unchanged returns an error if the file has changed since it was read.
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

// changed reports whether the text of a file may differ from the text that was read.
func (w *writer) changed(now fs.FileInfo) bool {
	was := w.file.Info
	return was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) || now.Size() != w.file.Original.Size()
}

// single returns an error if the file has more than one name.
func (w *writer) single() error {
	if err := w.unchanged(); err != nil {
		return err
	}
	n := Links(w.info)
	if n <= 1 {
		return nil
	}
	if !w.opts.Force {
		return refuse("it has %d names (hard links), and the others would keep the old text%s", n, w.hint(" (--force writes it)"))
	}
	w.note("it has %d names (hard links); the others keep the old text", n)
	return nil
}

// note adds a note for the user, once.
func (w *writer) note(format string, args ...any) {
	if note := fmt.Sprintf(format, args...); !slices.Contains(w.notes, note) {
		w.notes = append(w.notes, note)
	}
}

// create writes a text to a temporary file, with the owner, the mode and the access control
// list of the target. Other runs find it locked under each name that it gets.
func (w *writer) create(ctx context.Context, text Text) error {
	f, err := w.sys.Open(w.draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return refuse("%v", errBusy)
	case errors.Is(err, fs.ErrPermission):
		return refuse("cannot create a file in its directory")
	case err != nil:
		return err
	}
	w.made = append(w.made, w.draft)
	closed := false
	defer func() {
		if !closed {
			f.Close()
		}
	}()
	if err := w.lock(w.draft); err != nil {
		return err
	}
	sum := sha256.New()
	out := io.Writer(f)
	if w.kept != nil {
		out = io.MultiWriter(f, sum)
	}
	if err := copyText(ctx, out, text); err != nil {
		return err
	}
	sum.Sum(w.sum[:0])
	if err := w.keepAttributes(f); err != nil {
		return err
	}
	// Last, because the mode may make the file read-only for its owner.
	if err := dress(f, w.info, w.acl); err != nil && !isWindows {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if !w.opts.Modified.IsZero() {
		if err := w.sys.Chtimes(w.draft, w.opts.Modified); err != nil {
			return err
		}
	}
	if w.fresh, err = f.Stat(); err != nil {
		return err
	}
	closed = true
	return f.Close()
}

// copyText copies a text until the context ends. On Linux, the system copies long parts from file to file.
func copyText(ctx context.Context, w io.Writer, text Text) error {
	filed, is := text.(Filed)
	to, can := w.(io.ReaderFrom)
	buf, at, size := make([]byte, copySize), int64(0), text.Size()
	for is && can && runtime.GOOS == "linux" && at < size && ctx.Err() == nil {
		f, from, n := longPart(filed, at)
		if f == nil {
			if err := copyInto(ctx, w, io.NewSectionReader(text, at, n), buf); err != nil {
				return err
			}
			at += n
			continue
		}
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			return err
		}
		done, err := to.ReadFrom(io.LimitReader(f, n))
		if at += done; err != nil {
			return err
		}
		if done < n {
			break // reading the text says why
		}
	}
	return copyInto(ctx, w, io.NewSectionReader(text, at, size-at), buf)
}

// longPart is Filed.InFile for a long part. If there is none at an offset, the file is nil, and n is how many
// bytes are before the next one, or some of them.
func longPart(text Filed, at int64) (f *os.File, from, n int64) {
	for end := at; end < text.Size() && end-at < copySize; end += n {
		if f, from, n = text.InFile(end); f != nil && n >= copySize {
			if end > at {
				return nil, 0, end - at
			}
			return f, from, min(n, shareSize)
		}
		n = max(n, 1)
	}
	return nil, 0, min(text.Size()-at, copySize)
}

// Copy copies a text in parts until the context ends.
func Copy(ctx context.Context, w io.Writer, r io.Reader) error {
	return copyInto(ctx, w, r, make([]byte, copySize))
}

// copyInto is Copy with a buffer.
func copyInto(ctx context.Context, w io.Writer, r io.Reader, buf []byte) error {
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

// keep keeps the original as the options say. It returns the path of the copy, "" if there is
// none.
func (w *writer) keep(ctx context.Context) (string, error) {
	switch {
	case w.opts.Keeper != nil:
		original := io.NewSectionReader(w.file.Original, 0, w.file.Original.Size())
		kept, err := w.opts.Keeper.Keep(ctx, w.target, w.info, original)
		if err != nil {
			return "", w.unkept(err)
		}
		w.kept = kept
		return kept.Name(), nil
	case w.opts.Backup != "":
		return w.backup(ctx)
	}
	return "", nil
}

// unkept is the error of a Keeper.
func (w *writer) unkept(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return refuse("cannot make a backup: %v%s", reason(err), w.hint(" (--backup=none writes it without one)"))
}

// backup keeps the original beside the file under an unused name. The backup is complete as
// soon as it has that name.
func (w *writer) backup(ctx context.Context) (string, error) {
	if err := w.create(ctx, w.file.Original); err != nil {
		return "", err
	}
	_ = w.sys.Chtimes(w.draft, w.file.Info.ModTime()) // with the modification time of the original
	name, err := w.spare(w.draft, w.target+w.opts.Backup)
	if err != nil {
		return "", err
	}
	w.made = []string{name}
	return name, nil
}

// spare renames a file to the first unused name: base itself, or base with a number. Names at
// which the run writes another file count as used.
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
	return "", refuse("there are already %d backups called %s", mostBackups, filepath.Base(base))
}

// numbered returns the name of the i-th file of a kind.
func numbered(base string, i int) string {
	if i == 0 {
		return base
	}
	return base + "." + strconv.Itoa(i)
}

// reserved reports whether the run writes another file at a name.
func (w *writer) reserved(name string) bool { return w.opts.Reserved != nil && w.opts.Reserved(name) }

// name renames a file, unless the name is taken.
func (w *writer) name(file, name string) (taken bool, err error) {
	err = w.sys.Link(file, name)
	switch {
	case err == nil:
		w.made = append(w.made, name)
		return false, w.sys.Remove(file)
	case errors.Is(err, fs.ErrExist):
		return true, nil
	case !unlinkable(err):
		return false, err
	}
	if _, err := w.sys.Lstat(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	if err := w.sys.Rename(file, name); err != nil {
		return false, err
	}
	w.made = append(w.made, name)
	return false, nil
}
