package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))

// run begins a run in a state directory.
func run(state string) *Run {
	return NewRun(func() (string, error) { return filepath.Join(state, "toolguard", "backups"), nil }, started)
}

// original makes a file.
func original(t *testing.T, path, text string) fs.FileInfo {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, started, started); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// keep keeps a file.
func keep(t *testing.T, r *Run, path, text string) *Kept {
	t.Helper()
	k, err := r.Keep(t.Context(), path, original(t, path, text), []string{"missing-tool-result"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// record says what a file is replaced by.
func record(t *testing.T, k *Kept, text string) {
	t.Helper()
	if err := k.Record(int64(len(text)), sha256.Sum256([]byte(text))); err != nil {
		t.Fatal(err)
	}
}

// tree lists a directory with what is in its files.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if want := fs.FileMode(0o600); runtime.GOOS != "windows" && name != "." {
			if e.IsDir() {
				want = fs.ModeDir | 0o700
			}
			if info.Mode() != want {
				t.Errorf("%s: mode %v", name, info.Mode())
			}
		}
		if e.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestKeep(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	r := run(state)
	if got := tree(t, state); len(got) > 0 {
		t.Errorf("before anything is kept there is %v", got)
	}
	a, b, c := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "c.jsonl")
	first := keep(t, r, a, "old a")
	record(t, first, "new a")
	second := keep(t, r, b, "old b")
	record(t, second, "new b")
	second.Withdraw()
	third := keep(t, r, c, "old c")
	record(t, third, "new c")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	const at = "toolguard/backups/20260102T020405Z"
	if want := filepath.Join(state, filepath.FromSlash(at), "0001-a.jsonl"); first.Name() != want {
		t.Errorf("kept as %s, want %s", first.Name(), want)
	}
	line := func(path, name, before, after string) string {
		mode := "0640"
		if runtime.GOOS == "windows" {
			mode = "0666"
		}
		quoted, err := json.Marshal(path)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"version":1,"path":%s,"copy":"%s","mode":"%s","modified":%q,`+
			`"before":{"bytes":5,"sha256":"%x"},"after":{"bytes":5,"sha256":"%x"},"rules":["missing-tool-result"]}`+"\n",
			quoted, name, mode, original(t, path, before).ModTime().Format(time.RFC3339Nano), sha256.Sum256([]byte(before)), sha256.Sum256([]byte(after)))
	}
	want := map[string]string{
		at + "/0001-a.jsonl":   "old a",
		at + "/0003-c.jsonl":   "old c",
		at + "/manifest.jsonl": line(a, "0001-a.jsonl", "old a", "new a") + line(c, "0003-c.jsonl", "old c", "new c"),
	}
	if diff := cmp.Diff(want, tree(t, state)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRunsApart: runs that begin in the same second do not meet.
func TestRunsApart(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	for range 3 {
		r := run(state)
		record(t, keep(t, r, filepath.Join(dir, "a.jsonl"), "a"), "b")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(state, "toolguard", "backups"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"20260102T020405Z", "20260102T020405Z-2", "20260102T020405Z-3"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWithdrawAll: a run that replaced nothing leaves nothing, and can go on.
func TestWithdrawAll(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	r := run(state)
	k := keep(t, r, path, "a")
	k.Withdraw()
	k = keep(t, r, path, "a")
	record(t, k, "b")
	k.Withdraw()
	if got, err := os.ReadDir(filepath.Join(state, "toolguard", "backups")); err != nil || len(got) > 0 {
		t.Errorf("left behind: %v, %v", got, err)
	}
	record(t, keep(t, r, path, "a"), "b")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, state); len(got) != 2 {
		t.Errorf("kept: %v", got)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fs.ErrInvalid }

func TestKeepFails(t *testing.T) {
	t.Parallel()
	state, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	info := original(t, path, "a")
	r := run(state)
	if _, err := r.Keep(t.Context(), path, info, nil, brokenReader{}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Keep(ctx, path, info, nil, strings.NewReader("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := tree(t, state); len(got) > 0 {
		t.Errorf("left behind: %v", got)
	}
	none := errors.New("no directory")
	r = NewRun(func() (string, error) { return "", none }, started)
	if _, err := r.Keep(t.Context(), path, info, nil, strings.NewReader("a")); !errors.Is(err, none) {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	// A file where a directory should be.
	if err := os.WriteFile(filepath.Join(state, "toolguard", "backups", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r = NewRun(func() (string, error) { return filepath.Join(state, "toolguard", "backups", "file"), nil }, started)
	if _, err := r.Keep(t.Context(), path, info, nil, strings.NewReader("a")); err == nil {
		t.Error("kept in a file")
	}
}

// TestNames: what cannot stand in a manifest as it is, or is too long for the name
// of a copy.
func TestNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("names are text there")
	}
	state, dir := t.TempDir(), t.TempDir()
	r := run(state)
	for _, name := range []string{"\xff.jsonl", strings.Repeat("ü", 127)} {
		path := filepath.Join(dir, name)
		k := keep(t, r, path, "a")
		record(t, k, "b")
		if base := filepath.Base(k.Name()); len(base) > 5+mostName {
			t.Errorf("%q is called %q", name, base)
		}
	}
	text, err := os.ReadFile(filepath.Join(r.dir, Manifest))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if raw := filepath.Join(dir, "\xff.jsonl"); i == 0 && string(e.RawPath) != raw || i == 1 && e.RawPath != nil {
			t.Errorf("line %d: %q", i, e.RawPath)
		}
		// Whoever reads the manifest finds the copy.
		if _, err := os.Stat(filepath.Join(r.dir, e.Copy)); err != nil {
			t.Errorf("line %d: %v", i, err)
		}
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its paths look different")
	}
	for _, tt := range []struct {
		system    string
		env       map[string]string
		want, err string
	}{
		{"linux", map[string]string{"HOME": "/home/kim"}, "/home/kim/.local/state/toolguard/backups", ""},
		{"linux", map[string]string{"HOME": "/home/kim", "XDG_STATE_HOME": "/state"}, "/state/toolguard/backups", ""},
		{"linux", map[string]string{"HOME": "/home/kim", "XDG_STATE_HOME": "state"}, "/home/kim/.local/state/toolguard/backups", ""},
		{"linux", nil, "", "no state directory: neither $XDG_STATE_HOME nor $HOME is an absolute path"},
		{"darwin", map[string]string{"HOME": "/Users/kim"}, "/Users/kim/Library/Application Support/toolguard/backups", ""},
		{"windows", map[string]string{"LOCALAPPDATA": "/c/local"}, "/c/local/toolguard/backups", ""},
		{"windows", map[string]string{"HOME": "/home/kim"}, "", "no state directory: neither $XDG_STATE_HOME nor $LOCALAPPDATA is an absolute path"},
	} {
		got, err := Dir(func(name string) string { return tt.env[name] }, tt.system)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if got != tt.want || message != tt.err {
			t.Errorf("%s, %v: %q, %q", tt.system, tt.env, got, message)
		}
	}
}

// The copies of a file are found again by the manifests, whatever else lies there.
func TestCopies(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for range 2 {
		run := NewRun(func() (string, error) { return root, nil }, time.Unix(0, 0))
		kept, err := run.Keep(t.Context(), path, info, nil, strings.NewReader("old\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := kept.Record(0, [32]byte{}); err != nil {
			t.Fatal(err)
		}
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
		want = append([]string{kept.Name()}, want...) // the newest first
	}
	torn := filepath.Join(root, "torn")
	if err := os.MkdirAll(torn, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(torn, Manifest), []byte(`{"path":"`+path), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Copies(root, path); !slices.Equal(got, want) {
		t.Errorf("copies %q, want %q", got, want)
	}
	if got := Copies(root, path+"x"); got != nil {
		t.Errorf("copies of another file: %q", got)
	}
}

// oddTime is a file with an odd modification time.
type oddTime struct {
	fs.FileInfo
	at time.Time
}

func (f oddTime) ModTime() time.Time { return f.at }

// TestOddTimeIsRefused: a manifest cannot say every time, and then nothing is kept or left.
func TestOddTimeIsRefused(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "backups")
	r := NewRun(func() (string, error) { return root, nil }, time.Now())
	for _, year := range []int{-1199, 10000} {
		info := oddTime{at: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)}
		_, err := r.Keep(t.Context(), "/s", info, nil, strings.NewReader("x"))
		if want := fmt.Sprintf("its modification time is in the year %d, which a manifest cannot say", year); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of runs exists: %v", err)
	}
}

