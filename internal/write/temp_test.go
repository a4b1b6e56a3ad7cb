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

// TestLeftBehind: what a run that was killed left is removed by the next, unless
// that run may still be at work.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	put := func(t *testing.T, name string, age time.Duration) {
		t.Helper()
		makeFile(t, name, []byte("half of a te"), 0o600)
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
			clean(path, &recorder{unlockable: tt.unlockable})
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
			holds(t, temp, []byte("half of a te"))
		})
	}
}

// TestInTheWay: what is no file of toolguard's is not removed.
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
		Clean(path)
		_, err := Replace(t.Context(), opened(t, path), Options{})
		if want := path + ": not written: " + temp + " is in the way: it is not a regular file"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		holds(t, path, body(100))
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestLocked: who locks a file keeps it from being replaced and cleaned up around.
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
	Clean(path)
	if diff := cmp.Diff([]string{".s.jsonl.toolguard-tmp", "s.jsonl"}, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	Clean(path)
	if diff := cmp.Diff([]string{"s.jsonl"}, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
