package write

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// body returns a text of a size, of lines.
func body(size int) []byte {
	return bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
}

// opened returns a file as a repair has it: read, and repaired in three places.
func opened(t testing.TB, path string) File {
	t.Helper()
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Original.Close() })
	return f
}

func open(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	f, err := os.Open(path)
	return File{Path: path, Info: info, Original: original{f, int64(len(text))}, Text: bytes.NewReader(repaired(text))}, err
}

// An original is a file as it was when it was opened.
type original struct {
	*os.File
	size int64
}

func (o original) Size() int64 { return o.size }

// repaired is what becomes of a text.
func repaired(text []byte) []byte {
	n := len(text)
	return slices.Concat([]byte("first\n"), text[:n/3], text[n/2:], []byte("last\n"))
}

// makeFile writes a file that was left alone for a while.
func makeFile(t testing.TB, path string, text []byte, mode fs.FileMode) {
	t.Helper()
	// A process that is started meanwhile would have the file open for writing
	// until its own program runs.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, text, 0o600)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// listing lists a directory.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func holds(t testing.TB, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v; want %d", path, len(got), err, len(want))
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, copySize, 3*copySize + 5} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		text := body(size)
		makeFile(t, path, text, 0o640)
		out, err := Replace(t.Context(), opened(t, path), Options{})
		if err != nil || *out != (Done{Written: true}) {
			t.Errorf("%d bytes: %+v, %v", size, out, err)
		}
		holds(t, path, repaired(text))
		if diff := cmp.Diff([]string{"s.jsonl"}, listing(t, dir)); diff != "" {
			t.Errorf("%d bytes: left behind (-want +got):\n%s", size, diff)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 && runtime.GOOS != "windows" {
			t.Errorf("%d bytes: mode %v, %v", size, info.Mode(), err)
		}
	}
}

func TestReplaceBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	text := body(1000)
	var want []string
	for i := range 3 {
		makeFile(t, path, text, 0o640)
		f := opened(t, path)
		out, err := Replace(t.Context(), f, Options{Backup: ".orig"})
		if err != nil {
			t.Fatal(err)
		}
		name := path + ".orig"
		if i > 0 {
			name += "." + strconv.Itoa(i)
		}
		if out.Backup != name {
			t.Errorf("kept as %s, want %s", out.Backup, name)
		}
		holds(t, name, text)
		if info, err := os.Stat(name); err != nil || !info.ModTime().Equal(f.Info.ModTime()) || Links(info) != 1 {
			t.Errorf("%s: %v, %v, %d names", name, info.ModTime(), err, Links(info))
		}
		holds(t, path, repaired(text))
		want = append(want, filepath.Base(name))
		text = append(text, "more\n"...)
	}
	want = append([]string{"s.jsonl"}, want...)
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReplaceReserved: a backup does not take a name under which the run writes
// something else, in whatever spelling it has it.
func TestReplaceReserved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s.jsonl")
	for i, reserved := range []string{
		path + ".bak",
		filepath.Join(dir, "sub") + "/../s.jsonl.bak.1",
		filepath.Join(dir, "S.JSONL.BAK.2"),
	} {
		makeFile(t, path, body(100), 0o600)
		out, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", Reserved: Reserve([]string{reserved})})
		if want := fmt.Sprintf("%s.bak.%d", path, []int{1, 2, 3}[i]); err != nil || out.Backup != want {
			t.Errorf("%s: %+v, %v; want %s", reserved, out, err, want)
		}
		if i == 0 {
			makeFile(t, path+".bak", nil, 0o600)
		}
	}
	// Behind a link.
	if err := os.Symlink(dir, filepath.Join(dir, "sub", "link")); err != nil {
		t.Skip(err)
	}
	makeFile(t, path, body(100), 0o600)
	out, err := Replace(t.Context(), opened(t, path), Options{Backup: ".orig", Reserved: Reserve([]string{filepath.Join(dir, "sub", "link", "s.jsonl.orig")})})
	if err != nil || out.Backup != path+".orig.1" {
		t.Errorf("behind a link: %+v, %v", out, err)
	}
}

func TestReplaceFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, links := filepath.Join(dir, "files"), filepath.Join(dir, "links")
	for _, d := range []string{files, links} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(files, "s.jsonl")
	makeFile(t, path, body(100), 0o600)
	link := filepath.Join(links, "link")
	if err := os.Symlink(filepath.Join("..", "files", "s.jsonl"), link); err != nil {
		t.Skip(err)
	}
	sys := &recorder{}
	out, err := Replace(t.Context(), opened(t, link), Options{Backup: ".bak", system: sys})
	if err != nil || out.Backup != path+".bak" {
		t.Fatalf("%+v, %v", out, err)
	}
	holds(t, path, repaired(body(100)))
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if got := listing(t, links); len(got) != 1 {
		t.Errorf("beside the link: %v", got)
	}
	for _, step := range sys.steps {
		if strings.Contains(step, links) && !strings.HasPrefix(step, "resolve ") {
			t.Errorf("%s is beside the link", step)
		}
	}
}

// TestReplaceSteps: what is written is on the disk before it gets its name, and
// the file is looked at last of all.
func TestReplaceSteps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	makeFile(t, path, body(100), 0o600)
	sys := &recorder{}
	if _, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", system: sys}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sys.steps {
		s, _, _ := strings.Cut(s, " ")
		got = append(got, s)
	}
	want := []string{
		"resolve", "stat", "open", "getacl", "getattributes", "close", "writer", "lock",
		"lstat", "lstat", "lstat", "stat", // what a killed run left, and how many names there are
		"open", "lock", "write", "chown", "setacl", "chmod", "sync", "fstat", "close", "chtimes", "link", "remove", // the backup
		"open", "lock", "write", "chown", "setacl", "chmod", "sync", "fstat", "close", "link", "remove", // the new text
		"stat", "lstat", "exchange", "wait", "writer", "open", "fstat", "close", "remove",
		"syncdir",
	}
	if !slices.Contains(swappings(), byExchange) {
		i := slices.Index(want, "exchange") + 1
		want = slices.Insert(want, i, "link", "stat", "rename")
	}
	if isWindows {
		want = slices.DeleteFunc(want, func(s string) bool { return s == "chown" })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReplaceRefuses(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tests := []struct {
		name string
		// change is made to the file after it was read. Not every system lets an
		// open file be replaced or removed.
		change func(path string) error
		log    bool // it is a session log
		want   string
		text   string // of the file; "" if it is the one that was read
	}{
		{
			name:   "appended",
			change: func(path string) error { return appendTo(path, "more") },
			want:   "not written: it changed after it was read", text: string(body(100)) + "more",
		},
		{
			name:   "touched",
			change: func(path string) error { return os.Chtimes(path, now, now) },
			want:   "not written: it changed after it was read",
		},
		{
			name: "replaced",
			change: func(path string) error {
				info, err := os.Stat(path)
				if err != nil {
					return err
				}
				if err := os.WriteFile(path+".new", body(100), 0o600); err != nil {
					return err
				}
				return errors.Join(os.Chtimes(path+".new", info.ModTime(), info.ModTime()), os.Rename(path+".new", path))
			},
			want: "not written: it changed after it was read",
		},
		{
			name:   "gone",
			change: os.Remove,
			want:   "not written: no such file or directory",
		},
		{
			name:   "a log in use",
			change: func(string) error { return nil },
			log:    true,
			want:   "not written: an agent may be writing it: it changed within the last 10 seconds; wait a few seconds and run it again, or use --force",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "s.jsonl")
			makeFile(t, path, body(100), 0o600)
			opts := Options{Backup: ".bak", Session: tt.log, now: func() time.Time { return now.Add(-time.Hour) }}
			f := opened(t, path)
			if err := tt.change(path); err != nil {
				t.Skip(err)
			}
			_, err := Replace(t.Context(), f, opts)
			if err == nil || err.Error() != path+": "+tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if tt.name == "gone" {
				return
			}
			text := body(100)
			if tt.text != "" {
				text = []byte(tt.text)
			}
			holds(t, path, text)
			if got := listing(t, dir); len(got) != 1 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

func appendTo(path, text string) error {
	syscall.ForkLock.RLock() // as in makeFile
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestReplaceRefusesFile: some files are not replaced, whatever they hold.
func TestReplaceRefusesFile(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, path string, text []byte, want string) {
		t.Helper()
		before := listing(t, filepath.Dir(path))
		_, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak"})
		if err == nil || err.Error() != path+": "+want {
			t.Errorf("got %v, want %s", err, want)
		}
		holds(t, path, text)
		if diff := cmp.Diff(before, listing(t, filepath.Dir(path))); diff != "" {
			t.Errorf("left behind:\n%s", diff)
		}
	}
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o444)
		refused(t, path, body(100), "not written: it is read-only")
	})
	t.Run("compressed", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o600)
		f := opened(t, path)
		f.Packed = "gzip"
		if _, err := Replace(t.Context(), f, Options{}); err == nil || err.Error() != path+": not written: it is compressed with gzip" {
			t.Errorf("got %v", err)
		}
		holds(t, path, body(100))
	})
	t.Run("hard link", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o600)
		if err := os.Link(path, path+".link"); err != nil {
			t.Skip(err)
		}
		if info, err := os.Stat(path); err != nil || Links(info) != 2 {
			t.Skip("names cannot be counted here")
		}
		refused(t, path, body(100), "not written: it has 2 names (hard links), and the others would keep the old text (--force writes it)")
		out, err := Replace(t.Context(), opened(t, path), Options{Force: true})
		if err != nil || out.Note != "it has 2 names (hard links); the others keep the old text" {
			t.Errorf("with force: %+v, %v", out, err)
		}
		holds(t, path, repaired(body(100)))
		holds(t, path+".link", body(100))
	})
	t.Run("directory", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o600)
		f := opened(t, path)
		var err error
		if f.Info, err = os.Stat(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		if _, err := Replace(t.Context(), f, Options{}); err == nil || err.Error() != path+": not written: it is not a regular file" {
			t.Errorf("got %v", err)
		}
	})
}

