package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/write"
)

// fixture copies a file to a directory and sets an old modification time.
func fixture(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFixWrittenWithError: a file that has its new text although writing it failed counts as
// repaired and as failed, and one that keeps its old text as not repaired.
func TestFixWrittenWithError(t *testing.T) {
	t.Parallel()
	const unsynced = "repaired, but the repair may be lost in a power failure: input/output error\n"
	repaired := strings.Replace(cut, `"content":"well?"`, `"content":[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"well?"}]`, 1)
	for _, tt := range []struct {
		name    string
		written bool
		args    []string
		text    string
		stdout  string
		stderr  string
	}{
		{
			"written", true, nil, repaired,
			"s.jsonl: failed: " + unsynced,
			"toolguard: s.jsonl: " + unsynced + "Repaired 1 problem in 1 file (1 inserted). No problems left in the other files.\n1 file checked, 1 failed.\n",
		},
		{"written, and quiet", true, []string{"-q"}, repaired, "s.jsonl: failed: " + unsynced, "toolguard: s.jsonl: " + unsynced},
		{
			"not written", false,
			[]string{"-o", "concise"},
			cut,
			"s.jsonl:2:56: error: call \"c1\" to \"ls\" has no result [missing-tool-result]\ns.jsonl: failed: not written: no space left on device\n",
			"toolguard: s.jsonl: not written: no space left on device\n1 problem left. 1 file checked, 1 not repaired.\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := fixture(t, t.TempDir(), "s.jsonl", []byte(cut))
			var stdout, stderr bytes.Buffer
			a := newApp(strings.NewReader(""), &stdout, &stderr, noEnv)
			a.replace = func(ctx context.Context, f write.File, o write.Options) (*write.Done, error) {
				if !tt.written {
					return &write.Done{}, fmt.Errorf("%s: not written: no space left on device", f.Path)
				}
				done, err := write.Replace(ctx, f, o)
				if err != nil {
					return done, err
				}
				return done, fmt.Errorf("%s: %s", f.Path, strings.TrimSpace(unsynced))
			}
			code := a.run(t.Context(), append([]string{"fix", "--write"}, append(tt.args, path)...))
			if code != exitTrouble {
				t.Errorf("exit code %d", code)
			}
			named := func(text string) string { return strings.ReplaceAll(text, path, "s.jsonl") }
			if diff := cmp.Diff(tt.stdout, named(stdout.String())); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stderr, named(stderr.String())); diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != tt.text {
				t.Errorf("%v, %s", err, text)
			}
		})
	}
}

// runCommand runs a command line.
func runCommand(t testing.TB, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, stdin, &out, &errs, noEnv)
	return code, out.String(), errs.String()
}

