package write

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
)

// at calls f before the first step of a kind that follows another kind.
func at(after, kind string, f func() error) func(int, string) error {
	passed, done := after == "", false
	return func(_ int, what string) error {
		step, _, _ := strings.Cut(what, " ")
		if done || !passed || step != kind {
			passed = passed || step == after
			return nil
		}
		done = true
		return f()
	}
}

// then calls one hook after the other.
func then(hooks ...func(int, string) error) func(int, string) error {
	return func(n int, what string) error {
		var err error
		for _, h := range hooks {
			err = errors.Join(err, h(n, what))
		}
		return err
	}
}

// swapStep is the first step of a way of swapping.
func swapStep(swap swapping) string {
	if swap == byExchange {
		return "exchange"
	}
	return "rename"
}

// reversible are the ways of swapping after which the old file can be put back.
func reversible() []swapping {
	return slices.DeleteFunc(swappings(), func(s swapping) bool { return s == byRename })
}

// aFile makes a file in a directory of its own.
func aFile(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.jsonl")
	makeFile(t, path, body(1000), 0o600)
	return path
}

// notWritten: a file that changes meanwhile is not replaced. It then contains the appended
// text, and no other file is left.
func notWritten(t *testing.T, path string, opts Options, appended string) {
	t.Helper()
	_, err := Replace(t.Context(), opened(t, path), opts)
	if err == nil || err.Error() != path+": not written: it changed after it was read" {
		t.Errorf("got %v", err)
	}
	holds(t, path, append(body(1000), appended...))
	if got := listing(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

// TestAppendedBeforeSwap: a record that is appended between the last check of the file and
// the swap is not lost.
func TestAppendedBeforeSwap(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := aFile(t)
			sys := &recorder{swap: swap, before: at("", swapStep(swap), func() error { return appendTo(path, "more\n") })}
			notWritten(t, path, Options{Backup: ".bak", system: sys}, "more\n")
		})
	}
}

// TestAppendedToBoth: text appended to the new file before the old one is put back is not
// lost either.
func TestAppendedToBoth(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := aFile(t)
			sys := &recorder{swap: swap}
			sys.before = then(
				at("", swapStep(swap), func() error { return appendTo(path, "one\n") }),
				at(swapStep(swap), "writer", func() error { return appendTo(path, "two\n") }))
			notWritten(t, path, Options{system: sys}, "one\ntwo\n")
		})
	}
}

// oldName is the name of the old file after a swap.
func oldName(path string, swap swapping) string {
	if swap == byExchange {
		return beside(path, tempMark)
	}
	return beside(path, asideMark)
}

// opensLate appends to a file like a program that looked up its former name before the n-th step
// of a kind. The program opens the file when toolguard waits for it, and at the latest when
// the file is about to be removed.
func opensLate(kind string, n int, name, text string) func(int, string) error {
	done := false
	return func(_ int, what string) error {
		step, _, _ := strings.Cut(what, " ")
		switch {
		case step == kind:
			n--
		case n <= 0 && !done && (step == "wait" || what == "remove "+name):
			done = true
			return appendTo(name, text)
		}
		return nil
	}
}

// TestOpenedAfterSwap: a program that looks up the name before the swap and opens the old file
// after it does not lose its record.
func TestOpenedAfterSwap(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		for _, force := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", swap, force), func(t *testing.T) {
				t.Parallel()
				path := aFile(t)
				sys := &recorder{swap: swap, before: opensLate(swapStep(swap), 1, oldName(path, swap), "more\n")}
				notWritten(t, path, Options{Backup: ".bak", Force: force, system: sys}, "more\n")
			})
		}
	}
}

// TestWait: the system gives programs a while to open a file.
func TestWait(t *testing.T) {
	t.Parallel()
	start := time.Now()
	realFiles{}.Wait()
	if took := time.Since(start); took < 20*time.Millisecond {
		t.Errorf("it took only %v", took)
	}
}

// TestOpenedAfterPutBack: the same for a program that opens the new file after the old one is
// put back.
func TestOpenedAfterPutBack(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := aFile(t)
			sys := &recorder{swap: swap}
			sys.before = then(
				at("", swapStep(swap), func() error { return appendTo(path, "one\n") }),
				at(swapStep(swap), "writer", func() error { return appendTo(path, "two\n") }),
				opensLate(swapStep(swap), 2, beside(path, tempMark), "three\n"))
			notWritten(t, path, Options{system: sys}, "one\ntwo\nthree\n")
		})
	}
}