func TestReplaceSession(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		age   time.Duration
		force bool
		want  bool
	}{
		{9 * time.Second, false, false},
		{9 * time.Second, true, true},
		{11 * time.Second, false, true},
		{-time.Minute, false, false}, // a clock that was put back
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o600)
		f := opened(t, path)
		opts := Options{Session: true, Force: tt.force, now: func() time.Time { return f.Info.ModTime().Add(tt.age) }}
		if _, err := Replace(t.Context(), f, opts); (err == nil) != tt.want {
			t.Errorf("%v old, force %v: %v", tt.age, tt.force, err)
		}
	}
}

func TestReplaceLongName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("x", 255), strings.Repeat("x", 199) + strings.Repeat("ü", 28)} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		makeFile(t, path, body(100), 0o600)
		if _, err := Replace(t.Context(), opened(t, path), Options{}); err != nil {
			t.Errorf("%.210s…: %v", name, err)
		}
		holds(t, path, repaired(body(100)))
	}
}

// TestReplaceInterrupted: when the context ends at any step, there is the
// original or the repaired text, and nothing else.
func TestReplaceInterrupted(t *testing.T) {
	t.Parallel()
	atEachStep(t, func(path string, sys *recorder, step int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sys.before = func(n int, _ string) error {
			if n == step {
				cancel()
			}
			return nil
		}
		_, err := Replace(ctx, opened(t, path), Options{Backup: ".bak", system: sys})
		want := []string{"s.jsonl"}
		if err == nil {
			want = append(want, "s.jsonl.bak")
			holds(t, path, repaired(body(copySize+100)))
		} else {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("step %d: %v", step, err)
			}
			holds(t, path, body(copySize+100))
		}
		if diff := cmp.Diff(want, listing(t, filepath.Dir(path))); diff != "" {
			t.Errorf("step %d, %v: (-want +got):\n%s", step, err, diff)
		}
	})
}

