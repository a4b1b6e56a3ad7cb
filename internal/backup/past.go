package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/small"
)

// A Past is a run that kept originals.
type Past struct {
	// Name is the name of its directory, which begins with the time.
	Name    string
	Dir     string
	Started time.Time // zero if the name does not say
	Entries []Entry
	// Torn says that the manifest has lines that cannot be read. The last one can be incomplete
	// after a kill; its file was not replaced.
	Torn bool
	// Err is why the manifest cannot be read, nil if it can. Other runs do not depend on it.
	Err error
}

// Runs lists the runs below a directory, the newest first. It skips directories without a
// manifest. There are none if the directory does not exist.
func Runs(root string) ([]*Past, error) {
	dirs, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []*Past
	for _, d := range dirs {
		p := &Past{Name: d.Name(), Dir: filepath.Join(root, d.Name())}
		text, err := small.File(filepath.Join(p.Dir, Manifest), small.Manifest)
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrNotExist) || !d.IsDir():
			continue
		default:
			p.Err = err
		}
		stem, _, _ := bytes.Cut([]byte(p.Name), []byte("-"))
		p.Started, _ = time.Parse(runFormat, string(stem))
		for line := range bytes.Lines(text) {
			e, ok := parse(line)
			if !ok {
				p.Torn = true
				continue
			}
			if n := len(p.Entries); n > 0 && p.Entries[n-1].Copy == e.Copy { // it says more of the same
				p.Entries = p.Entries[:n-1]
			}
			p.Entries = append(p.Entries, e)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b *Past) int {
		if c := b.Started.Compare(a.Started); c != 0 {
			return c
		}
		return later(b.Name, a.Name)
	})
	return out, nil
}

// later compares the names of runs that began in the same second: X, X-2, X-10.
func later(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare([]byte(a), []byte(b))
}

// parse reads a line of a manifest, and reports whether it can be used. A copy is always in the
// directory of its manifest.
func parse(line []byte) (e Entry, ok bool) {
	if json.Unmarshal(line, &e) != nil {
		return e, false
	}
	// The copies of older versions have the names of their files, and the manifest has each byte
	// of a name that is not UTF-8 as a replacement character.
	number, _, _ := strings.Cut(e.Copy, "-")
	if name := number + "-" + shortened(filepath.Base(e.File())); e.Copy == string([]rune(name)) {
		e.Copy = name
	}
	plain := func(name string) bool { return name != "" && name != Manifest && name == filepath.Base(name) }
	return e, filepath.IsAbs(e.File()) && plain(e.Copy) && (e.Rows == "" || plain(e.Rows))
}

// File returns the path of the file.
func (e *Entry) File() string {
	if len(e.RawPath) > 0 {
		return string(e.RawPath)
	}
	return e.Path
}

// CopyOf returns the path of the copy of an entry.
func (p *Past) CopyOf(e *Entry) string { return filepath.Join(p.Dir, e.Copy) }

// RowsOf returns the path of the file with the changed rows of an entry that is a database.
func (p *Past) RowsOf(e *Entry) string { return filepath.Join(p.Dir, e.Rows) }

// A State says what is at the path of an entry.
type State uint8

// The states.
const (
	// Repaired is a file that still has the text that the run wrote.
	Repaired State = iota
	// Original is a file that has the original text: the repair was undone, or the run was
	// killed before it.
	Original
	// Changed is a file with another text.
	Changed
	// Gone is a file that does not exist.
	Gone
	// Unreadable is a file that cannot be read.
	Unreadable
)

// String returns the name of a state.
func (s State) String() string {
	return [...]string{"repaired", "original", "changed", "gone", "unreadable"}[s]
}

// State compares the file of an entry with the texts that the manifest describes.
func (e *Entry) State() State {
	info, err := os.Stat(e.File())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	case err != nil:
		return Unreadable
	case !info.Mode().IsRegular() || info.Size() != e.Before.Bytes && info.Size() != e.After.Bytes:
		return Changed
	}
	f, err := os.Open(e.File())
	if err != nil {
		return Unreadable
	}
	defer f.Close()
	is, err := Describe(f)
	switch {
	case err != nil:
		return Unreadable
	case is == e.After:
		return Repaired
	case is == e.Before:
		return Original
	}
	return Changed
}

// States compares the files of run i with the texts before and after it. A file that was
// restored further, to the original of an earlier run, is an Original too.
func States(runs []*Past, i int) []State {
	out := make([]State, len(runs[i].Entries))
	for j := range runs[i].Entries {
		e := &runs[i].Entries[j]
		out[j] = e.State()
		for _, earlier := range runs[i+1:] {
			for k := range earlier.Entries {
				if old := &earlier.Entries[k]; out[j] == Changed && old.File() == e.File() && old.State() == Original {
					out[j] = Original
				}
			}
		}
	}
	return out
}

// About yields what the runs below root say about the file at path, the newest first. It skips
// manifests that it cannot read.
func About(root, path string) iter.Seq2[*Past, *Entry] {
	return func(yield func(*Past, *Entry) bool) {
		path, err := filepath.Abs(path)
		if err != nil {
			return
		}
		runs, err := Runs(root)
		if err != nil {
			return
		}
		for _, p := range runs {
			for i := range p.Entries {
				if e := &p.Entries[i]; e.File() == path && !yield(p, e) {
					return
				}
			}
		}
	}
}

// Copies returns the copies of the file at path that runs below root kept.
func Copies(root, path string) (out []string) {
	for p, e := range About(root, path) {
		out = append(out, p.CopyOf(e))
	}
	return out
}

// Wrote reports whether a run below root wrote a text to the file at path.
func Wrote(root, path string, text io.Reader) bool {
	var is Content
	for _, e := range About(root, path) {
		if is == (Content{}) {
			var err error
			if is, err = Describe(text); err != nil {
				return false
			}
		}
		if is == e.After {
			return true
		}
	}
	return false
}

// Describe identifies a text.
func Describe(r io.Reader) (Content, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	return Content{n, hex.EncodeToString(sum.Sum(nil))}, err
}
