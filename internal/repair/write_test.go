package repair

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/toolguard/toolguard/internal/transcript"
)

// crashEnv tells a child process what to write and when to die:
// step|path|size|backup.
const crashEnv = "TOOLGUARD_TEST_CRASH"

func TestMain(m *testing.M) {
	if spec := os.Getenv(crashEnv); spec != "" {
		crash(spec)
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // this is the end of the process
}

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
	t.Cleanup(func() { f.Source.Close() })
	return f
}

func open(path string) (File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	src, err := transcript.Open(context.Background(), path)
	if err != nil {
		return File{}, err
	}
	n := src.Size()
	pieces, err := edit.Apply(src, []edit.Edit{
		{Text: []byte("first\n")},
		{Span: transcript.Span{Start: n / 3, End: n / 2}},
		{Span: transcript.Span{Start: n, End: n}, Text: []byte("last\n")},
	})
	return File{path, info, src, pieces}, err
}

// repaired is what becomes of a text.
func repaired(text []byte) []byte {
	n := len(text)
	return slices.Concat([]byte("first\n"), text[:n/3], text[n/2:], []byte("last\n"))
}

// makeFile writes a file that was left alone for a while.
func makeFile(t testing.TB, path string, text []byte, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
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

// beside lists a directory.
func beside(t testing.TB, dir string) []string {
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

func TestWrite(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1000, copySize, 3*copySize + 5} {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		text := body(size)
		makeFile(t, path, text, 0o640)
		out, err := Write(t.Context(), opened(t, path), WriteOptions{})
		if err != nil || *out != (Written{}) {
			t.Errorf("%d bytes: %+v, %v", size, out, err)
		}
		holds(t, path, repaired(text))
		if diff := cmp.Diff([]string{"s.jsonl"}, beside(t, dir)); diff != "" {
			t.Errorf("%d bytes: left behind (-want +got):\n%s", size, diff)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 && runtime.GOOS != "windows" {
			t.Errorf("%d bytes: mode %v, %v", size, info.Mode(), err)
		}
	}
}

func TestWriteBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	text := body(1000)
	var want []string
	for i := range 3 {
		makeFile(t, path, text, 0o640)
		f := opened(t, path)
		out, err := Write(t.Context(), f, WriteOptions{Backup: ".orig"})
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
		if info, err := os.Stat(name); err != nil || !info.ModTime().Equal(f.Info.ModTime()) || links(info) != 1 {
			t.Errorf("%s: %v, %v, %d names", name, info.ModTime(), err, links(info))
		}
		holds(t, path, repaired(text))
		want = append(want, filepath.Base(name))
		text = append(text, "more\n"...)
	}
	want = append([]string{"s.jsonl"}, want...)
	if diff := cmp.Diff(want, beside(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteFollowsLinks(t *testing.T) {
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
	out, err := Write(t.Context(), opened(t, link), WriteOptions{Backup: ".bak", system: sys})
	if err != nil || out.Backup != path+".bak" {
		t.Fatalf("%+v, %v", out, err)
	}
	holds(t, path, repaired(body(100)))
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if got := beside(t, links); len(got) != 1 {
		t.Errorf("beside the link: %v", got)
	}
	for _, step := range sys.steps {
		if strings.Contains(step, links) && !strings.HasPrefix(step, "resolve ") {
			t.Errorf("%s is beside the link", step)
		}
	}
}

// TestWriteSteps: what is written is on the disk before it gets its name, and
// the file is looked at last of all.
func TestWriteSteps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	makeFile(t, path, body(100), 0o600)
	sys := &recorder{}
	if _, err := Write(t.Context(), opened(t, path), WriteOptions{Backup: ".bak", system: sys}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sys.steps {
		s, _, _ := strings.Cut(s, " ")
		got = append(got, s)
	}
	want := []string{
		"resolve", "stat", "open", "close",
		"open", "write", "chown", "chmod", "sync", "close",
		"open", "write", "chown", "chmod", "sync", "close", "chtimes", "link", "remove",
		"stat", "rename", "syncdir",
	}
	if runtime.GOOS == "windows" {
		want = slices.DeleteFunc(want, func(s string) bool { return s == "chown" })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteRefuses(t *testing.T) {
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
			want:   "not written: an agent seems to be writing it: it changed within the last 10 seconds (--force writes it)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "s.jsonl")
			makeFile(t, path, body(100), 0o600)
			opts := WriteOptions{Backup: ".bak", SessionLog: tt.log, now: func() time.Time { return now.Add(-time.Hour) }}
			f := opened(t, path)
			if err := tt.change(path); err != nil {
				t.Skip(err)
			}
			_, err := Write(t.Context(), f, opts)
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
			if got := beside(t, dir); len(got) != 1 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestWriteRefusesFile: some files are not replaced, whatever they hold.
func TestWriteRefusesFile(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, path string, text []byte, want string) {
		t.Helper()
		before := beside(t, filepath.Dir(path))
		_, err := Write(t.Context(), opened(t, path), WriteOptions{Backup: ".bak"})
		if err == nil || err.Error() != path+": "+want {
			t.Errorf("got %v, want %s", err, want)
		}
		holds(t, path, text)
		if diff := cmp.Diff(before, beside(t, filepath.Dir(path))); diff != "" {
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
		var gz, zs bytes.Buffer
		g := gzip.NewWriter(&gz)
		z, err := zstd.NewWriter(&zs)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []io.WriteCloser{g, z} {
			if _, err := w.Write(body(100)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for packing, packed := range map[string][]byte{"gzip": gz.Bytes(), "zstd": zs.Bytes()} {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			makeFile(t, path, packed, 0o600)
			refused(t, path, packed, "not written: it is compressed with "+packing)
		}
	})
	t.Run("hard link", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o600)
		if err := os.Link(path, path+".link"); err != nil {
			t.Skip(err)
		}
		if info, err := os.Stat(path); err != nil || links(info) != 2 {
			t.Skip("names cannot be counted here")
		}
		refused(t, path, body(100), "not written: it has 2 names (hard links), and the others would keep the old text (--force writes it)")
		out, err := Write(t.Context(), opened(t, path), WriteOptions{Force: true})
		if err != nil || out.Note != "had 2 names (hard links); the others keep the old text" {
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
		if _, err := Write(t.Context(), f, WriteOptions{}); err == nil || err.Error() != path+": not written: it is no regular file" {
			t.Errorf("got %v", err)
		}
	})
}

func TestWriteSessionLog(t *testing.T) {
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
		opts := WriteOptions{SessionLog: true, Force: tt.force, now: func() time.Time { return f.Info.ModTime().Add(tt.age) }}
		if _, err := Write(t.Context(), f, opts); (err == nil) != tt.want {
			t.Errorf("%v old, force %v: %v", tt.age, tt.force, err)
		}
	}
}

func TestWriteLongName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{strings.Repeat("x", 255), strings.Repeat("x", 199) + strings.Repeat("ü", 28)} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		makeFile(t, path, body(100), 0o600)
		if _, err := Write(t.Context(), opened(t, path), WriteOptions{}); err != nil {
			t.Errorf("%.210s…: %v", name, err)
		}
		holds(t, path, repaired(body(100)))
	}
}

// TestWriteInterrupted: when the context ends at any step, there is the
// original or the repaired text, and nothing else.
func TestWriteInterrupted(t *testing.T) {
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
		_, err := Write(ctx, opened(t, path), WriteOptions{Backup: ".bak", system: sys})
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
		if diff := cmp.Diff(want, beside(t, filepath.Dir(path))); diff != "" {
			t.Errorf("step %d, %v: (-want +got):\n%s", step, err, diff)
		}
	})
}

// TestWriteFails: when any step fails, the file is what it was and nothing is
// left beside it.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	atEachStep(t, func(path string, sys *recorder, step int) {
		failed := ""
		sys.before = func(n int, what string) error {
			if n == step {
				failed = what
				return &fs.PathError{Op: what, Path: "somewhere", Err: syscall.ENOSPC}
			}
			return nil
		}
		out, err := Write(t.Context(), opened(t, path), WriteOptions{Backup: ".bak", system: sys})
		dir := filepath.Dir(path)
		switch what, _, _ := strings.Cut(failed, " "); what {
		case "", "chown", "chtimes": // or none of them failed any more
			// What cannot be kept is let go.
			if err != nil {
				t.Errorf("step %d, %s: %v", step, failed, err)
			}
		case "link":
			// There are file systems without links.
			if err != nil || out.Backup != path+".bak" {
				t.Errorf("step %d, %s: %+v, %v", step, failed, out, err)
			}
			holds(t, path+".bak", body(copySize+100))
		case "syncdir":
			want := path + ": repaired, but that may not outlast a power failure: no space left on device"
			if err == nil || err.Error() != want {
				t.Errorf("step %d, %s: %v", step, failed, err)
			}
			holds(t, path, repaired(body(copySize+100)))
			return
		case "remove":
			if err == nil {
				t.Errorf("step %d, %s: no error", step, failed)
			}
			holds(t, path, body(copySize+100))
			return
		case "close":
			if strings.HasSuffix(failed, "s.jsonl") {
				return // nothing was written through it
			}
			fallthrough
		default:
			if want := path + ": not written: no space left on device"; err == nil || err.Error() != want {
				t.Errorf("step %d, %s: got %v, want %s", step, failed, err, want)
			}
			holds(t, path, body(copySize+100))
			if diff := cmp.Diff([]string{"s.jsonl"}, beside(t, dir)); diff != "" {
				t.Errorf("step %d, %s: left behind:\n%s", step, failed, diff)
			}
			return
		}
		holds(t, path, repaired(body(copySize+100)))
	})
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