// TestDatabase: a run keeps a copy of a database and the rows that it changes. What is withdrawn is gone.
func TestDatabase(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	r := NewRun(func() (string, error) { return root, nil }, time.Unix(1780000000, 0))
	keep := func() *Kept {
		t.Helper()
		kept, err := r.KeepDatabase(t.Context(), file, info, []string{"duplicate-call-id"}, func(name string) error {
			if before, err := os.ReadFile(name); err != nil || len(before) > 0 {
				t.Errorf("%q, %v", before, err)
			}
			return os.WriteFile(name, []byte("a copy"), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	kept := keep()
	write := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if err := kept.RecordRows(write("rows")); err != nil {
		t.Fatal(err)
	}
	// A second line says what the database has become. If it is cut off, the first one stands.
	after := Content{Bytes: 3, SHA256: "ab"}
	if err := kept.RecordAfter(after); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(root, "20260528T202640Z", Manifest)
	lines, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for cut, want := range map[int]Content{0: after, 2: {}, len(lines) / 4: {}} {
		if err := os.WriteFile(manifest, lines[:len(lines)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range About(root, file) {
			if n++; e.After != want || e.Rows != "0001-a.db.rows.jsonl" {
				t.Errorf("without %d bytes: %+v", cut, e)
			}
		}
		if n != 1 {
			t.Errorf("without %d bytes: %d entries", cut, n)
		}
	}
	if err := os.WriteFile(manifest, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	dropped := keep()
	if err := dropped.RecordRows(write("others")); err != nil {
		t.Fatal(err)
	}
	dropped.Withdraw()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for past, e := range About(root, file) {
		n++
		copied, err := os.ReadFile(past.CopyOf(e))
		if err != nil || string(copied) != "a copy" {
			t.Errorf("%q, %v", copied, err)
		}
		changed, err := os.ReadFile(past.RowsOf(e))
		if err != nil || string(changed) != "rows" {
			t.Errorf("%q, %v", changed, err)
		}
		want := Entry{
			Version: 1, Path: file, Copy: "0001-a.db", Rows: "0001-a.db.rows.jsonl", Mode: "0640", Modified: info.ModTime(), Rules: []string{"duplicate-call-id"},
			Before: Content{Bytes: 6, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte("a copy")))}, After: after,
		}
		if diff := cmp.Diff(want, *e); diff != "" {
			t.Error(diff)
		}
	}
	left, err := os.ReadDir(filepath.Join(root, "20260528T202640Z"))
	if err != nil || n != 1 || len(left) != 3 {
		t.Errorf("%d entries, %v, %v", n, left, err)
	}
	dir, err := DatabaseDir(func(name string) string { return map[string]string{"HOME": "/home/kim"}[name] }, "linux")
	if err != nil || dir != "/home/kim/.local/state/toolguard/databases" {
		t.Error(dir, err)
	}
}