// TestReplaceFails: whichever step fails, and however, the file is the original
// or the repaired one, and nothing is left beside it but what could not be
// removed.
func TestReplaceFails(t *testing.T) {
	t.Parallel()
	for _, swap := range swappings() {
		for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EINTR} {
			t.Run(fmt.Sprintf("%s %v", swap, errno), func(t *testing.T) {
				t.Parallel()
				atEachStep(t, func(path string, sys *recorder, step int) { failsAt(t, path, sys, step, swap, errno) })
			})
		}
	}
}

func failsAt(t *testing.T, path string, sys *recorder, step int, swap swapping, errno syscall.Errno) {
	t.Helper()
	failed := ""
	sys.swap = swap
	sys.before = func(n int, what string) error {
		if n == step {
			failed, _, _ = strings.Cut(what, " ")
			return &fs.PathError{Op: what, Path: "somewhere", Err: errno}
		}
		return nil
	}
	text := body(copySize + 100)
	out, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", system: sys})
	label := fmt.Sprintf("step %d, %s", step, failed)
	want := []string{"s.jsonl"}
	if err == nil {
		holds(t, path, repaired(text))
		holds(t, path+".bak", text)
		want = append(want, "s.jsonl.bak")
		if !slices.Contains([]string{"", "chown", "setacl", "chtimes", "close", "remove", "writer", "wait"}, failed) {
			t.Errorf("%s: no error", label)
		}
		if failed == "remove" && !strings.HasSuffix(out.Note, ": "+errno.Error()) {
			t.Errorf("%s: note %q", label, out.Note)
		}
	} else {
		if failed == "syncdir" {
			holds(t, path, repaired(text))
			want = append(want, "s.jsonl.bak")
		} else {
			holds(t, path, text)
		}
		message := err.Error()
		if !strings.HasPrefix(message, path+": ") || !strings.HasSuffix(message, errno.Error()) || strings.Contains(message, "toolguard") {
			t.Errorf("%s: %s", label, message)
		}
	}
	if failed == "remove" {
		if err == nil {
			clean(path, Options{})
		} else { // what could not be removed is removed by the next run
			if _, err := Replace(t.Context(), opened(t, path), Options{}); err != nil {
				t.Errorf("%s: the next run: %v", label, err)
			}
			os.Remove(path + ".bak")
		}
	}
	if diff := cmp.Diff(want, listing(t, filepath.Dir(path))); diff != "" {
		t.Errorf("%s: left behind (-want +got):\n%s", label, diff)
	}
}

// A keeper keeps originals in memory.
type keeper struct {
	fail error // of Keep
	deny error // of Record
	said []string
}

func (k *keeper) Keep(_ context.Context, path string, info fs.FileInfo, original io.Reader) (Kept, error) {
	if k.fail != nil {
		return nil, k.fail
	}
	text, err := io.ReadAll(original)
	k.said = append(k.said, fmt.Sprintf("keep %s %v %d bytes", filepath.Base(path), info.Mode(), len(text)))
	return k, err
}

func (k *keeper) Name() string { return "elsewhere" }

func (k *keeper) Record(size int64, sum [sha256.Size]byte) error {
	if k.deny != nil {
		return k.deny
	}
	k.said = append(k.said, fmt.Sprintf("record %d %x", size, sum))
	return nil
}

func (k *keeper) Withdraw() { k.said = append(k.said, "withdraw") }