func TestWriteChangedMeanwhile(t *testing.T) {
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
	_, err := Write(t.Context(), opened(t, path), WriteOptions{system: sys})
	if err == nil || err.Error() != path+": not written: it changed after it was read" {
		t.Errorf("got %v", err)
	}
	holds(t, path, append(body(3*copySize), "more\n"...))
	if got := beside(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step string
		err  error
		want string
	}{
		{"write ", syscall.ENOSPC, "not written: no space left on device"},
		{"sync ", syscall.EIO, "not written: input/output error"},
		{"open .s.jsonl.toolguard-", syscall.EACCES, "not written: no file can be created in its directory"},
		{"open s.jsonl", syscall.EACCES, "not written: it is read-only"},
		{"rename ", syscall.EPERM, "not written: permission denied"},
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
		_, err := Write(t.Context(), opened(t, path), WriteOptions{system: sys})
		if err == nil || err.Error() != path+": "+tt.want && runtime.GOOS == "linux" {
			t.Errorf("%s: got %v, want %s", tt.step, err, tt.want)
		}
	}
}

// A recorder is the real file system, with a say before each step.
type recorder struct {
	real   realFiles
	steps  []string
	before func(n int, what string) error
	// half is called in the middle of each write.
	half func(n int)
}

func (r *recorder) step(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	r.steps = append(r.steps, what)
	if r.before == nil {
		return nil
	}
	return r.before(len(r.steps)-1, what)
}

