package write

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
)

// The environment tells a child process what to do: to write a file and die or wait at a step
// (step|how|path|suffix|swap), or to write a file on request (path|suffix).
const (
	crashEnv = "TOOLGUARD_TEST_CRASH"
	loopEnv  = "TOOLGUARD_TEST_LOOP"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(crashEnv); spec != "" {
		crash(spec)
		return
	}
	if spec := os.Getenv(loopEnv); spec != "" {
		slowly(spec)
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // this is the end of the process
}

// fail ends a child process.
func fail(err error) {
	fmt.Println("FAILED:", err)
	os.Exit(3) //nolint:forbidigo // this is a process of its own
}

// crash is the child process of TestCrash: it replaces a file and kills itself before or in
// the middle of a step. In TestAliveThenKilled it waits before a step until it is killed.
func crash(spec string) {
	part := strings.Split(spec, "|")
	if len(part) != 5 {
		fail(errors.New("spec " + spec))
	}
	step, err := strconv.Atoi(part[0])
	if err != nil {
		fail(err)
	}
	die := func() {
		if part[1] == "wait" {
			fmt.Println("WAITS")
			select {}
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err == nil {
			select {} // until it has taken effect
		}
		fail(fmt.Errorf("not killed: %w", err))
	}
	sys := &recorder{swap: swapping(part[4])}
	if part[1] != "within" {
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
	if _, err := Replace(context.Background(), f, Options{Backup: part[3], system: sys}); err != nil {
		fail(err)
	}
	fmt.Println("WRITTEN")
}

// child returns the command of a child process.
func child(tb testing.TB, key, spec string) *exec.Cmd {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), key+"="+spec, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// afterKill checks the files after a kill: the original or the repaired file, complete
// backups, and at most one temporary copy. The next run must work as usual, and leave only
// files that it names: an original without a backup. If swept is set, there is a run before it
// that does not write the file and leaves nothing.
func afterKill(t *testing.T, label, path, suffix string, text []byte, swept bool) (replaced bool) {
	t.Helper()
	dir := filepath.Dir(path)
	got, err := os.ReadFile(path)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", label, err)
	case bytes.Equal(got, repaired(text)):
		replaced = true
	case !bytes.Equal(got, text):
		t.Fatalf("%s: the file has %d bytes that are neither", label, len(got))
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var copies []fs.FileInfo
	for _, name := range listing(t, dir) {
		switch name {
		case "s.jsonl":
		case "s.jsonl" + suffix:
			holds(t, filepath.Join(dir, name), text) // never a part of it
		case ".s.jsonl.toolguard-new", ".s.jsonl.toolguard-tmp", ".s.jsonl.toolguard-old":
			left, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			same := func(other fs.FileInfo) bool { return os.SameFile(left, other) }
			if !same(info) && !slices.ContainsFunc(copies, same) {
				copies = append(copies, left)
			}
		default:
			t.Fatalf("%s: left behind %s", label, name)
		}
	}
	if len(copies) > 1 {
		t.Errorf("%s: left behind %v", label, listing(t, dir))
	}
	if swept && !replaced {
		known := func(_ string, left io.Reader) bool {
			got, err := io.ReadAll(left)
			return err == nil && bytes.Equal(got, repaired(text))
		}
		if note := clean(path, Options{Backup: suffix, system: noSync{}, Known: known}); note != "" {
			t.Errorf("%s: a run that does not write it: %s", label, note)
		}
		for _, name := range listing(t, dir) {
			if strings.Contains(name, "toolguard") {
				t.Errorf("%s: a run that does not write it left %s", label, name)
			}
		}
		holds(t, path, text)
	}
	note := nextRun(t, path, suffix)
	holds(t, path, repaired(text))
	for _, name := range listing(t, dir) {
		if name == "s.jsonl.toolguard-left" && replaced && suffix == "" && strings.Contains(note, name+": ") {
			holds(t, filepath.Join(dir, name), text)
		} else if strings.Contains(name, "toolguard") {
			t.Errorf("%s: the next run left %s", label, name)
		}
	}
	return replaced
}

// TestCrash kills a process at each step of a write, on each kind of file
// system.
func TestCrash(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts hundreds of processes")
	}
	sizes, every := []int{copySize + 7}, 2
	if sample.Long() {
		sizes, every = []int{0, 100, copySize, copySize + 7, 2*copySize + 1, 4*copySize + 7}, 1
	}
	for _, swap := range swappings() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			kills, original, done := 0, 0, 0
			run := func(t *testing.T, how string, step, size int, suffix string) (more bool) {
				t.Helper()
				path := filepath.Join(t.TempDir(), "s.jsonl")
				text := body(size)
				makeFile(t, path, text, 0o640)
				out, err := child(t, crashEnv, fmt.Sprintf("%d|%s|%s|%s|%s", step, how, path, suffix, swap)).CombinedOutput()
				if bytes.Contains(out, []byte("FAILED")) {
					t.Fatalf("step %d: %s", step, out)
				}
				if err != nil {
					kills++
				}
				if afterKill(t, fmt.Sprintf("%s step %d of %d bytes", how, step, size), path, suffix, text, step%4 < 2) {
					done++
				} else {
					original++
				}
				return err != nil
			}
			for _, size := range sizes {
				for i, suffix := range []string{"", ".bak"} {
					for step := i % every; run(t, "before", step, size, suffix); step += every {
						run(t, "within", step, size, suffix)
					}
				}
			}
			t.Logf("%d kills: %d times the original, %d times the repaired file", kills, original, done)
			if kills < 40*len(sizes)/every || original < 30*len(sizes)/every || done < 4*len(sizes)/every {
				t.Errorf("only %d kills, %d originals, %d repaired files", kills, original, done)
			}
		})
	}
}

