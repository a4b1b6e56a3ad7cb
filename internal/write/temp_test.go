package write

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBeside(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ target, want string }{
		{"s.jsonl", ".s.jsonl.toolguard-tmp"},
		{filepath.Join("a", "b.json"), filepath.Join("a", ".b.json.toolguard-tmp")},
		{strings.Repeat("x", 201), "." + strings.Repeat("x", 200) + "~ce0b7927.toolguard-tmp"},
		{strings.Repeat("x", 199) + "üü", "." + strings.Repeat("x", 199) + "~aba1e9e7.toolguard-tmp"},
	} {
		if got := beside(tt.target, tempMark); got != tt.want {
			t.Errorf("%s: %s", tt.target, got)
		}
	}
}

// TestLeftBehind: the next run removes the files of a killed run, unless that run may still
// be working.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	put := func(t *testing.T, name string, age time.Duration) {
		t.Helper()
		makeFile(t, name, body(12), 0o600)
		then := time.Now().Add(-age)
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name       string
		age        time.Duration
		unlockable bool
		want       string // "" if the file is written
	}{
		{name: "just now"},
		{name: "long ago", age: time.Hour},
		{name: "without locks, long ago", age: time.Hour, unlockable: true},
		{name: "without locks, just now", unlockable: true, want: "another run of toolguard is writing it: TEMP is less than 10 minutes old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if isWindows && tt.want != "" {
				t.Skip("a file that is not open is abandoned")
			}
			dir := t.TempDir()
			path, temp := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, ".s.jsonl.toolguard-tmp")
			makeFile(t, path, body(100), 0o600)
			put(t, temp, tt.age)
			put(t, filepath.Join(dir, ".s.jsonl.toolguard-old"), time.Hour)
			Clean(path, Options{system: &recorder{unlockable: tt.unlockable}})
			if got := listing(t, dir); len(got) != 1 && tt.want == "" || len(got) != 3 && tt.want != "" {
				t.Errorf("cleaned up: %v", got)
			}
			put(t, temp, tt.age)
			_, err := Replace(t.Context(), opened(t, path), Options{system: &recorder{unlockable: tt.unlockable}})
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				holds(t, path, repaired(body(100)))
				if got := listing(t, dir); len(got) != 1 {
					t.Errorf("left behind: %v", got)
				}
				return
			}
			if want := path + ": not written: " + strings.ReplaceAll(tt.want, "TEMP", temp); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			holds(t, path, body(100))
			holds(t, temp, body(12))
		})
	}
}