func (r *recorder) EvalSymlinks(name string) (string, error) {
	if err := r.step("resolve %s", name); err != nil {
		return "", err
	}
	return r.real.EvalSymlinks(name)
}

func (r *recorder) Stat(name string) (fs.FileInfo, error) {
	if err := r.step("stat %s", name); err != nil {
		return nil, err
	}
	return r.real.Stat(name)
}

func (r *recorder) Lstat(name string) (fs.FileInfo, error) {
	if err := r.step("lstat %s", name); err != nil {
		return nil, err
	}
	return r.real.Lstat(name)
}

func (r *recorder) Open(name string, flag int, mode fs.FileMode) (file, error) {
	if err := r.step("open %s", name); err != nil {
		return nil, err
	}
	f, err := r.real.Open(name, flag, mode)
	if err != nil {
		return nil, err
	}
	return &recordedFile{f, r, name}, nil
}

func (r *recorder) Chtimes(name string, modified time.Time) error {
	if err := r.step("chtimes %s", name); err != nil {
		return err
	}
	return r.real.Chtimes(name, modified)
}

func (r *recorder) Link(from, to string) error {
	if err := r.step("link %s %s", from, to); err != nil {
		return err
	}
	return r.real.Link(from, to)
}

func (r *recorder) Rename(from, to string) error {
	if err := r.step("rename %s %s", from, to); err != nil {
		return err
	}
	return r.real.Rename(from, to)
}

func (r *recorder) Remove(name string) error {
	if err := r.step("remove %s", name); err != nil {
		return err
	}
	return r.real.Remove(name)
}

func (r *recorder) SyncDir(name string) error {
	if err := r.step("syncdir %s", name); err != nil {
		return err
	}
	return r.real.SyncDir(name)
}

type recordedFile struct {
	file
	r    *recorder
	name string
}

func (f *recordedFile) Read(b []byte) (int, error) {
	if err := f.r.step("read %s", f.name); err != nil {
		return 0, err
	}
	return f.file.Read(b)
}

func (f *recordedFile) Write(b []byte) (int, error) {
	if err := f.r.step("write %s", f.name); err != nil {
		n, _ := f.file.Write(b[:len(b)/2]) // a disk that is full takes a part
		return n, err
	}
	if f.r.half != nil {
		n, err := f.file.Write(b[:len(b)/2])
		if err != nil {
			return n, err
		}
		f.r.half(len(f.r.steps) - 1)
		m, err := f.file.Write(b[n:])
		return n + m, err
	}
	return f.file.Write(b)
}

