package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolguard/toolguard/internal/hostile"
)

// A terminal is a pseudo-terminal that records its output.
type terminal struct {
	program *os.File // the end that programs write to
	drawn   safeBuffer
	closed  chan error // receives the error that ends the reading
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	_, x := typing(t)
	return x
}

// typing opens a pseudo-terminal, and returns what its user types into.
func typing(t *testing.T) (user io.Writer, x *terminal) {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	x = &terminal{program: program, closed: make(chan error, 1)}
	go func() {
		_, err := io.Copy(&x.drawn, f)
		x.closed <- err
	}()
	return f, x
}

// wait waits for a command that uses the terminal and returns its exit code.
func (x *terminal) wait(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	x.program.Close()
	if err := <-x.closed; err != nil && !errors.Is(err, syscall.EIO) { // the last program closed it
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// screen returns the visible text after an output.
func screen(drawn string) string {
	rows, column := []string{""}, 0
	for _, c := range drawn {
		row := &rows[len(rows)-1]
		switch c {
		case '\r':
			column = 0
		case '\n':
			rows = append(rows, "")
		default:
			cells := append([]rune(*row), make([]rune, max(0, column+1-len([]rune(*row))))...)
			cells[column] = c
			*row = string(cells)
			column++
		}
	}
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.Join(rows, "\n")
}

// slowly starts a command that reads a transcript from standard input. The
// transcript arrives when finish is called.
func slowly(t *testing.T, stdout, stderr io.Writer, args ...string) (cmd *exec.Cmd, finish func()) {
	t.Helper()
	cmd = exec.Command("toolguard", args...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "COLUMNS=", "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, func() {
		if _, err := io.WriteString(stdin, cut); err != nil {
			t.Error(err)
		}
		stdin.Close()
	}
}

// TestProgressOnTerminal checks that a run of more than a second shows a progress
// bar, and that the bar leaves no traces in the output.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	repaired := strings.Replace(cut, `"content":"well?"`, `"content":[{"type":"tool_result","tool_use_id":"c1","content":"[toolguard] No result was recorded for this tool call; it may or may not have run.","is_error":true},{"type":"text","text":"well?"}]`, 1)
	for _, tt := range []struct {
		name   string
		args   []string
		code   int
		stdout string // a file, if it is not the terminal
		want   string
	}{
		{"check", []string{"check", "-o", "concise", "-"}, exitFindings, "", `<stdin>:2:56: error: call "c1" to "ls" has no result [missing-tool-result]
Found 1 problem in 1 file (1 fixable with toolguard fix --write).
1 file checked.
`},
		{"fix", []string{"fix", "-o", "concise", "-"}, exitOK, repaired, `Repaired 1 problem in 1 file (1 inserted). No problems left.
`},
		{"fix with something left", []string{"fix", "--safe-only", "-o", "concise", "-"}, exitFindings, cut, `<stdin>:2:56: error: call "c1" to "ls" has no result [missing-tool-result]
Nothing to repair. 1 problem left (1 fixable without --safe-only).
1 file checked.
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := openTerminal(t)
			var stdout safeBuffer
			var out io.Writer = x.program
			if tt.stdout != "" {
				out = &stdout
			}
			cmd, finish := slowly(t, out, x.program, tt.args...)
			began := time.Now()
			for !strings.Contains(x.drawn.String(), "(0/1)") {
				if time.Since(began) > 20*time.Second {
					t.Fatalf("no progress is shown: %q", x.drawn.String())
				}
				time.Sleep(10 * time.Millisecond)
			}
			if shown := time.Since(began); shown < progressAfter/2 {
				t.Errorf("it is shown after %v", shown)
			}
			if got := screen(x.drawn.String()); !strings.HasPrefix(got, "checking, 0.0 MB read (0/1)") {
				t.Errorf("it shows %q", got)
			}
			finish()
			if code := x.wait(t, cmd); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if got := screen(x.drawn.String()); got != tt.want {
				t.Errorf("at the end there is %q, want %q, drawn by %q", got, tt.want, x.drawn.String())
			}
			if got := stdout.String(); got != tt.stdout {
				t.Errorf("standard output is %q, want %q", got, tt.stdout)
			}
		})
	}
}

// TestNarrowBar checks that the bar is cut to one line, because a second line could
// not be erased.
func TestNarrowBar(t *testing.T) {
	t.Parallel()
	x := openTerminal(t)
	p := &progress{w: x.program, done: 1, files: 3, read: 1e6, total: 3e6}
	for _, tt := range []struct {
		columns uint16
		want    string
	}{
		{80, "checking  33% |█████████                     | 1.0/3.0 MB (1/3) "},
		{20, "checking  33% |████"},
		{0, "checking  33% |█████████                     | 1.0/3.0 MB (1/3) "}, // unknown width
	} {
		if err := unix.IoctlSetWinsize(int(x.program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: tt.columns}); err != nil {
			t.Fatal(err)
		}
		if got := p.bar(); got != tt.want {
			t.Errorf("%d columns: got %q, want %q", tt.columns, got, tt.want)
		}
	}
}

// TestNoProgress checks that there is no bar in a pipe, with --quiet and on a
// terminal that cannot draw.
func TestNoProgress(t *testing.T) {
	t.Parallel()
	const want = `Found 1 problem in 1 file (1 fixable with toolguard fix --write). 1 file checked.
`
	t.Run("pipe", func(t *testing.T) {
		t.Parallel()
		var stderr safeBuffer
		cmd, finish := slowly(t, io.Discard, &stderr, "check", "-")
		time.Sleep(progressAfter + 500*time.Millisecond)
		finish()
		_ = cmd.Wait() // exits with 1
		if got := stderr.String(); got != want {
			t.Errorf("got %q", got)
		}
	})
	t.Run("quiet", func(t *testing.T) {
		t.Parallel()
		x := openTerminal(t)
		cmd, finish := slowly(t, io.Discard, x.program, "check", "-q", "-")
		time.Sleep(progressAfter + 500*time.Millisecond)
		finish()
		x.wait(t, cmd)
		if got := x.drawn.String(); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

// TestNothingIsObeyedOnTerminal checks that a terminal gets a preview, and a diff only
// with --diff, and that neither moves the cursor. A pipe gets the raw diff.
func TestNothingIsObeyedOnTerminal(t *testing.T) {
	t.Parallel()
	const text = "\u009b31m\u202e##vso[x] ##[y]\u2028::error::\u007f"
	dir := t.TempDir()
	name := "a\x1b[31m\n::b.jsonl"
	fixture(t, dir, name, []byte(strings.Replace(cut, "well?", text, 1)))
	const preview, diff = ":3:26: insert a placeholder result into messages.2", "@@ -1,3 +1,3 @@"
	for _, tt := range []struct {
		args   []string
		colors bool
		want   string
	}{
		{[]string{"fix", name}, true, preview},
		{[]string{"fix", "--color=never", name}, false, preview},
		{[]string{"fix", "--no-excerpt", name}, true, preview},
		{[]string{"fix", "--diff", name}, false, diff},
		{[]string{"check", name}, true, "has no result"},
		{[]string{"detect", "-v", name}, false, "anthropic"},
	} {
		x := openTerminal(t)
		cmd := exec.Command("toolguard", tt.args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=", "COLUMNS=", "CI=", "GORACE=atexit_sleep_ms=0")
		cmd.Stdout, cmd.Stderr = x.program, x.program
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		x.wait(t, cmd)
		drawn := strings.ReplaceAll(x.drawn.String(), "\r\n", "\n")
		if err := hostile.Obeyed(drawn, hostile.Allowed{Colors: tt.colors}); err != nil {
			t.Errorf("%q: %v", tt.args, err)
		}
		if !strings.Contains(drawn, tt.want) {
			t.Errorf("%q: there is no %q: %q", tt.args, tt.want, drawn)
		}
	}
	cmd := exec.Command("toolguard", "fix", "--diff", name)
	cmd.Dir = dir
	if out, err := cmd.Output(); cmd.ProcessState == nil || !strings.Contains(string(out), "-{\"role\":\"user\",\"content\":\""+text+"\"}\n") {
		t.Errorf("into a pipe: %v, %q", err, out)
	}
}

// TestTerminalWidth: a report and a preview are as wide as the terminal that they are
// printed on, and a finding shows both of its places.
func TestTerminalWidth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fixture(t, dir, "s.jsonl", []byte(cut))
	fixture(t, dir, "t.jsonl", []byte(cut))
	for _, tt := range []struct {
		columns uint16
		args    []string
		want    string
	}{
		{60, []string{"check", "s.jsonl"}, `s.jsonl:2:56: error: call "c1" to "ls" has no result
        [missing-tool-result]
    2 | …pe":"tool_use","id":"c1","name":"ls","input":{}}]}
      |                      ^~~~
    3 | {"role":"user","content":"well?"}
      |         ------ the conversation goes on here: 3:9
        fix: insert a placeholder result into messages.2
            (additive)
Found 1 problem in 1 file (1 fixable with toolguard fix
--write).
1 file checked.
`},
		{120, []string{"check", "s.jsonl"}, `s.jsonl:2:56: error: call "c1" to "ls" has no result [missing-tool-result]
    2 | {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}
      |                                                        ^~~~
    3 | {"role":"user","content":"well?"}
      |         ------ the conversation goes on here: 3:9
        fix: insert a placeholder result into messages.2 (additive)
Found 1 problem in 1 file (1 fixable with toolguard fix --write). 1 file checked.
`},
		{120, []string{"fix", "--no-excerpt", "s.jsonl", "t.jsonl"}, `s.jsonl:3:26: insert a placeholder result into messages.2 (additive) [missing-tool-result]
      messages.1 call c1 ls
    + messages.2 result c1 [placeholder, error]
      messages.2 user

t.jsonl:3:26: insert a placeholder result into messages.2 (additive) [missing-tool-result]
      messages.1 call c1 ls
    + messages.2 result c1 [placeholder, error]
      messages.2 user
Would repair 2 problems in 2 files (2 inserted); run with --write to do it. No problems would be left.
`},
		{60, []string{"fix", "s.jsonl"}, `s.jsonl:3:26: insert a placeholder result into messages.2
        (additive) [missing-tool-result]
      messages.1 call c1 ls {}
    + messages.2 result c1 [placeholder, error]
      messages.2 user "well?"
Would repair 1 problem in 1 file (1 inserted); run with
--write to do it.
No problems would be left.
`},
	} {
		x := openTerminal(t)
		if err := unix.IoctlSetWinsize(int(x.program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: tt.columns}); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("toolguard", tt.args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=1", "COLUMNS=", "CI=", "GORACE=atexit_sleep_ms=0")
		cmd.Stdout, cmd.Stderr = x.program, x.program
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if code := x.wait(t, cmd); code != exitFindings {
			t.Errorf("%d columns, %q: exit code %d", tt.columns, tt.args, code)
		}
		if got := strings.ReplaceAll(x.drawn.String(), "\r\n", "\n"); got != tt.want {
			t.Errorf("%d columns, %q: got\n%s\nwant\n%s", tt.columns, tt.args, got, tt.want)
		}
	}
}