// slowly is the child process of TestKilledAtRandom: it announces that it is about to replace
// a file, and does it.
func slowly(spec string) {
	path, suffix, _ := strings.Cut(spec, "|")
	f, err := open(path)
	if err != nil {
		fail(err)
	}
	fmt.Println("READY")
	if _, err := Replace(context.Background(), f, Options{Backup: suffix}); err != nil {
		fail(err)
	}
	fmt.Println("WRITTEN")
}

// TestKilledAtRandom kills a process at random moments of a write.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	kills, done := sample.Size(1000, 20, 20), sample.Until(t)
	const size = 8 * copySize
	text := body(size)
	original, replaced := 0, 0
	span := 20 * time.Millisecond // how long a write takes, as far as is known
	for i := range kills {
		if i >= 20 && done() {
			t.Logf("stopped after %d of %d kills", i, kills)
			break
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, text, 0o640)
		suffix := []string{"", ".bak"}[i%2]
		cmd := child(t, loopEnv, path+"|"+suffix)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 64)
		if n, err := out.Read(line); err != nil || !bytes.HasPrefix(line[:n], []byte("READY")) {
			t.Fatalf("%s, %v", line[:n], err)
		}
		began := time.Now()
		time.Sleep(rand.N(span))
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			span = max(span/2, time.Since(began)) // it was faster than that
		}
		if afterKill(t, fmt.Sprintf("kill %d", i), path, suffix, text, i%4 < 2) {
			replaced++
		} else {
			original++
		}
	}
	t.Logf("%d times the original, %d times the repaired file", original, replaced)
	if original == 0 {
		t.Error("no kill came before the end")
	}
}