func (f *recordedFile) Chmod(mode fs.FileMode) error {
	if err := f.r.step("chmod %s", f.name); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *recordedFile) Chown(uid, gid int) error {
	if err := f.r.step("chown %s", f.name); err != nil {
		return err
	}
	return f.file.Chown(uid, gid)
}

func (f *recordedFile) Sync() error {
	if err := f.r.step("sync %s", f.name); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *recordedFile) Close() error {
	if err := f.r.step("close %s", f.name); err != nil {
		f.file.Close()
		return err
	}
	return f.file.Close()
}

// crash is the child process of TestCrash: it writes a file and kills itself
// before a step, or in the middle of it.
func crash(spec string) {
	fail := func(err error) {
		fmt.Println("FAILED:", err)
		os.Exit(3) //nolint:forbidigo // this is a process of its own
	}
	part := strings.Split(spec, "|")
	if len(part) != 4 {
		fail(errors.New("spec " + spec))
	}
	step, err := strconv.Atoi(part[0])
	if err != nil {
		fail(err)
	}
	die := func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fail(fmt.Errorf("not killed: %w", err))
	}
	sys := &recorder{}
	if part[1] == "before" {
		sys.before = func(n int, _ string) error {
			if n == step {
				die()
			}
			return nil
		}
	} else {
		sys.half = func(n int) {
			if n == step {
				die()
			}
		}
	}
	f, err := open(part[2])
	if err != nil {
		fail(err)
	}
	if _, err := Write(context.Background(), f, WriteOptions{Backup: part[3], system: sys}); err != nil {
		fail(err)
	}
	fmt.Println("WRITTEN")
}

// TestCrash kills a process at each step of a write. Whatever it was doing, the
// file is then the original or the repaired one, and a later run does its work
// as if nothing had been.
func TestCrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts hundreds of processes")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills, original, done := 0, 0, 0
	run := func(t *testing.T, how string, step, size int, suffix string) (more bool) {
		t.Helper()
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		text := body(size)
		makeFile(t, path, text, 0o640)
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d|%s|%s|%s", crashEnv, step, how, path, suffix), "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		if bytes.Contains(out, []byte("FAILED")) {
			t.Fatalf("step %d: %s", step, out)
		}
		if err != nil {
			kills++
		}
		got, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case bytes.Equal(got, text):
			original++
		case bytes.Equal(got, repaired(text)):
			done++
		default:
			t.Fatalf("%s step %d of %d bytes: the file has %d bytes that are neither", how, step, size, len(got))
		}
		left := beside(t, dir)
		for _, name := range left {
			switch {
			case name == "s.jsonl", strings.HasPrefix(name, ".s.jsonl.toolguard-"):
			case name == "s.jsonl"+suffix:
				holds(t, filepath.Join(dir, name), text) // never a part of it
			default:
				t.Fatalf("%s step %d: left behind %s", how, step, name)
			}
		}
		makeFile(t, path, text, 0o640)
		f := opened(t, path)
		if _, err := Write(t.Context(), f, WriteOptions{Backup: suffix}); err != nil {
			t.Fatalf("%s step %d: the next run: %v", how, step, err)
		}
		holds(t, path, repaired(text))
		for _, name := range left {
			if !slices.Contains(beside(t, dir), name) {
				t.Errorf("%s step %d: the next run removed %s", how, step, name)
			}
		}
		return err != nil
	}
	for _, size := range []int{0, 100, copySize, 2*copySize + 1, 4*copySize + 7} {
		for _, suffix := range []string{"", ".bak"} {
			for step := 0; run(t, "before", step, size, suffix); step++ {
				run(t, "within", step, size, suffix)
			}
		}
	}
	t.Logf("%d kills: %d times the original, %d times the repaired file", kills, original, done)
	if kills < 200 || original < 100 || done < 8 {
		t.Errorf("only %d kills, %d originals, %d repaired files", kills, original, done)
	}
}

// BenchmarkWrite writes a file with an edit in each of its lines.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{6000, 60000} {
		b.Run(fmt.Sprintf("edits=%d", n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "s.jsonl")
			makeFile(b, path, body(16*n), 0o600)
			var edits []edit.Edit
			for i := range int64(n) {
				edits = append(edits, edit.Edit{Span: transcript.Span{Start: 16 * i, End: 16*i + 1}, Text: []byte("x")})
			}
			for b.Loop() {
				f := opened(b, path)
				var err error
				if f.Pieces, err = edit.Apply(f.Source, edits); err != nil {
					b.Fatal(err)
				}
				if _, err := Write(b.Context(), f, WriteOptions{system: noSync{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// noSync is the real file system, but for waiting for the disk.
type noSync struct{ realFiles }

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
