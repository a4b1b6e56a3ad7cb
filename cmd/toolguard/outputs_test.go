package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/report"
)

// reportOf runs check on files in a format and returns the report, once on standard output
// and once as a file, and standard error.
func reportOf(t *testing.T, format string, files ...string) (stdout, file, stderr string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report")
	env := func(key string) string {
		if key == "SOURCE_DATE_EPOCH" {
			return "1700000000"
		}
		return ""
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"check", "-o", format}, files...), nil, &out, &errs, env); code != exitTrouble {
		t.Errorf("%s: exit code %d, want %d\n%s", format, code, exitTrouble, errs.String())
	}
	var none bytes.Buffer
	if code := run(t.Context(), append([]string{"check", "-o", format + "=" + name}, files...), nil, &none, &none, env); code != exitTrouble {
		t.Errorf("%s in a file: exit code %d, want %d\n%s", format, code, exitTrouble, none.String())
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), string(raw), errs.String()
}

// TestFailedFilesInReports checks that each format tells of files that could not be checked,
// beside a good and a bad one, on standard output as in a file, and that standard error does
// too: a missing file, one that cannot be read, and one that is not a transcript. A file
// without permission is reported like a missing one.
func TestFailedFilesInReports(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has other messages for missing files")
	}
	goldens, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"good.jsonl":   `{"role":"user","content":"q"}` + "\n",
		"bad.jsonl":    cut,
		"torn.json.gz": "\x1f\x8b\x08\x00",
		"other.json":   `{"name":"left-pad","version":"1.3.0"}`,
		"denied.json":  cut,
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod("denied.json", 0); err != nil {
		t.Fatal(err)
	}
	_, err = os.ReadFile("denied.json") // root reads it
	denied := errors.Is(err, fs.ErrPermission)
	// GitLab's fingerprint of a failed file depends on the path.
	fingerprint := regexp.MustCompile(`"fingerprint":"[0-9a-f]+"`)
	files := []string{"good.jsonl", "bad.jsonl", "gone.json", "torn.json.gz", "other.json"}
	for _, f := range report.Formats() {
		stdout, file, stderr := reportOf(t, f.Name, files...)
		if file != stdout {
			t.Errorf("%s: the report in a file is\n%s\nand on standard output\n%s", f.Name, file, stdout)
		}
		golden.File(t, filepath.Join(goldens, "failed."+f.Name+".golden"), "-- standard output --\n"+stdout+"-- standard error --\n"+stderr)
		if !denied {
			continue
		}
		_, gone, _ := reportOf(t, f.Name, "good.jsonl", "gone.json")
		_, file, _ = reportOf(t, f.Name, "good.jsonl", "denied.json")
		wanted := strings.NewReplacer("gone.json", "denied.json", "no such file or directory", "permission denied").Replace(gone)
		if fingerprint.ReplaceAllString(file, "") != fingerprint.ReplaceAllString(wanted, "") {
			t.Errorf("%s: without permission\n%s\nwant\n%s", f.Name, file, wanted)
		}
	}
}

// TestFailedFilesOnce checks that a report for people does not name a failed file if standard
// error goes to the same file and has just named it. Formats for programs always name it.
func TestFailedFilesOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, f := range report.Formats() {
		both, err := os.Create("both")
		if err != nil {
			t.Fatal(err)
		}
		code := run(t.Context(), []string{"check", "-q", "-o", f.Name, "gone.json"}, nil, both, both, noEnv)
		both.Close()
		text, err := os.ReadFile("both")
		if err != nil {
			t.Fatal(err)
		}
		want := 2
		if f.Human {
			want = 1
		}
		if n := strings.Count(string(text), "gone.json"); code != exitTrouble || n != want {
			t.Errorf("%s: exit code %d, the file is named %d times, want %d\n%s", f.Name, code, n, want, text)
		}
	}
}