// TestAliveThenKilled stops a process at each step of a write. While it lives, another run that
// does not write its file changes nothing. After SIGKILL such a run removes the temporary files,
// also if the target does not exist any more, and no file that only looks like one of them.
func TestAliveThenKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() || isWindows {
		t.Skip("starts many processes; on Windows, open files cannot be removed")
	}
	every := sample.Size(1, 6, 6)
	text := body(100)
	known := func(_ string, left io.Reader) bool {
		got, err := io.ReadAll(left)
		return err == nil && (bytes.Equal(got, text) || bytes.Equal(got, repaired(text)))
	}
	sweep := func(t *testing.T, dir string) {
		t.Helper()
		notes := Sweep(dir, func(string) bool { return true }, func(string) Options {
			return Options{Known: known, now: func() time.Time { return time.Now().Add(time.Hour) }} // age tells nothing
		})
		if len(notes) > 0 {
			t.Errorf("%v", notes)
		}
	}
	for i, swap := range swappings() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			temporary := 0
			for step := i; ; step += every {
				dir := t.TempDir()
				path := filepath.Join(dir, "s.jsonl")
				makeFile(t, path, text, 0o640)
				foreign := []string{".s.jsonl.toolguard-tmp.swp", "s.jsonl.toolguard-new", ".s.jsonl.toolguard-new~", ".toolguard-old"}
				for _, name := range foreign {
					makeFile(t, filepath.Join(dir, name), nil, 0o600)
				}
				before := listing(t, dir)
				cmd := child(t, crashEnv, fmt.Sprintf("%d|wait|%s||%s", step, path, swap))
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				line := make([]byte, 64)
				n, _ := out.Read(line)
				if said := string(line[:n]); said != "WAITS\n" {
					if err := cmd.Wait(); err != nil || said != "WRITTEN\n" {
						t.Fatalf("step %d: %q, %v", step, said, err)
					}
					break
				}
				alive := listing(t, dir)
				sweep(t, dir)
				if diff := cmp.Diff(alive, listing(t, dir)); diff != "" {
					t.Errorf("step %d: it lives (-want +got):\n%s", step, diff)
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				if len(alive) > len(before) {
					temporary++
				}
				if step/every%2 == 0 {
					before = slices.DeleteFunc(before, func(name string) bool { return name == "s.jsonl" })
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				}
				sweep(t, dir)
				if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
					t.Errorf("step %d: it is dead (-want +got):\n%s", step, diff)
				}
			}
			if temporary < 12/every {
				t.Errorf("only %d of the processes had temporary files", temporary)
			}
		})
	}
}

// TestTwoAtOnce lets several writers replace one file at the same time. One of them wins, and
// the others get errors.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	text := body(4 * copySize)
	for round := range sample.Size(200, 10, 10) {
		dir := t.TempDir()
		path := filepath.Join(dir, "s.jsonl")
		makeFile(t, path, text, 0o640)
		var errs [4]error
		gate := make(chan struct{})
		ended := make(chan int)
		for i := range errs {
			f := opened(t, path)
			go func() {
				<-gate
				_, errs[i] = Replace(t.Context(), f, Options{})
				ended <- i
			}()
		}
		close(gate)
		for range errs {
			<-ended
		}
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.As(err, new(*refusal)) && !errors.Is(err, fs.ErrNotExist):
				t.Errorf("round %d: %v", round, err)
			}
		}
		if won != 1 {
			t.Errorf("round %d: %d of them wrote it: %v", round, won, errs)
		}
		holds(t, path, repaired(text))
		if got := listing(t, dir); len(got) != 1 {
			t.Errorf("round %d: left behind %v", round, got)
		}
	}
}

// killed is the panic value that simulates a kill in this process, without cleaning up.
type killed struct{}

// replaceUntilKilled replaces a file, and reports whether the run was killed.
func replaceUntilKilled(f File, suffix string, sys *recorder) (dead bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, dead = r.(killed); !dead {
				panic(r)
			}
			for _, f := range sys.opened {
				f.Close() // as the system does
			}
			for _, l := range sys.locks {
				l.Close()
			}
			f.Original.Close()
		}
	}()
	_, _ = Replace(context.Background(), f, Options{Backup: suffix, system: sys})
	return false
}

// found reports whether a record is in the file, or in one that a run named.
func found(t *testing.T, record, path, note string) bool {
	t.Helper()
	names := []string{path}
	for line := range strings.Lines(note) {
		name, _, _ := strings.Cut(line, ": ")
		names = append(names, name)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(record)) {
			return true
		}
	}
	return false
}

// nextRun does what the run after a kill does, and returns its note.
func nextRun(t *testing.T, path, suffix string) (note string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{Backup: suffix, system: noSync{}}
	if !bytes.HasPrefix(text, []byte("first\n")) {
		if _, err := Replace(t.Context(), opened(t, path), opts); err != nil {
			t.Fatalf("the next run: %v", err)
		}
	}
	return clean(path, opts)
}

