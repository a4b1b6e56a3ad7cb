package write

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path/filepath"
	"time"
	"unicode/utf8"
)

const (
	// tempMark and asideMark end the names of temporary files. These names are
	// made of the target's alone, so that the next run finds what a run that was
	// killed left behind.
	tempMark  = ".toolguard-tmp"
	asideMark = ".toolguard-old"
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
	if len(base) > mostName {
		h := fnv.New32a()
		_, _ = io.WriteString(h, base)
		cut := mostName
		for cut > 0 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = fmt.Sprintf("%s~%08x", base[:cut], h.Sum32())
	}
	return filepath.Join(dir, "."+base+mark)
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

// clear removes what a run that was killed left beside the target. The target is
// locked, so no other run is at work on it.
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
		if err := w.sys.Remove(name); err != nil {
			return refuse("another run of toolguard is writing it: %s cannot be removed: %v", name, reason(err))
		}
	}
	return nil
}

// Clean removes what a run that was killed left beside a file that needs no
// repair any more. What cannot be removed stays.
func Clean(path string) { clean(path, realFiles{}) }

func clean(path string, sys fileSystem) {
	w := &writer{sys: sys, opts: Options{now: time.Now}}
	var err error
	if w.target, err = sys.EvalSymlinks(path); err != nil {
		return
	}
	w.temp, w.aside = beside(w.target, tempMark), beside(w.target, asideMark)
	left := false
	for _, name := range []string{w.temp, w.aside} {
		_, err := sys.Lstat(name)
		left = left || err == nil
	}
	if !left {
		return
	}
	defer w.unlock()
	if w.lock(w.target) == nil {
		_ = w.clear()
	}
}