// brokenFixtures returns the broken transcripts of the project that are repaired, or a sample
// of them that has each dialect, by name.
func brokenFixtures(t testing.TB) map[string][]byte {
	t.Helper()
	root := filepath.Join("..", "..", "testdata", "transcripts")
	paths, err := filepath.Glob(filepath.Join(root, "*", "broken", "*"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	out := map[string][]byte{}
	dialect := func(path string) []string { return []string{filepath.Dir(filepath.Dir(path))} }
	for _, path := range sample.Of(t, 10, paths, filepath.ToSlash, dialect) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := engine.Check(t.Context(), source.FromBytes(path, text), engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rep.File.CheckOnly != "" {
			continue // only-checked.txtar
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.ToSlash(rel)] = text
	}
	return out
}

// TestFixDiffApplies checks that git apply with the diff, --write and fix - give the
// same bytes.
func TestFixDiffApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	fixtures := brokenFixtures(t)
	t.Chdir(t.TempDir())
	for k, flags := range [][]string{nil, {"--safe-only"}, {"--unsafe"}, {"--send", "--unsafe", "--strategy", "missing-tool-result=strip"}} {
		changed := 0
		for i, name := range slices.Sorted(maps.Keys(fixtures)) {
			if (i+k)%sample.Size(1, 4, 4) > 0 {
				continue // it is tried with other flags
			}
			text := fixtures[name]
			label := fmt.Sprintf("%s %v", name, flags)
			patched := fixture(t, ".", name, text)
			written := fixture(t, "written", name, text)
			args := append([]string{"fix", "--backup="}, flags...)
			before, diff, errs := runCommand(t, nil, append(args, name)...)
			if before == exitTrouble {
				t.Errorf("%s: %s", label, errs)
				continue
			}
			code, _, errs := runCommand(t, nil, append(args, "--write", written)...)
			if code == exitTrouble {
				t.Errorf("%s: %s", label, errs)
			}
			if diff != "" {
				changed++
				git(t, diff)
			}
			want, err := os.ReadFile(written)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(patched); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v, (-written +patched):\n%s", label, err, cmp.Diff(string(want), string(got)))
			}
			if (diff == "") != bytes.Equal(want, text) {
				t.Errorf("%s: the diff is %q, and yet", label, diff)
			}
			piped, out, errs := runCommand(t, bytes.NewReader(text), append(args, "--stdin-filename", name, "-")...)
			if piped != code || out != string(want) {
				t.Errorf("%s: on standard output, exit code %d, %s (-written +printed):\n%s", label, piped, errs, cmp.Diff(string(want), out))
			}
			// A second run changes nothing.
			again, diff, errs := runCommand(t, nil, append(args, written)...)
			if again != code || diff != "" || !strings.Contains(errs, "Nothing to repair.") { // perhaps behind a warning
				t.Errorf("%s: repaired again: exit code %d after %d, %s%s", label, again, code, errs, diff)
			}
		}
		if changed < sample.Size(20, 2, 2) {
			t.Errorf("%v: only %d files were repaired", flags, changed)
		}
	}
}

// git applies a diff in the current directory.
func git(t testing.TB, diff string) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
	cmd.Stdin = strings.NewReader(diff)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("git apply: %v\n%s\n%s", err, out, diff)
	}
}

