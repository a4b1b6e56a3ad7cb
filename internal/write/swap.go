package write

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// swap puts the new text in the place of the old one. A program that appends to
// the file between the last look and the swap writes to the old file. So the old
// file stays reachable under another name until it has been looked at again,
// and is put back if it changed.
func (w *writer) swap() error {
	if err := w.unchanged(); err != nil {
		return err
	}
	if err := w.mine(); err != nil {
		return err
	}
	old, back := w.temp, func() error { return w.sys.Exchange(w.temp, w.target) }
	err := w.sys.Exchange(w.temp, w.target)
	if errors.Is(err, errors.ErrUnsupported) {
		old, back, err = w.overwrite()
	}
	if err != nil {
		return err
	}
	if old == "" { // nothing is left to look at
		w.settled()
		return nil
	}
	if err := w.disturbed(old); err != nil {
		return w.undo(old, back, err)
	}
	w.settled()
	if err := w.sys.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.note("was repaired, but its old text could not be removed: %s: %v", old, reason(err))
	}
	return nil
}

// mine returns an error if the temporary file is not the one that was written.
func (w *writer) mine() error {
	now, err := w.sys.Lstat(w.temp)
	if err == nil && !os.SameFile(now, w.fresh) {
		err = refuse("another run of toolguard is writing it")
	}
	return err
}

// overwrite replaces the target where names cannot be exchanged. The old file
// keeps a second name, so that it can be looked at and put back. Where a file
// cannot have two names either, nothing can be put back.
func (w *writer) overwrite() (old string, back func() error, err error) {
	if err := w.sys.Link(w.target, w.aside); err == nil {
		old = w.aside
		w.made = append(w.made, w.aside)
	}
	if err := w.sys.Rename(w.temp, w.target); err != nil {
		return "", nil, err
	}
	return old, func() error {
		// The new text keeps a name as well, for what is appended to it.
		if err := w.sys.Link(w.target, w.temp); err != nil {
			w.fresh = nil
		}
		return w.sys.Rename(w.aside, w.target)
	}, nil
}

// disturbed returns an error if somebody wrote to the old file since it was
// looked at last, or may still write to it. Who opened it before the swap is
// looked for first: who is not found has closed it, and then the look at the
// file itself sees all that was written.
func (w *writer) disturbed(old string) error {
	if err := w.unheld(old); err != nil {
		return err
	}
	// It is opened because a network file system then asks its server.
	f, err := w.sys.Open(old, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody removed it: there is nothing to put back
	}
	if err != nil {
		return err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if w.changed(now) {
		return refuse("it changed after it was read")
	}
	return nil
}

// undo puts the old file back, for a reason that it returns. What somebody
// appended to the new text while that had the file's name is carried over: most
// of it before, so that it comes before what is appended afterwards.
func (w *writer) undo(old string, back func() error, why error) error {
	done, err := w.carry(w.target, old, w.fresh.Size())
	if err == nil {
		err = back()
	}
	if err != nil {
		// Now only this file has what was written last: it gets a name that
		// nobody takes for rubbish.
		w.settled()
		if name, err := w.spare(old, w.target+backupSuffix); err == nil {
			old = name
		}
		w.made = nil
		return &stranded{old, err}
	}
	if w.fresh == nil {
		return why
	}
	// Who still has the new text open is waited for, whatever the options say.
	who := w.sys.Writer(w.temp, w.target)
	if _, err = w.carry(w.temp, w.target, done); err == nil && who == "" {
		return why
	}
	name, failed := w.spare(w.temp, w.target+backupSuffix)
	if failed != nil {
		name = w.temp
	}
	w.made = slices.DeleteFunc(w.made, func(made string) bool { return made == name || made == w.temp })
	if err != nil {
		return refuse("it changed after it was read, and what was appended to it meanwhile is in %s: %v", name, reason(err))
	}
	return refuse("it changed after it was read, and %s has the repaired text open, which is kept as %s", who, name)
}

// carry appends what a file has from an offset on to another file, and returns
// how far it got.
func (w *writer) carry(from, to string, offset int64) (int64, error) {
	f, err := w.sys.Open(from, os.O_RDONLY, 0)
	if err != nil {
		return offset, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil || now.Size() <= offset {
		return offset, err
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
