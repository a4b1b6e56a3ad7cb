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
	// tempMark and asideMark are the suffixes of temporary files. The names depend only on
	// the target, so that the next run finds the files of a killed run.
	tempMark  = ".toolguard-tmp"
	asideMark = ".toolguard-old"
	// leftMark is the suffix of a file of a killed run whose data exists nowhere else. No run
	// changes or removes such a file.
	leftMark = ".toolguard-left"
	// mostName is the number of bytes of a file's name that its temporary file repeats, so
	// that the name is not too long for the file system.
	mostName = 200
	// abandoned is how old a temporary file must be to count as left by a killed run, on file
	// systems without locks. Windows does not need it, because open files cannot be removed
	// there.
	abandoned = 10 * time.Minute
)

// beside returns the name of a temporary file of a target.
func beside(target, mark string) string {
	dir, base := filepath.Split(target)
	return filepath.Join(dir, "."+shortened(base)+mark)
}

// shortened returns a file's name, or as much of it as a temporary name repeats.
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

// lock keeps other runs off a file until the write is over. On file systems without locks,
// the age of a temporary file shows whether it is abandoned.
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

// clear removes the temporary files of a killed run beside the target. Data that exists
// nowhere else is kept under another name: it may include a record that a program appended
// just before the kill. The target is locked, so no other run is working on it.
func (w *writer) clear() error {
	for _, name := range []string{w.temp, w.aside} {
		info, err := w.sys.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return refuse("the temporary file %s is not a regular file", name)
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

// retain renames a file of a killed run to a name that no run changes or removes.
func (w *writer) retain(name string) error {
	kept, err := w.spare(name, w.left)
	w.made = nil // the kept file stays, even if this write fails
	if err != nil {
		return refuse("%s may hold the only copy of a record and cannot be renamed to %s: %v", name, w.left, reason(err))
	}
	w.kin = append(w.kin, kept)
	return nil
}

// remind lists the kept files of killed runs. It lists them in every run until the user
// removes them, because the run that kept them may have been killed before it could report
// them.
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

// reminder returns a note about the files that remind found, "" if there are none.
func (w *writer) reminder() string {
	if len(w.kin) == 0 {
		return ""
	}
	return "a killed run left files that may hold the only copy of a record; check and remove them: " + strings.Join(w.kin, ", ")
}

// Clean removes the files of a killed run beside a file that needs no repair, and keeps data
// that exists nowhere else. Files that cannot be removed stay. It returns a note for the
// user, "" if there is none.
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
