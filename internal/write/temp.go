package write

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// newMark, tempMark and asideMark are the suffixes of temporary files. The names depend only
	// on the target, so that the next run finds the files of a killed run.
	//
	// newMark is that of a text until it is complete. It never had the name of its target, so no
	// other program has written to it. The file with tempMark has the complete text and swaps
	// names with the target.
	newMark   = ".toolguard-new"
	tempMark  = ".toolguard-tmp"
	asideMark = ".toolguard-old"
	// leftMark is the suffix of a file of a killed run whose data exists nowhere else. No run
	// changes or removes such a file.
	leftMark = ".toolguard-left"
	// mostName is the number of bytes of a file's name that its temporary file repeats, so
	// that the name is not too long for the file system.
	mostName = 200
	// abandoned is how old a temporary file must be to count as left by a killed run, if no lock
	// tells. Windows does not need it to write a file, because open files cannot be removed
	// there.
	abandoned = 10 * time.Minute
)

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

// repeated reports whether shortened can have returned a text.
func repeated(stem string) bool {
	if len(stem) <= mostName {
		return true
	}
	tilde := max(0, len(stem)-len("~00000000"))
	_, err := strconv.ParseUint(stem[tilde+1:], 16, 32)
	return err == nil && stem[tilde] == '~' && tilde <= mostName
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
	w.locks = append(w.locks, l)
	return nil
}

// claim locks a temporary file of a killed run, so that nobody else removes it. The error is
// fs.ErrNotExist if there is no such file, and errBusy if its run may still be working. The
// lock shows that, whatever process has the id of that run now, and also in another container.
// It may be nil, on file systems without locks. A run that does not write the target itself
// must be sure: it does not rely on a lock that other hosts may not see.
func claim(sys fileSystem, name string, now time.Time, sure bool) (io.Closer, error) {
	was, err := sys.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !was.Mode().IsRegular():
		return nil, fmt.Errorf("the temporary file %s is not a regular file", name)
	}
	l, err := sys.Lock(name)
	if errors.Is(err, errLocked) {
		return nil, errBusy
	}
	is, err := sys.Lstat(name)
	if err == nil && !os.SameFile(was, is) {
		err = errBusy // its run has ended, and another file has its name
	}
	if waits := l == nil && !isWindows || sure && (isWindows || l == nil || sys.Remote(name)); err == nil && waits && now.Sub(touched(name, is)) < abandoned {
		err = fmt.Errorf("%w: %s is less than %d minutes old", errBusy, name, int(abandoned/time.Minute))
	}
	if err != nil && l != nil {
		l.Close()
	}
	return l, err
}

// clear removes the temporary files of a killed run beside the target. Data that exists
// nowhere else is kept under another name: it may include a record that a program appended
// just before the kill. The target is locked, so no other run is working on it.
func (w *writer) clear() error {
	for _, name := range []string{w.draft, w.temp, w.aside} {
		if err := w.discard(name); err != nil {
			return err
		}
	}
	return nil
}

// discard removes a temporary file of a killed run, or keeps its data.
func (w *writer) discard(name string) error {
	info, err := w.sys.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// Another name of the file itself has its lock too.
	if now, err := w.sys.Stat(w.target); err != nil || !os.SameFile(now, info) {
		l, err := claim(w.sys, name, w.opts.now(), w.sweeps)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return refuse("%v", reason(err))
		case l != nil:
			defer l.Close()
		}
		if name != w.draft && !w.needless(name) {
			return w.retain(name)
		}
	}
	if err := w.sys.Remove(name); err != nil {
		return refuse("another run of toolguard is writing it: %s cannot be removed: %v", name, reason(err))
	}
	return nil
}

// retain renames a file of a killed run to a name that no run changes or removes.
func (w *writer) retain(name string) error {
	_, err := w.spare(name, w.left)
	w.made = nil // the kept file stays, even if this write fails
	if err != nil {
		return refuse("%s may hold the only copy of a record and cannot be renamed to %s: %v", name, w.left, reason(err))
	}
	return nil
}

// A Note is a note for the user about a file.
type Note struct{ Path, Text string }

// Sweep removes the files that killed runs left in a directory, and keeps data that exists
// nowhere else. It does so for each file that wanted accepts, even if that file does not exist
// any more. Files that cannot be removed, or may be those of a run that still works, stay.
func Sweep(dir string, wanted func(path string) bool, opts func(path string) Options) (notes []Note) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	bases := map[string]string{} // the names of files by the names that temporary files repeat
	var stems []string
	for _, e := range entries {
		bases[shortened(e.Name())] = e.Name()
		if stem := stemOf(e.Name()); stem != "" && e.Type().IsRegular() && !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
	}
	for _, stem := range stems {
		path := filepath.Join(dir, cmp.Or(bases[stem], stem))
		if !wanted(path) {
			continue
		}
		w := newWriter(File{}, opts(path))
		w.sweeps = true
		w.place(dir, stem, path)
		notes = append(notes, w.sweep()...)
	}
	return notes
}

// stemOf returns what a name that toolguard gives to files of its own repeats of the name of
// their target, "" for any other name.
func stemOf(name string) string {
	if hidden, ok := strings.CutPrefix(name, "."); ok {
		for _, mark := range []string{newMark, tempMark, asideMark} {
			if stem, ok := strings.CutSuffix(hidden, mark); ok && repeated(stem) {
				return stem
			}
		}
	}
	stem, _, ok := strings.Cut(name, leftMark)
	if !ok {
		return ""
	}
	return stem
}

// sweep cleans up beside one file. It returns notes about the kept files of killed runs. Every run
// names them until the user removes them, because the run that kept them may have been killed before
// it could name them.
func (w *writer) sweep() (notes []Note) {
	defer w.unlock()
	if err := w.lock(w.target); err == nil || errors.Is(err, fs.ErrNotExist) {
		_ = w.clear()
	}
	for i := range mostBackups {
		name := numbered(w.left, i)
		if _, err := w.sys.Lstat(name); err != nil {
			break
		}
		notes = append(notes, Note{name, "a killed run left this file, which may hold the only copy of a record: check it and remove it"})
	}
	return notes
}