// TestKilledAfterAppend: text that is appended between any two steps of a write, once or at
// each later step, is in the file after a kill at any later step and the next run, or in a
// file that this run names.
func TestKilledAfterAppend(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		for _, suffix := range []string{"", ".bak"} {
			for _, often := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s%s %v", swap, suffix, often), func(t *testing.T) {
					t.Parallel()
					base, runs, kept := t.TempDir(), 0, 0
					every := sample.Size(1, 6, 6)
					for from := 0; ; from++ {
						for until := from; ; until += every {
							dir := filepath.Join(base, fmt.Sprintf("%d-%d", from, until))
							if err := os.Mkdir(dir, 0o777); err != nil {
								t.Fatal(err)
							}
							path := filepath.Join(dir, "s.jsonl")
							makeFile(t, path, body(1000), 0o600)
							var records []string
							sys := &recorder{swap: swap}
							sys.before = func(n int, what string) error {
								// A file that grows with each copied piece is never copied
								// completely.
								if n == from || n > from && often && !copies(what) {
									record := fmt.Sprintf("record %d\n", n)
									if err := appendTo(path, record); err != nil {
										t.Error(err)
									}
									records = append(records, record)
								}
								if n == until {
									panic(killed{})
								}
								return nil
							}
							dead := replaceUntilKilled(opened(t, path), suffix, sys)
							note := nextRun(t, path, suffix)
							runs++
							if note != "" {
								kept++
							}
							for _, record := range records {
								if !found(t, record, path, note) {
									t.Errorf("appended at step %d, killed at %d (%s): %q is nowhere: %q", from, until, sys.steps[len(sys.steps)-1], record, listing(t, dir))
								}
							}
							if t.Failed() {
								return
							}
							os.RemoveAll(dir)
							if !dead {
								if until == from {
									t.Logf("%d runs, of which %d kept something", runs, kept)
									if runs < 150/every || kept == 0 {
										t.Error("too few")
									}
									return
								}
								break
							}
						}
					}
				})
			}
		}
	}
}

// TestKilledAgain kills the run after a kill as well. A record that only the temporary file
// has stays, and the last run names its file.
func TestKilledAgain(t *testing.T) {
	t.Parallel()
	eachStepWithLeft(t, func(path string, sys *recorder, step int) (more bool) {
		sys.before = func(n int, _ string) error {
			if n == step {
				panic(killed{})
			}
			return nil
		}
		return replaceUntilKilled(opened(t, path), "", sys)
	})
}

// eachStepWithLeft calls run for each step of a write that finds a record only in the
// temporary file of an earlier one. The next run must then have the record, or name its file.
func eachStepWithLeft(t *testing.T, run func(path string, sys *recorder, step int) (more bool)) {
	t.Helper()
	for _, swap := range swappings() {
		more := true
		for step := 0; more; step++ {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			makeFile(t, path, body(100), 0o600)
			makeFile(t, beside(path, tempMark), append(body(100), "record\n"...), 0o600)
			more = run(path, &recorder{swap: swap}, step)
			if note := nextRun(t, path, ""); !found(t, "record\n", path, note) {
				t.Fatalf("%s, step %d: the record is nowhere that is named: %q, %q", swap, step, note, listing(t, filepath.Dir(path)))
			}
		}
	}
}

// TestFailsWithLeft: whichever step of a run fails, data that only the temporary file has
// stays, and this run or the next one names the file.
func TestFailsWithLeft(t *testing.T) {
	t.Parallel()
	eachStepWithLeft(t, func(path string, sys *recorder, step int) (more bool) {
		sys.before = func(n int, what string) error {
			if n == step {
				return &fs.PathError{Op: what, Path: "somewhere", Err: errors.New("fails")}
			}
			return nil
		}
		_, _ = Replace(t.Context(), opened(t, path), Options{system: sys})
		return len(sys.steps) > step
	})
}

// copies reports whether a step is one of a copy.
func copies(step string) bool {
	return strings.HasPrefix(step, "read ") || strings.HasPrefix(step, "write ")
}