// TestReportsOnStreams checks that a report whose file is a standard stream is written to the
// stream, whatever the stream is called. A new file in its place would lose what is written
// to the stream otherwise. Two reports on one stream are an error before anything is read.
func TestReportsOnStreams(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("streams have no names there")
	}
	t.Chdir(t.TempDir())
	path := fixture(t, ".", "s.jsonl", []byte(cut))
	for stream, names := range map[string][]string{
		"standard output": {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stdout", "stdout", "./stdout", "link-stdout", "hard-stdout"},
		"standard error":  {"/dev/stderr", "/dev/fd/2", "/proc/self/fd/2", "/dev/../dev/stderr", "stderr", "./stderr", "link-stderr", "hard-stderr"},
	} {
		// check runs check with two regular files as its streams, and returns them.
		check := func(args ...string) (code int, stdout, stderr string) {
			var files [2]*os.File
			for i, name := range []string{"stdout", "stderr"} {
				for _, old := range []string{name, "link-" + name, "hard-" + name} {
					os.Remove(old)
				}
				f, err := os.Create(name)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				files[i] = f
				if err := errors.Join(os.Symlink(name, "link-"+name), os.Link(name, "hard-"+name)); err != nil {
					t.Fatal(err)
				}
			}
			code = run(t.Context(), append([]string{"check"}, args...), nil, files[0], files[1], noEnv)
			var texts [2]string
			for i, name := range []string{"stdout", "stderr"} {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				texts[i] = string(text)
			}
			return code, texts[0], texts[1]
		}
		_, want, _ := check("-o", "json", path)
		for _, name := range names {
			code, stdout, stderr := check("-o", "json="+name, path)
			if stream == "standard error" {
				stdout, stderr = stderr, stdout
			}
			if code != exitFindings || stdout != want || stderr != "" {
				t.Errorf("json=%s: exit code %d, %s is\n%s\nwant\n%s\nand the other one\n%s", name, code, stream, stdout, want, stderr)
			}
			first := names[0]
			code, stdout, stderr = check("-o", "text="+first, "-o", "json="+name, "gone.json")
			message := "toolguard: --output-format: text=" + first + " and json=" + name + " both write to " + stream + "\n"
			if code != exitTrouble || stdout != "" || stderr != message {
				t.Errorf("json=%s beside text=%s: exit code %d\n%s%s, want %s", name, first, code, stdout, stderr, message)
			}
		}
	}

	// Another stream that is a regular file keeps what it has.
	log, err := os.OpenFile("log", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := runCommand(t, nil, "check", "-q", "-o", "concise=/dev/fd/"+strconv.Itoa(int(log.Fd())), path)
	if _, err := log.WriteString("after\n"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("log")
	want := "before\ns.jsonl:2:56: error: call \"c1\" to \"ls\" has no result [missing-tool-result]\nafter\n"
	if code != exitFindings || err != nil || string(text) != want {
		t.Errorf("another stream: exit code %d, %v\n%s%s, want\n%s", code, err, stderr, text, want)
	}

	// The null device takes any number of reports.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if code := run(t.Context(), []string{"check", "-o", "text", "-o", "json=/dev/null", path}, nil, null, null, noEnv); code != exitFindings {
		t.Errorf("the null device: exit code %d", code)
	}
}

// TestOutputsThatCannotBeWritten checks that a report of any format that cannot be written is
// an error with exit code 2, that nothing waits for a reader, and that an existing file is
// replaced only by a whole report.
func TestOutputsThatCannotBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no named pipes and devices")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := exec.Command("mkfifo", "pipe").Run(); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Formats() {
		for _, tt := range []struct{ name, want string }{
			{"pipe", "pipe: is not a regular file"},
			{"/dev/full", "/dev/full: is not a regular file"},
			{"dir", "dir: is a directory"},
			{"none/report", "none/report: no such file or directory"},
		} {
			if _, err := os.Stat("/dev/full"); err != nil && tt.name == "/dev/full" {
				continue
			}
			for _, args := range [][]string{{"check"}, {"fix", "--write"}} {
				path := fixture(t, dir, "s.jsonl", []byte(cut))
				done := make(chan struct{})
				var code int
				var stdout, stderr string
				go func() {
					defer close(done)
					code, stdout, stderr = runCommand(t, nil, append(args, "-o", f.Name+"="+tt.name, path)...)
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatalf("%q to %s waits", args, tt.name)
				}
				if want := "toolguard: " + tt.want + "\n"; code != exitTrouble || stdout != "" || stderr != want {
					t.Errorf("%q -o %s=%s: exit code %d\n%s%s, want %s", args, f.Name, tt.name, code, stdout, stderr, want)
				}
				if text, err := os.ReadFile(path); err != nil || string(text) != cut {
					t.Errorf("%q to %s changed the transcript: %v", args, tt.name, err)
				}
			}
		}

		// A full disk below standard output.
		if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
			var stderr bytes.Buffer
			code := run(t.Context(), []string{"check", "-o", f.Name, "s.jsonl"}, nil, full, &stderr, noEnv)
			full.Close()
			if want := "toolguard: standard output: no space left on device\n"; code != exitTrouble || stderr.String() != want {
				t.Errorf("%s to a full disk: exit code %d\n%s", f.Name, code, stderr.String())
			}
		}

		// An existing file, with a run that ends before the report is complete, and a whole one.
		const before = "an older report"
		if err := errors.Join(os.WriteFile("report", []byte(before), 0o640), os.Chmod("report", 0o640)); err != nil { // under any umask
			t.Fatal(err)
		}
		if code, _, stderr := runCommand(t, nil, "check", "-o", f.Name+"=report", "-o", "text=dir", "s.jsonl"); code != exitTrouble {
			t.Errorf("%s beside one that fails: exit code %d\n%s", f.Name, code, stderr)
		}
		if text, err := os.ReadFile("report"); err != nil || string(text) != before {
			t.Errorf("%s: a run that failed left %q, %v", f.Name, text, err)
		}
		code, _, stderr := runCommand(t, nil, "check", "-q", "-o", f.Name+"=report", "s.jsonl")
		text, err := os.ReadFile("report")
		if code != exitFindings || stderr != "" || err != nil || strings.Contains(string(text), before) || !strings.Contains(string(text), "missing-tool-result") {
			t.Errorf("%s over an existing file: exit code %d, %v\n%s%s", f.Name, code, err, stderr, text)
		}
		if info, err := os.Stat("report"); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", f.Name, info.Mode(), err)
		}
		if names, err := filepath.Glob(".report*"); err != nil || len(names) > 0 {
			t.Errorf("%s left %v, %v", f.Name, names, err)
		}
	}
}