// TestDiffOfAbsolutePath checks that the diff of a file with an absolute path applies
// in the current directory.
func TestDiffOfAbsolutePath(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "transcripts", "anthropic", "broken", "cut-session.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	fixture(t, "in", "s.json", text)
	code, diff, errs := runCommand(t, nil, "fix", "--unsafe", filepath.Join(dir, "in"))
	if code != exitFindings || !strings.HasPrefix(diff, "--- a/in/s.json\n+++ b/in/s.json\n") {
		t.Fatalf("exit code %d, %s%s", code, errs, diff)
	}
	git(t, diff)
	if code, out, errs := runCommand(t, nil, "check", "in"); code != exitOK {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// TestFixAll repairs all fixtures in one run, and applies all diffs in one go.
func TestFixAll(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	fixtures := brokenFixtures(t)
	t.Chdir(t.TempDir())
	for name, text := range fixtures {
		fixture(t, "a", name, text)
		fixture(t, "b", name, text)
	}
	code, diff, errs := runCommand(t, nil, "fix", "--unsafe", "a")
	if code != exitFindings || diff == "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	git(t, diff)
	if code, _, errs := runCommand(t, nil, "fix", "--unsafe", "--write", "--backup=.orig", "b"); code != exitFindings {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	for name, text := range fixtures {
		a, err := os.ReadFile(filepath.Join("a", name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join("b", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: (-patched +written):\n%s", name, cmp.Diff(string(a), string(b)))
		}
		kept, err := os.ReadFile(filepath.Join("b", name) + ".orig")
		if bytes.Equal(b, text) != os.IsNotExist(err) || err == nil && !bytes.Equal(kept, text) {
			t.Errorf("%s: the original is %d bytes, %v", name, len(kept), err)
		}
	}
}

// TestFixLeavesWholeFilesAlone checks that a file without repairs is not written,
// not even with the same bytes.
func TestFixLeavesWholeFilesAlone(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata", "transcripts")
	paths, err := filepath.Glob(filepath.Join(root, "*", "ok", "*"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	dir := t.TempDir()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		copied := fixture(t, dir, rel, text)
		before, err := os.Stat(copied)
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := runCommand(t, nil, "fix", "--write", "--unsafe", "--backup", copied)
		after, err := os.Stat(copied)
		if err != nil {
			t.Fatal(err)
		}
		if code != exitOK || out != "" || !strings.HasPrefix(errs, "Nothing to repair. ") {
			t.Errorf("%s: exit code %d, %s%s", rel, code, out, errs)
		}
		if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
			t.Errorf("%s was written: %v, %v", rel, before, after)
		}
		if _, err := os.Stat(copied + ".bak"); err == nil {
			t.Errorf("%s has a backup", rel)
		}
	}
}

// TestFixKeepsUnrepaired checks the same for a file with findings that are not
// repaired.
func TestFixKeepsUnrepaired(t *testing.T) {
	t.Parallel()
	path := fixture(t, t.TempDir(), "s.jsonl", []byte(`{"role":"user","content":"q"}
{"role":"tool","tool_call_id":"c9","content":"x"}
{"role":"assistant","content":"a"}
`))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	code, _, errs := runCommand(t, nil, "fix", "--write", path)
	if code != exitFindings || errs != "Nothing to repair. 1 problem left (1 fixable with --unsafe). 1 file checked.\n" {
		t.Errorf("exit code %d, %s", code, errs)
	}
	after, err := os.Stat(path)
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("it was written: %v, %v, %v", before, after, err)
	}
}

func TestFixBrokenPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := []string{fixture(t, dir, "a.jsonl", []byte(cut)), fixture(t, dir, "b.jsonl", []byte(cut))}
	var stderr bytes.Buffer
	for _, args := range [][]string{{"fix", "-"}, {"fix", "--diff", "-"}, {"fix", paths[0]}, {"fix", "--color", "always", paths[0]}, {"fix", "-o", "json", paths[0]}} {
		stderr.Reset()
		code := run(t.Context(), args, strings.NewReader(cut), brokenWriter{syscall.EPIPE}, &stderr, noEnv)
		if code == exitTrouble {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
	// All files are repaired even if nobody reads the report.
	stderr.Reset()
	code := run(t.Context(), []string{"fix", "--write", "--safe-only", "-o", "text", paths[0], paths[1]}, nil, brokenWriter{syscall.EPIPE}, &stderr, noEnv)
	if code != exitFindings {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
	code = run(t.Context(), []string{"fix", "--write", "-o", "json", paths[0], paths[1]}, nil, brokenWriter{syscall.EPIPE}, &stderr, noEnv)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("[toolguard] No result")) {
			t.Errorf("exit code %d, %s: %s, %v", code, path, text, err)
		}
	}
}

func TestFixFullDisk(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"fix", "-"}, {"fix", "--diff", "-"}, {"fix", "--diff", "--color", "always", "-"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(cut), brokenWriter{syscall.ENOSPC}, &stderr, noEnv)
		if code != exitTrouble || !strings.HasSuffix(stderr.String(), "toolguard: standard output: no space left on device\n") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

func TestFixInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fixture(t, dir, "s.jsonl", []byte(cut))
	for _, args := range [][]string{{"fix", "--write", path}, {"fix", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		stdin, w := io.Pipe()
		defer w.Close()
		if len(args) == 3 {
			cancel()
		} else {
			time.AfterFunc(10*time.Millisecond, cancel)
		}
		var stderr bytes.Buffer
		if code := run(ctx, args, stdin, io.Discard, &stderr, noEnv); code != exitInterrupted || stderr.Len() > 0 {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr.String())
		}
		cancel()
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != cut {
		t.Errorf("%s, %v", text, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestFixLongLine(t *testing.T) {
	t.Parallel()
	text := strings.Replace(cut, `"q"`, `"`+strings.Repeat("q", longestShown)+`"`, 1)
	path := fixture(t, t.TempDir(), "s.jsonl", []byte(text))
	code, out, errs := runCommand(t, nil, "fix", path)
	want := fmt.Sprintf("toolguard: warning: %s: the diff is not shown, because it has a line of %d bytes; --diff prints it\n", path, longestShown+29)
	if code != exitFindings || out != "" || !strings.HasPrefix(errs, want) {
		t.Errorf("exit code %d, %d bytes, %s, want %s", code, len(out), errs, want)
	}
	code, out, errs = runCommand(t, nil, "fix", "--diff", path)
	if code != exitFindings || len(out) < longestShown || strings.Contains(errs, "warning") {
		t.Errorf("with --diff: exit code %d, %d bytes, %s", code, len(out), errs)
	}
}

// TestFixSecondName checks that a file with two names is repaired once.
func TestFixSecondName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := fixture(t, dir, "s.jsonl", []byte(cut))
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink("s.jsonl", link); err != nil {
		t.Skip(err)
	}
	code, _, errs := runCommand(t, nil, "fix", "--write", path, link)
	if want := path + ": repaired 1 problem (1 inserted)\nRepaired 1 problem in 1 file (1 inserted). No problems left.\n"; code != exitOK || errs != want {
		t.Errorf("exit code %d, %s, want %s", code, errs, want)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

func TestFixReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	needsUser(t)
	dir := t.TempDir()
	path := fixture(t, dir, "s.jsonl", []byte(cut))
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	code, _, errs := runCommand(t, nil, "fix", "--write", path)
	if want := "toolguard: " + path + ": not written: cannot create a file in its directory\n"; code != exitTrouble || !strings.HasPrefix(errs, want) {
		t.Errorf("exit code %d, %s, want %s", code, errs, want)
	}
}

// failingReader fails like standard input that is a directory.
type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("is a directory") }

func TestFixUnreadableStdin(t *testing.T) {
	t.Parallel()
	code, out, errs := runCommand(t, failingReader{}, "fix", "-")
	if code != exitTrouble || out != "" || !strings.HasPrefix(errs, "toolguard: <stdin>: is a directory\n") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}

// TestFixProve: a large dataset is repaired alike whatever --prove says.
func TestFixProve(t *testing.T) {
	t.Parallel()
	const sound = `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"%s"},{"role":"assistant","content":"a"}]}` + "\n"
	row := fmt.Sprintf(sound, strings.Repeat("x", 30<<10))
	broken := strings.Replace(row, `{"role":"tool","tool_call_id":"c1",`, `{"role":"user",`, 1)
	rows := strings.Repeat(strings.Repeat(row, 70)+broken, 4)
	placeholder := `{"role":"tool","tool_call_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run."},`
	want := strings.ReplaceAll(rows, `]},{"role":"user"`, `]},`+placeholder+`{"role":"user"`)
	if len(rows) < 8<<20 {
		t.Fatalf("the dataset has %d bytes", len(rows))
	}
	for _, how := range []string{"--prove=auto", "--prove=full"} {
		path := fixture(t, t.TempDir(), "rows.jsonl", []byte(rows))
		var stdout, stderr bytes.Buffer
		a := newApp(strings.NewReader(""), &stdout, &stderr, noEnv)
		code := a.run(t.Context(), []string{"fix", "-q", "--write", "--isolated", how, "--strategy", "missing-tool-result=insert", path})
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if code != 0 || stdout.String()+stderr.String() != "" || string(got) != want {
			t.Errorf("%s: exit code %d, %s%s; the text is right: %t", how, code, stdout.String(), stderr.String(), string(got) == want)
		}
	}
}