// TestOpenForAMoment: with Force too, a program that has the file open during the swap has
// time to write its record and to close the file.
func TestOpenForAMoment(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := aFile(t)
			var agent *os.File
			sys := &recorder{swap: swap}
			sys.before = at("", swapStep(swap), func() (err error) {
				agent, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				return err
			})
			sys.writer = func(string) string {
				if agent != nil {
					if _, err := agent.WriteString("more\n"); err != nil {
						t.Error(err)
					}
					agent.Close()
					agent = nil
				}
				return ""
			}
			notWritten(t, path, Options{Force: true, system: sys}, "more\n")
		})
	}
}

// sameButNew puts another file in the place of a file, with the same size and time.
func sameButNew(path string, text []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(path+".new", text, 0o600),
		os.Chtimes(path+".new", info.ModTime(), info.ModTime()),
		os.Rename(path+".new", path))
}

// TestReplacedBeforeSwap: a file that another program puts in the place of the old one just
// before the swap keeps its place, even if it has the same size and time. If names cannot be
// exchanged, this holds until the last check before the rename.
func TestReplacedBeforeSwap(t *testing.T) {
	t.Parallel()
	for _, swap := range swappings() {
		steps := [][2]string{{"", "exchange"}}
		if swap != byExchange {
			steps = append(steps, [2]string{"exchange", "link"}, [2]string{"link", "stat"})
		}
		for _, step := range steps {
			t.Run(fmt.Sprintf("%s before %s", swap, step[1]), func(t *testing.T) {
				t.Parallel()
				path := aFile(t)
				text := bytes.ToUpper(body(1000))
				sys := &recorder{swap: swap, before: at(step[0], step[1], func() error { return sameButNew(path, text) })}
				_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
				if want := path + ": not written: it changed after it was read"; err == nil || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
				holds(t, path, text)
				if diff := cmp.Diff([]string{"s.jsonl"}, listing(t, filepath.Dir(path))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestNoLinks: a file that can have no second name is replaced without one, and its backup is
// renamed. Any other error of a link is reported, and nothing is written.
func TestNoLinks(t *testing.T) {
	t.Parallel()
	errno := map[syscall.Errno]bool{
		syscall.EPERM: true, syscall.ENOTSUP: true, syscall.ENOSYS: true, syscall.EMLINK: true,
		syscall.EACCES: false, syscall.EIO: false, syscall.ENOSPC: false, syscall.EROFS: false, syscall.ESTALE: false, syscall.EINVAL: false,
	}
	for errno, written := range errno {
		for _, backup := range []string{"", ".bak"} {
			path := aFile(t)
			sys := &recorder{swap: byRename, before: func(_ int, what string) error {
				if strings.HasPrefix(what, "link ") {
					return &os.LinkError{Op: "link", Old: "a", New: "b", Err: errno}
				}
				return nil
			}}
			_, err := Replace(t.Context(), opened(t, path), Options{Backup: backup, system: sys})
			want := []string{"s.jsonl"}
			if written {
				if err != nil {
					t.Errorf("%v: %v", errno, err)
				}
				holds(t, path, repaired(body(1000)))
				if backup != "" {
					want = append(want, "s.jsonl.bak")
					holds(t, path+backup, body(1000))
				}
			} else {
				if message := path + ": not written: " + reason(errno).Error(); err == nil || err.Error() != message {
					t.Errorf("%v: got %v, want %s", errno, err, message)
				}
				holds(t, path, body(1000))
			}
			if diff := cmp.Diff(want, listing(t, filepath.Dir(path))); diff != "" {
				t.Errorf("%v: (-want +got):\n%s", errno, diff)
			}
		}
	}
}

// TestReplacedBeforePutBack: a file that another program puts in the place of the new one is
// neither replaced by the old one nor removed. Both are kept.
func TestReplacedBeforePutBack(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := aFile(t)
			sys := &recorder{swap: swap}
			sys.before = then(
				at("", swapStep(swap), func() error { return appendTo(path, "one\n") }),
				at(swapStep(swap), "writer", func() error { return sameButNew(path, []byte("two\n")) }))
			_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
			want := path + ": repaired, but it changed in the meantime and could not be restored; " + path + ".bak has its text before the repair: another program replaced the file"
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			holds(t, path, []byte("two\n"))
			holds(t, path+".bak", append(body(1000), "one\n"...))
			if diff := cmp.Diff([]string{"s.jsonl", "s.jsonl.bak"}, listing(t, filepath.Dir(path))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplacedDuringPutBack: the same for a file that is put there just before the old one is
// put back, if names can be exchanged.
func TestReplacedDuringPutBack(t *testing.T) {
	t.Parallel()
	if !slices.Contains(swappings(), byExchange) {
		t.Skip("names are not exchanged here")
	}
	path := aFile(t)
	exchanges := 0
	sys := &recorder{before: func(_ int, what string) error {
		if !strings.HasPrefix(what, "exchange ") {
			return nil
		}
		if exchanges++; exchanges == 1 {
			return appendTo(path, "one\n")
		}
		return sameButNew(path, []byte("two\n"))
	}}
	_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
	want := path + ": not written: it changed after it was read; records that were appended in the meantime are in " + path + ".bak: another program replaced the file"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	holds(t, path, append(body(1000), "one\n"...))
	holds(t, path+".bak", []byte("two\n"))
	if diff := cmp.Diff([]string{"s.jsonl", "s.jsonl.bak"}, listing(t, filepath.Dir(path))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCannotBeCarriedOver: a new file that may have appended text, but cannot be read, is
// kept.
func TestCannotBeCarriedOver(t *testing.T) {
	t.Parallel()
	if !slices.Contains(swappings(), byExchange) {
		t.Skip("names are not exchanged here")
	}
	for _, held := range []bool{false, true} {
		path := aFile(t)
		sys := &recorder{}
		exchanges := 0
		sys.before = func(_ int, what string) error {
			switch {
			case strings.HasPrefix(what, "exchange "):
				if exchanges++; exchanges == 1 {
					return appendTo(path, "one\n")
				}
			case exchanges == 1 && strings.HasPrefix(what, "writer "):
				return appendTo(path, "two\n")
			case exchanges == 2 && strings.HasPrefix(what, "open ") && !held:
				return &fs.PathError{Op: "open", Path: path, Err: syscall.EIO}
			}
			return nil
		}
		want := "; records that were appended in the meantime are in " + path + ".bak: input/output error"
		if held {
			want = "; process 1 (agent) has the repaired text open, which is kept as " + path + ".bak"
			sys.writer = func(string) string {
				if exchanges == 2 {
					return "process 1 (agent)"
				}
				return ""
			}
		}
		_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
		if want = path + ": not written: it changed after it was read" + want; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		holds(t, path, append(body(1000), "one\ntwo\n"...))
		holds(t, path+".bak", append(repaired(body(1000)), "two\n"...))
		if diff := cmp.Diff([]string{"s.jsonl", "s.jsonl.bak"}, listing(t, filepath.Dir(path))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestCannotBePutBack: if the old file changed and cannot be put back, it is kept under
// another name.
func TestCannotBePutBack(t *testing.T) {
	t.Parallel()
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := aFile(t)
			sys := &recorder{swap: swap}
			n := 0
			sys.before = func(_ int, what string) error {
				if strings.HasPrefix(what, swapStep(swap)+" ") {
					if n++; n == 1 {
						return appendTo(path, "more\n")
					}
					return &os.LinkError{Op: "rename", Err: syscall.EIO}
				}
				return nil
			}
			_, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", system: sys})
			want := path + ": repaired, but it changed in the meantime and could not be restored; " + path + ".bak.1 has its text before the repair: input/output error"
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			holds(t, path, repaired(body(1000)))
			holds(t, path+".bak", body(1000))
			holds(t, path+".bak.1", append(body(1000), "more\n"...))
			clean(path, Options{})
			if diff := cmp.Diff([]string{"s.jsonl", "s.jsonl.bak", "s.jsonl.bak.1"}, listing(t, filepath.Dir(path))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCannotBeLinked: if the new file cannot get a second name, the old one is not put back,
// because it would replace a record that was just appended to the new one.
func TestCannotBeLinked(t *testing.T) {
	t.Parallel()
	path := aFile(t)
	sys := &recorder{swap: byLink}
	sys.before = then(
		at("", "rename", func() error { return appendTo(path, "one\n") }),
		at("rename", "link", func() error {
			return errors.Join(appendTo(path, "two\n"), &os.LinkError{Op: "link", Err: syscall.ENOSPC})
		}))
	_, err := Replace(t.Context(), opened(t, path), Options{system: sys})
	want := path + ": repaired, but it changed in the meantime and could not be restored; " + path + ".bak has its text before the repair: no space left on device"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	holds(t, path, append(repaired(body(1000)), "two\n"...))
	holds(t, path+".bak", append(body(1000), "one\n"...))
	if diff := cmp.Diff([]string{"s.jsonl", "s.jsonl.bak"}, listing(t, filepath.Dir(path))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHeldOpen: a file that a program has open for writing is not replaced, whenever the
// program opened it.
func TestHeldOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell who has a file open")
	}
	for _, step := range []string{"resolve", "sync", "exchange", "rename"} {
		for _, flag := range []int{os.O_WRONLY | os.O_APPEND, os.O_RDWR} {
			t.Run(fmt.Sprintf("%s %d", step, flag), func(t *testing.T) {
				t.Parallel()
				path := aFile(t)
				var agent *os.File
				sys := &recorder{}
				if step == "rename" {
					sys.swap = byLink
				}
				sys.before = at("", step, func() (err error) {
					agent, err = os.OpenFile(path, flag, 0)
					return err
				})
				_, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak", system: sys})
				// A process that another test is about to start has the file open as well
				// until it runs.
				want := fmt.Sprintf(`^%s: not written: process \d+ \(%s\) has it open for writing \(--force writes it\)$`,
					regexp.QuoteMeta(path), regexp.QuoteMeta(processName(t)))
				if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
					t.Errorf("got %v, want %s", err, want)
				}
				defer agent.Close()
				if _, err := agent.WriteAt(nil, 0); flag == os.O_RDWR && err != nil {
					t.Fatal(err)
				}
				if _, err := agent.Seek(0, io.SeekEnd); err != nil {
					t.Fatal(err)
				}
				if _, err := agent.WriteString("more\n"); err != nil {
					t.Fatal(err)
				}
				holds(t, path, append(body(1000), "more\n"...))
				if got := listing(t, filepath.Dir(path)); len(got) != 1 {
					t.Errorf("left behind: %v", got)
				}
				agent.Close()
				if _, err := Replace(t.Context(), opened(t, path), Options{}); err != nil {
					t.Errorf("once it is closed: %v", err)
				}
			})
		}
	}
	t.Run("force", func(t *testing.T) {
		t.Parallel()
		path := aFile(t)
		agent, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer agent.Close()
		if _, err := Replace(t.Context(), opened(t, path), Options{Force: true}); err != nil {
			t.Error(err)
		}
		holds(t, path, repaired(body(1000)))
	})
	t.Run("reader", func(t *testing.T) {
		t.Parallel()
		path := aFile(t)
		reader, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if _, err := Replace(t.Context(), opened(t, path), Options{}); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, body(1000)) {
			t.Errorf("who reads it meanwhile gets %d bytes, %v", len(got), err)
		}
	})
}

// processName returns what the system calls this process.
func processName(t *testing.T) string {
	t.Helper()
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

// TestNothingAppendedIsLost lets a program append records, opening and closing
// the file for each, while the file is replaced again and again. Waiting for
// programs that are opening a file takes as long as they need, so the test does
// not depend on the time that the system gives them.
func TestNothingAppendedIsLost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell who has a file open")
	}
	span := time.Duration(sample.Size(30_000, 500, 2_000)) * time.Millisecond
	late := sample.Until(t)
	for _, swap := range reversible() {
		t.Run(string(swap), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.jsonl")
			makeFile(t, path, []byte("start\n"), 0o600)
			stop, appended := make(chan struct{}), make(chan int)
			var opening sync.RWMutex
			appendSlowly := func(text string) error {
				syscall.ForkLock.RLock() // as in makeFile
				defer syscall.ForkLock.RUnlock()
				opening.RLock()
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				opening.RUnlock()
				if err != nil {
					return err
				}
				_, err = f.WriteString(text)
				return errors.Join(err, f.Close())
			}
			go func() {
				n := 0
				defer func() { appended <- n }()
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := appendSlowly(fmt.Sprintf("record %d\n", n)); err != nil {
						t.Error(err)
						return
					}
					n++
					if rand.N(4) > 0 {
						time.Sleep(rand.N(600 * time.Microsecond))
					}
				}
			}()
			replaced, refused := 0, 0
			// On a busy machine it takes longer until the two meet.
			for end := time.Now().Add(span); time.Now().Before(end) || (replaced == 0 || refused == 0) && !late(); {
				f, err := open(path)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(io.NewSectionReader(f.Original, 0, f.Original.Size()))
				if err != nil {
					t.Fatal(err)
				}
				// A longer file makes a round longer, so records that were checked are
				// dropped.
				if len(text) > 64<<10 {
					text = append([]byte("start\n"), text[bytes.LastIndexByte(text[:len(text)-1024], '\n')+1:]...)
				}
				f.Text = bytes.NewReader(text)
				sys := &recorder{swap: swap, wait: func() {
					opening.Lock()
					defer opening.Unlock()
				}}
				switch _, err := Replace(t.Context(), f, Options{system: sys}); {
				case err == nil:
					replaced++
				case errors.As(err, new(*refusal)):
					refused++
				default:
					t.Fatal(err)
				}
				f.Original.Close()
			}
			close(stop)
			n := <-appended
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
			first, later := -1, map[string]int{}
			for _, line := range lines {
				if first < 0 {
					if _, err := fmt.Sscanf(line, "record %d", &first); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
				}
				later[line]++
			}
			for i := first; i < n; i++ {
				if times := later[fmt.Sprintf("record %d", i)]; times != 1 {
					t.Errorf("record %d of %d is there %d times", i, n, times)
				}
			}
			t.Logf("%d records, replaced %d times, refused %d times", n, replaced, refused)
			if replaced == 0 || refused == 0 {
				t.Error("the two did not meet")
			}
		})
	}
}