// TestInTheWay: a file of another program is not removed.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	for _, make := range []func(name string) error{
		func(name string) error { return os.Mkdir(name, 0o777) },
		func(name string) error { return os.Symlink("s.jsonl", name) },
	} {
		dir := t.TempDir()
		path, temp := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, ".s.jsonl.toolguard-tmp")
		makeFile(t, path, body(100), 0o600)
		if err := make(temp); err != nil {
			t.Skip(err)
		}
		before := listing(t, dir)
		Clean(path, Options{})
		_, err := Replace(t.Context(), opened(t, path), Options{})
		if want := path + ": not written: the temporary file " + temp + " is not a regular file"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		holds(t, path, body(100))
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestLocked: a locked file is neither replaced nor cleaned up.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, ".s.jsonl.toolguard-tmp")
	makeFile(t, path, body(100), 0o600)
	l, err := lockFile(path)
	if err != nil {
		t.Skip(err)
	}
	_, err = Replace(t.Context(), opened(t, path), Options{Force: true})
	if want := path + ": not written: another program has locked it"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	makeFile(t, temp, nil, 0o600)
	Clean(path, Options{})
	if diff := cmp.Diff([]string{".s.jsonl.toolguard-tmp", "s.jsonl"}, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	Clean(path, Options{})
	if diff := cmp.Diff([]string{"s.jsonl"}, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLeftIsNowhereElse: a file of a killed run is removed if its data exists elsewhere, and
// kept and named otherwise.
func TestLeftIsNowhereElse(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\n"
	for _, tt := range []struct {
		name, left string
		known      bool   // without a new text
		written    bool   // with one
		bak, orig  string // backups
	}{
		{name: "nothing", known: true, written: true},
		{name: "the file", left: text, known: true, written: true},
		{name: "part of the file", left: "one\ntw", known: true, written: true},
		{name: "the file before an insertion", left: "one\nthree\n", known: true, written: true},
		{name: "the same, without an end", left: "one\nthree", known: true, written: true},
		{name: "other order", left: "two\none\n"},
		{name: "a line more", left: text + "four\n"},
		{name: "half a line more", left: text + "fo"},
		{name: "half a line within", left: "one\nth"},
		{name: "twice", left: "one\none\n"},
		{name: "part of the new text", left: "ONE\ntwo\nNE", written: true},
		{name: "part of what the new text was", left: "ONE\ntwo\nth", written: true},
		{name: "a backup", left: "zero\n", bak: "zero\n", known: true, written: true},
		{name: "a chosen backup", left: "zero\n", orig: "zero\n", known: true, written: true},
		{name: "more than a backup", left: "zero\nmore\n", bak: "zero\n"},
		{name: "a long line", left: strings.Repeat("x", 3*copySize) + "\n"},
		{name: "written by hand", left: "mine"},
	} {
		for _, mark := range []string{tempMark, asideMark} {
			for _, write := range []bool{false, true} {
				dir := t.TempDir()
				path := filepath.Join(dir, "s.jsonl")
				makeFile(t, path, []byte(text), 0o600)
				makeFile(t, beside(path, mark), []byte(tt.left), 0o600)
				// There may be more than one backup.
				if tt.bak != "" {
					makeFile(t, path+".bak", []byte("x"), 0o600)
					makeFile(t, path+".bak.1", []byte(tt.bak), 0o600)
				}
				if tt.orig != "" {
					makeFile(t, path+".orig", []byte(tt.orig), 0o600)
				}
				opts := Options{system: noSync{}}
				if tt.orig != "" {
					opts.Backup = ".orig"
				}
				note, known := "", tt.known
				if write {
					known = tt.written
					f := opened(t, path)
					f.Text = strings.NewReader("ONE\ntwo\nNEW\nthree\n")
					done, err := Replace(t.Context(), f, opts)
					if err != nil {
						t.Fatalf("%s: %v", tt.name, err)
					}
					note = done.Note
				} else {
					note = Clean(path, opts)
				}
				want, kept := "", path+".toolguard-left"
				if !known {
					want = "a killed run left files that may hold the only copy of a record; check and remove them: " + kept
					holds(t, kept, []byte(tt.left))
				} else if _, err := os.Lstat(kept); err == nil {
					t.Errorf("%s: kept", tt.name)
				}
				if note != want {
					t.Errorf("%s, %s, write %v: note %q, want %q", tt.name, mark, write, note, want)
				}
				if _, err := os.Lstat(beside(path, mark)); err == nil {
					t.Errorf("%s: still in the way", tt.name)
				}
			}
		}
	}
}

// TestLeftStays: a kept file is never changed, is named as long as it exists, and is never in
// the place of a file that the run writes.
func TestLeftStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	temp, left := beside(path, tempMark), path+".toolguard-left"
	makeFile(t, path, body(100), 0o600)
	const say = "a killed run left files that may hold the only copy of a record; check and remove them: "
	opts := Options{Reserved: Reserve([]string{filepath.Join(dir, "sub", "..", "S.jsonl.toolguard-left.1")})}
	for _, step := range []struct{ put, want string }{
		{"one", say + left},
		{"one", say + left}, // it is there already
		{"", say + left},
	} {
		if step.put != "" {
			makeFile(t, temp, []byte(step.put), 0o600)
		}
		if note := Clean(path, opts); note != step.want {
			t.Errorf("note %q, want %q", note, step.want)
		}
	}
	makeFile(t, temp, []byte("two"), 0o600)
	f := opened(t, path)
	if err := os.Link(path, path+".link"); err != nil {
		t.Skip(err)
	}
	if done, err := Replace(t.Context(), f, opts); !isWindows && (err == nil || done == nil || done.Note != say+left) {
		t.Errorf("%+v, %v", done, err)
	}
	holds(t, left, []byte("one"))
	holds(t, left+".2", []byte("two")) // the report has the name before it
	if _, err := os.Lstat(temp); err == nil {
		t.Error("it is still in the way")
	}
}

// TestLeftIsOpened: a file of a killed run is kept if a program that looked up its former name
// appends to it.
func TestLeftIsOpened(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{tempMark, asideMark} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		left := beside(path, mark)
		makeFile(t, path, body(100), 0o600)
		makeFile(t, left, body(100), 0o600)
		sys := &recorder{before: opensLate("", 0, left, "more\n")}
		want := "a killed run left files that may hold the only copy of a record; check and remove them: " + path + ".toolguard-left"
		if note := Clean(path, Options{system: sys}); note != want {
			t.Errorf("note %q, want %q", note, want)
		}
		holds(t, path, body(100))
		if _, err := os.Lstat(path + ".toolguard-left"); err != nil {
			t.Errorf("the record is nowhere: %q", listing(t, dir))
			continue
		}
		holds(t, path+".toolguard-left", append(body(100), "more\n"...))
	}
}

// TestLeftIsHeldOpen: a file that a program still writes to is kept, whatever it contains.
func TestLeftIsHeldOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	temp := beside(path, tempMark)
	makeFile(t, path, body(100), 0o600)
	makeFile(t, temp, body(100), 0o600)
	sys := &recorder{writer: func(name string) string {
		if name == temp {
			return "process 1 (agent)"
		}
		return ""
	}}
	if note := Clean(path, Options{system: sys}); !strings.HasSuffix(note, path+".toolguard-left") {
		t.Errorf("note %q", note)
	}
	holds(t, path+".toolguard-left", body(100))
}
