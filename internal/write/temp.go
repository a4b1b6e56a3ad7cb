package write

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// tempMark and asideMark end the names of temporary files. These names are
	// made of the target's alone, so that the next run finds what a run that was
	// killed left behind.
	tempMark  = ".toolguard-tmp"
	asideMark = ".toolguard-old"
	// leftMark ends the name of what a run that was killed left and nobody else
	// has. No run touches such a file again.
	leftMark = ".toolguard-left"
	// mostName is how much of a file's name its temporary file repeats, so that
	// the whole stays below what file systems allow.
	mostName = 200
	// abandoned is how long a temporary file must have been left alone before it
	// is taken for the rest of a run that was killed, where the file system has
	// no locks that would tell. Windows needs none: nobody can remove a file there
	// that somebody has open.
	abandoned = 10 * time.Minute
)

// beside returns the name of a temporary file of a target.
func beside(target, mark string) string {
	dir, base := filepath.Split(target)
	return filepath.Join(dir, "."+shortened(base)+mark)
}

// shortened returns a file's name, or the most of it that a name beside it
// repeats.
func shortened(base string) string {
	if len(base) > mostName {
		h := fnv.New32a()
		_, _ = io.WriteString(h, base)
		cut := mostName
		for cut > 0 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = fmt.Sprintf("%s~%08x", base[:cut], h.Sum32())
	}
	return base
}

// lock keeps other runs off a file until the write is over. Where the file
// system has no locks, temporary files are told from abandoned ones by their
// age.
func (w *writer) lock(name string) error {
	l, err := w.sys.Lock(name)
	switch {
	case errors.Is(err, errLocked):
		return refuse("another program has locked it")
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	}
	w.locks, w.locked = append(w.locks, l), true
	return nil
}

// clear removes what a run that was killed left beside the target, and keeps what
// is nowhere else under a name of its own: it may hold a record that a program
// appended just before the kill. The target is locked, so no other run is at work
// on it.
func (w *writer) clear() error {
	for _, name := range []string{w.temp, w.aside} {
		info, err := w.sys.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return refuse("%s is in the way: it is not a regular file", name)
		case !w.locked && !isWindows && w.opts.now().Sub(info.ModTime()) < abandoned:
			return refuse("another run of toolguard is writing it: %s is less than %d minutes old", name, int(abandoned/time.Minute))
		}
		if !w.needless(name, info) {
			if err := w.retain(name); err != nil {
				return err
			}
			continue
		}
		if err := w.sys.Remove(name); err != nil {
			return refuse("another run of toolguard is writing it: %s cannot be removed: %v", name, reason(err))
		}
	}
	return w.remind()
}

// retain gives what a run that was killed left a name that no run touches again.
func (w *writer) retain(name string) error {
	kept, err := w.spare(name, w.left)
	w.made = nil // what is kept is not taken back, whatever becomes of this write
	if err != nil {
		return refuse("%s may hold what is nowhere else, and cannot be kept as %s: %v", name, w.left, reason(err))
	}
	w.kin = append(w.kin, kept)
	return nil
}

// remind names what is kept of runs that were killed. It does so until somebody
// has looked at it and removed it: the run that kept it may have been killed
// before it could tell.
func (w *writer) remind() error {
	w.kin = nil
	for i := range mostBackups {
		name := numbered(w.left, i)
		if _, err := w.sys.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
		w.kin = append(w.kin, name)
	}
	return nil
}

// reminder says what remind found, "" for nothing.
func (w *writer) reminder() string {
	if len(w.kin) == 0 {
		return ""
	}
	return "a run that was killed left what may be nowhere else: look at it and remove it: " + strings.Join(w.kin, ", ")
}

// Clean removes what a run that was killed left beside a file that needs no
// repair any more, and keeps what is nowhere else. What cannot be removed stays.
// It returns what the user should know, "" for nothing.
func Clean(path string, opts Options) (note string) {
	w := &writer{opts: opts, sys: opts.system}
	if w.sys == nil {
		w.sys = realFiles{}
	}
	if w.opts.now == nil {
		w.opts.now = time.Now
	}
	if w.find(path) != nil {
		return ""
	}
	found := false
	for _, name := range []string{w.temp, w.aside, w.left} {
		_, err := w.sys.Lstat(name)
		found = found || err == nil
	}
	if !found {
		return ""
	}
	defer w.unlock()
	if w.lock(w.target) == nil {
		_ = w.clear()
	}
	return w.reminder()
}