// TestKeeper: what keeps originals elsewhere has one before the file is replaced,
// and gives it back where the file is not.
func TestKeeper(t *testing.T) {
	t.Parallel()
	text := body(1000)
	sum := fmt.Sprintf("record %d %x", len(repaired(text)), sha256.Sum256(repaired(text)))
	kept := "keep s.jsonl -rw------- 1000 bytes"
	full := &fs.PathError{Op: "write", Path: "elsewhere", Err: syscall.ENOSPC}
	for _, tt := range []struct {
		name string
		k    keeper
		fail string // a step
		said []string
		want string
	}{
		{name: "kept", said: []string{kept, sum}},
		{name: "not kept", k: keeper{fail: full}, want: "not written: cannot make a backup: no space left on device (--backup=none writes it without one)"},
		{name: "not recorded", k: keeper{deny: full}, said: []string{kept, "withdraw"}, want: "not written: cannot make a backup: no space left on device (--backup=none writes it without one)"},
		{name: "not replaced", fail: "exchange", said: []string{kept, sum, "withdraw"}, want: "not written: no space left on device"},
		{name: "not synced", fail: "syncdir", said: []string{kept, sum}, want: "repaired, but the repair may be lost in a power failure: no space left on device"},
		{name: "interrupted", k: keeper{fail: context.Canceled}, want: "not written: context canceled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "s.jsonl")
			makeFile(t, path, text, 0o600)
			k := tt.k
			sys := &recorder{before: func(_ int, what string) error {
				if tt.fail != "" && strings.HasPrefix(what, tt.fail+" ") {
					return full
				}
				return nil
			}}
			done, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", Keeper: &k, system: sys})
			if tt.want == "" {
				if err != nil || *done != (Done{Backup: "elsewhere", Written: true}) {
					t.Errorf("%+v, %v", done, err)
				}
				holds(t, path, repaired(text))
			} else if err == nil || err.Error() != path+": "+tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if diff := cmp.Diff(tt.said, k.said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := listing(t, dir); len(got) != 1 {
				t.Errorf("beside it: %v", got)
			}
		})
	}
}

// atEachStep runs a test for each step of a write with a backup.
func atEachStep(t *testing.T, test func(path string, sys *recorder, step int)) {
	t.Helper()
	for step := 0; ; step++ {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(copySize+100), 0o640)
		sys := &recorder{}
		test(path, sys, step)
		if t.Failed() {
			return
		}
		if len(sys.steps) <= step {
			if step < 20 {
				t.Errorf("only %d steps", step)
			}
			return
		}
	}
}

func TestReplaceChangedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	makeFile(t, path, body(3*copySize), 0o600)
	sys := &recorder{}
	sys.before = func(_ int, what string) error {
		if strings.HasPrefix(what, "sync ") {
			return appendTo(path, "more\n")
		}
		return nil
	}
	_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
	if err == nil || err.Error() != path+": not written: it changed after it was read" {
		t.Errorf("got %v", err)
	}
	holds(t, path, append(body(3*copySize), "more\n"...))
	if got := listing(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestReplaceErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step string
		err  error
		want string
	}{
		{"write ", syscall.ENOSPC, "not written: no space left on device"},
		{"sync ", syscall.EIO, "not written: input/output error"},
		{"open .s.jsonl.toolguard-new", syscall.EACCES, "not written: cannot create a file in its directory"},
		{"open .s.jsonl.toolguard-new", syscall.EEXIST, "not written: another run of toolguard is writing it"},
		{"open s.jsonl", syscall.EACCES, "not written: it is read-only"},
		{"exchange ", syscall.EPERM, "not written: permission denied"},
		{"getacl ", syscall.EIO, "not written: its access control list cannot be read: input/output error"},
		{"getattributes ", syscall.EIO, "not written: its extended attributes cannot be read: input/output error"},
		{"lock s.jsonl", errLocked, "not written: another program has locked it"},
		{"syncdir ", syscall.ENOSPC, "repaired, but the repair may be lost in a power failure: no space left on device"},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o600)
		sys := &recorder{}
		sys.before = func(_ int, what string) error {
			what = strings.ReplaceAll(what, filepath.Dir(path)+string(filepath.Separator), "")
			if strings.HasPrefix(what, tt.step) {
				return &fs.PathError{Op: what, Path: path, Err: tt.err}
			}
			return nil
		}
		_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
		if err == nil || err.Error() != path+": "+tt.want && runtime.GOOS == "linux" {
			t.Errorf("%s: got %v, want %s", tt.step, err, tt.want)
		}
	}
}

