package write

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// swap replaces the old text by the new one. A program that appends to the file between the
// last check and the swap writes to the old file. So the old file stays reachable under
// another name until it has been checked again, and it is put back if it changed.
func (w *writer) swap() error {
	if err := w.unchanged(); err != nil {
		return err
	}
	if err := w.mine(); err != nil {
		return err
	}
	if w.opts.Ready != nil {
		if err := w.opts.Ready(); err != nil {
			return refuse("%v", err)
		}
	}
	old, back := w.temp, func() error { return w.sys.Exchange(w.temp, w.target) }
	err := w.sys.Exchange(w.temp, w.target)
	if errors.Is(err, errors.ErrUnsupported) {
		old, back, err = w.overwrite()
	}
	if err != nil {
		return err
	}
	if old == "" { // there is nothing to check
		w.settled()
		return nil
	}
	if err := w.disturbed(old); err != nil {
		return w.undo(old, back, err)
	}
	w.settled()
	if err := w.sys.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.note("repaired, but the old file could not be removed: %s: %v", old, reason(err))
	}
	return nil
}

// mine returns an error if the temporary file is not the one that was written.
func (w *writer) mine() error {
	now, err := w.sys.Lstat(w.temp)
	if err == nil && !os.SameFile(now, w.fresh) {
		err = refuse("%v", errBusy)
	}
	return err
}

// overwrite replaces the target on systems that cannot swap names. The old file keeps a
// second name, so that it can be checked and put back. If the file system has no hard links
// either, nothing can be put back. A rename replaces whatever has the name, so the last step
// before it is to check that this is still the file that was read.
func (w *writer) overwrite() (old string, back func() error, err error) {
	switch err := w.sys.Link(w.target, w.aside); {
	case err == nil:
		old = w.aside
		w.made = append(w.made, w.aside)
	case !unlinkable(err):
		return "", nil, err
	}
	if err := w.unchanged(); err != nil {
		return "", nil, err
	}
	if err := w.sys.Rename(w.temp, w.target); err != nil {
		return "", nil, err
	}
	return old, func() error {
		// The new text keeps a second name too, because a program may append to it.
		if err := w.sys.Link(w.target, w.temp); err != nil {
			return err
		}
		return w.sys.Rename(w.aside, w.target)
	}, nil
}

// lateWriter names a program that has a file open for writing after the name that it was
// opened by refers to another file. A program that is not found has closed the file, so the
// file then has all that was written to it.
func (w *writer) lateWriter(name string) string {
	w.sys.Wait()
	return w.sys.Writer(name, w.target)
}

// disturbed returns an error if a program wrote to the old file since the last check, or may
// still write to it. With Force it only gives the program time to close the file.
func (w *writer) disturbed(old string) error {
	if who := w.lateWriter(old); who != "" && !w.opts.Force {
		return w.heldBy(who)
	}
	// Opening the file makes a network file system ask its server.
	f, err := w.sys.Open(old, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody removed it, so there is nothing to put back
	}
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if w.changed(now) || !os.SameFile(w.file.Info, now) {
		return refuse("it changed after it was read")
	}
	return nil
}

// undo puts the old file back and returns why. Text that a program appended to the new text
// while it had the file's name is copied to the old file, most of it before the swap, so that
// it comes before text that is appended afterwards.
func (w *writer) undo(old string, back func() error, why error) error {
	done, err := w.carry(w.target, old, w.fresh.Size())
	if err == nil {
		err = back()
	}
	if err != nil {
		// Now only this file has the last text, so it gets a name that looks worth keeping.
		w.settled()
		if name, err := w.spare(old, w.target+backupSuffix); err == nil {
			old = name
		}
		w.made = nil
		return &stranded{old, err}
	}
	// Always wait for programs that still have the new text open, even with Force.
	who := w.lateWriter(w.temp)
	if _, err = w.carry(w.temp, w.target, done); err == nil && who == "" {
		return why
	}
	name, failed := w.spare(w.temp, w.target+backupSuffix)
	if failed != nil {
		name = w.temp
	}
	w.made = slices.DeleteFunc(w.made, func(made string) bool { return made == name || made == w.temp })
	if err != nil {
		return refuse("it changed after it was read; records that were appended in the meantime are in %s: %v", name, reason(err))
	}
	return refuse("it changed after it was read; %s has the repaired text open, which is kept as %s", who, name)
}

// carry appends the text of the new file from an offset on to another file. It returns the
// offset that it reached.
func (w *writer) carry(from, to string, offset int64) (int64, error) {
	f, err := w.sys.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return offset, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return offset, err
	}
	if !os.SameFile(now, w.fresh) {
		return offset, errors.New("another program replaced the file")
	}
	if now.Size() <= offset {
		return offset, nil
	}
	if _, err := io.CopyN(io.Discard, f, offset); err != nil {
		return offset, err
	}
	out, err := w.sys.Open(to, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return offset, err
	}
	n, err := io.Copy(out, f)
	if err == nil {
		err = out.Sync()
	}
	return offset + n, errors.Join(err, out.Close())
}
