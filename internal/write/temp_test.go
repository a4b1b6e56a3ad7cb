package write

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// beside returns the name of a temporary file of a target.
func beside(target, mark string) string {
	dir, base := filepath.Split(target)
	return filepath.Join(dir, "."+shortened(base)+mark)
}

// clean does for a file what a run does at its end, and returns its note.
func clean(path string, opts Options) (note string) {
	notes := Sweep(filepath.Dir(path), func(p string) bool { return p == path }, func(string) Options { return opts })
	all := make([]string, len(notes))
	for i, n := range notes {
		all[i] = n.Path + ": " + n.Text
	}
	return strings.Join(all, "\n")
}

// leftText is what a note says of a kept file.
const leftText = "a killed run left this file, which may hold the only copy of a record: check it and remove it"

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
	put := func(t *testing.T, name string) {
		t.Helper()
		makeFile(t, name, body(12), 0o600)
		then := time.Now().Add(-time.Hour) // it may have got the time of a session
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
			opts := Options{system: &recorder{unlockable: tt.unlockable}, now: func() time.Time { return time.Now().Add(tt.age) }}
			put(t, temp)
			put(t, filepath.Join(dir, ".s.jsonl.toolguard-old"))
			clean(path, opts)
			if got := listing(t, dir); len(got) != 1 && tt.want == "" || len(got) != 3 && tt.want != "" {
				t.Errorf("cleaned up: %v", got)
			}
			put(t, temp)
			_, err := Replace(t.Context(), opened(t, path), opts)
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
		clean(path, Options{})
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
	clean(path, Options{})
	if diff := cmp.Diff([]string{".s.jsonl.toolguard-tmp", "s.jsonl"}, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	clean(path, Options{})
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
					if _, err := Replace(t.Context(), f, opts); err != nil {
						t.Fatalf("%s: %v", tt.name, err)
					}
				}
				note = clean(path, opts)
				want, kept := "", path+".toolguard-left"
				if !known {
					want = kept + ": " + leftText
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
	const say = ": " + leftText
	opts := Options{Reserved: Reserve([]string{filepath.Join(dir, "sub", "..", "S.jsonl.toolguard-left.1")})}
	for _, step := range []struct{ put, want string }{
		{"one", left + say},
		{"one", left + say}, // it is there already
		{"", left + say},
	} {
		if step.put != "" {
			makeFile(t, temp, []byte(step.put), 0o600)
		}
		if note := clean(path, opts); note != step.want {
			t.Errorf("note %q, want %q", note, step.want)
		}
	}
	makeFile(t, temp, []byte("two"), 0o600)
	f := opened(t, path)
	if err := os.Link(path, path+".link"); err != nil {
		t.Skip(err)
	}
	if _, err := Replace(t.Context(), f, opts); err == nil && !isWindows {
		t.Error("a file with two names is replaced")
	}
	if note := clean(path, opts); note != left+say {
		t.Errorf("note %q", note)
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
		want := path + ".toolguard-left: " + leftText
		if note := clean(path, Options{system: sys}); note != want {
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
	if note := clean(path, Options{system: sys}); note != path+".toolguard-left: "+leftText {
		t.Errorf("note %q", note)
	}
	holds(t, path+".toolguard-left", body(100))
}

// TestSweep: a run removes what killed runs left beside files that it does not write, and beside
// files that do not exist any more. It touches no other file, nor those of a run that still works.
func TestSweep(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 250)
	for _, tt := range []struct {
		name   string
		files  map[string]string
		locked string // the file that another run has locked
		remote bool
		age    time.Duration
		want   []string // the files that stay
		notes  []string // the files of the notes
	}{
		{name: "half of a text", files: map[string]string{"s": "a\n", ".s.toolguard-new": "b"}, want: []string{"s"}},
		{name: "the same text", files: map[string]string{"s": "a\n", ".s.toolguard-tmp": "a\n", ".s.toolguard-old": ""}, want: []string{"s"}},
		{
			name: "another text", files: map[string]string{"s": "a\n", ".s.toolguard-tmp": "b\n"},
			want: []string{"s", "s.toolguard-left"}, notes: []string{"s.toolguard-left"},
		},
		{name: "half of a report", files: map[string]string{".report.json.toolguard-new": "{"}},
		{
			name: "its file is gone", files: map[string]string{".s.toolguard-tmp": "b\n", "other": ""},
			want: []string{"other", "s.toolguard-left"}, notes: []string{"s.toolguard-left"},
		},
		{
			name: "a long name", files: map[string]string{long: "a\n", "." + shortened(long) + ".toolguard-tmp": "a\n", "." + shortened(long) + ".toolguard-new": "b"},
			want: []string{long},
		},
		{
			name: "a long name, and its file is gone", files: map[string]string{"." + shortened(long) + ".toolguard-tmp": "a\n"},
			want: []string{shortened(long) + ".toolguard-left"}, notes: []string{shortened(long) + ".toolguard-left"},
		},
		{
			name: "kept before", files: map[string]string{"s": "a\n", "s.toolguard-left": "b", "s.toolguard-left.1": "c"},
			want: []string{"s", "s.toolguard-left", "s.toolguard-left.1"}, notes: []string{"s.toolguard-left", "s.toolguard-left.1"},
		},
		{
			name: "other names",
			files: map[string]string{
				"s": "a\n", "s.toolguard-new": "", ".s.toolguard-new.jsonl": "", ".toolguard-new": "", ".s.toolguard-tmp~": "", ".s.tmp": "", ".s.toolguard-newer": "", "a.toolguard": "",
			},
			want: []string{".s.tmp", ".s.toolguard-new.jsonl", ".s.toolguard-newer", ".s.toolguard-tmp~", ".toolguard-new", "a.toolguard", "s", "s.toolguard-new"},
		},
		{
			name: "names that toolguard would shorten", files: map[string]string{"." + long[:201] + ".toolguard-new": "", "." + long[:201] + "~0123456g.toolguard-new": "", "." + long[:201] + "~01234567.toolguard-tmp": "a"},
			want: []string{"." + long[:201] + ".toolguard-new", "." + long[:201] + "~01234567.toolguard-tmp", "." + long[:201] + "~0123456g.toolguard-new"},
		},
		{name: "not wanted", files: map[string]string{"unwanted": "a\n", ".unwanted.toolguard-new": "b"}, want: []string{".unwanted.toolguard-new", "unwanted"}},
		{
			name: "the file is locked", files: map[string]string{"s": "a\n", ".s.toolguard-new": "b"}, locked: "s",
			want: []string{".s.toolguard-new", "s"},
		},
		{
			name: "a report is being written", files: map[string]string{"s": "a\n", ".s.toolguard-new": "b", ".t.toolguard-new": "c"}, locked: ".s.toolguard-new",
			want: []string{".s.toolguard-new", "s"},
		},
		{
			name: "a report is being written for an hour", files: map[string]string{".t.toolguard-new": "c"}, locked: ".t.toolguard-new", age: time.Hour,
			want: []string{".t.toolguard-new"},
		},
		{
			name: "its file was replaced meanwhile", files: map[string]string{"s": "a\n", ".s.toolguard-tmp": "a\n"}, locked: ".s.toolguard-tmp",
			want: []string{".s.toolguard-tmp", "s"},
		},
		{
			name: "on a server, just now", files: map[string]string{"s": "a\n", ".s.toolguard-new": "b"}, remote: true,
			want: []string{".s.toolguard-new", "s"},
		},
		{name: "on a server, long ago", files: map[string]string{"s": "a\n", ".s.toolguard-new": "b"}, remote: true, age: time.Hour, want: []string{"s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if isWindows {
				t.Skip("its locks are other ones")
			}
			dir := t.TempDir()
			for name, text := range tt.files {
				makeFile(t, filepath.Join(dir, name), []byte(text), 0o600)
			}
			if tt.locked != "" {
				l, err := lockFile(filepath.Join(dir, tt.locked))
				if err != nil {
					t.Skip(err)
				}
				defer l.Close()
			}
			wanted := func(path string) bool { return filepath.Base(path) != "unwanted" }
			notes := Sweep(dir, wanted, func(string) Options {
				return Options{system: &recorder{remote: tt.remote}, now: func() time.Time { return time.Now().Add(tt.age) }}
			})
			if diff := cmp.Diff(tt.want, listing(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var want []Note
			for _, name := range tt.notes {
				want = append(want, Note{filepath.Join(dir, name), leftText})
			}
			if diff := cmp.Diff(want, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