// BenchmarkReplace replaces a file, without waiting for the disk.
func BenchmarkReplace(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "s.jsonl")
			text := body(size)
			makeFile(b, path, text, 0o600)
			b.SetBytes(int64(size))
			for b.Loop() {
				f := opened(b, path)
				f.Text = bytes.NewReader(text)
				if _, err := Replace(b.Context(), f, Options{system: noSync{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// noSync is the real file system, but for waiting for the disk and for other programs.
type noSync struct{ realFiles }

func (noSync) Wait() {}

func (noSync) SyncDir(string) error { return nil }

func (s noSync) Open(name string, flag int, mode fs.FileMode) (file, error) {
	f, err := s.realFiles.Open(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

type noSyncFile struct{ file }

func (noSyncFile) Sync() error { return nil }

// TestReady: what Ready refuses is not written, nothing is left, and it is asked when the new
// text is complete.
func TestReady(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	old := body(1000)
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	asked := 0
	_, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", Ready: func() error {
		asked++
		if text, err := os.ReadFile(beside(path, tempMark)); err != nil || !bytes.Equal(text, repaired(old)) {
			t.Errorf("the new text is %d bytes, %v", len(text), err)
		}
		return errors.New("it is in use")
	}})
	if err == nil || err.Error() != path+": not written: it is in use" || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, old) {
		t.Errorf("it is changed: %v", err)
	}
	if _, err := Replace(t.Context(), opened(t, path), Options{Ready: func() error { return nil }}); err != nil {
		t.Error(err)
	}
}

// TestModified: the new file gets the time, and its backup that of the original.
func TestModified(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, body(1000), 0o600); err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if _, err := Replace(t.Context(), opened(t, path), Options{Modified: want}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(want) {
		t.Errorf("%v, %v", info.ModTime(), err)
	}
}

// TestStrict: errors name no flag.
func TestStrict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(path, body(1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(dir, "other")); err != nil {
		t.Skip(err)
	}
	for strict, want := range map[bool]string{
		true:  "not written: it has 2 names (hard links), and the others would keep the old text",
		false: "not written: it has 2 names (hard links), and the others would keep the old text (--force writes it)",
	} {
		if Links(opened(t, path).Info) < 2 {
			t.Skip("the system does not count links")
		}
		if _, err := Replace(t.Context(), opened(t, path), Options{Strict: strict}); err == nil || err.Error() != path+": "+want {
			t.Errorf("strict %v: %v", strict, err)
		}
	}
}

// TestKnownIsRemoved: what a killed run left is removed if it is a text that is known, and kept
// otherwise.
func TestKnownIsRemoved(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		for name, text := range map[string]string{path: "original\n", beside(path, tempMark): "a repair\n"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			before := time.Now().Add(-time.Hour)
			if err := os.Chtimes(name, before, before); err != nil {
				t.Fatal(err)
			}
		}
		note := clean(path, Options{Known: func(at string, text io.Reader) bool {
			got, err := io.ReadAll(text)
			if err != nil || string(got) != "a repair\n" || filepath.Base(at) != "s.jsonl" {
				t.Errorf("asked about %q at %s, %v", got, at, err)
			}
			return known
		}})
		entries, err := os.ReadDir(dir)
		if err != nil || (len(entries) == 1) != known || (note == "") != known {
			t.Errorf("known %v: %v, %q, %v", known, entries, note, err)
		}
	}
}
