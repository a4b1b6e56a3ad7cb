package agents

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A screen is what a program has written to a terminal.
type screen struct {
	mu  sync.Mutex
	out *bytes.Buffer
	at  time.Time // of the last output
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Now()
	return s.out.Write(p)
}

// shows reports whether a text has been written behind an offset, and nothing else for a while.
func (s *screen) shows(text string, from int, quiet time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.out.Bytes()[from:], []byte(text)) && time.Since(s.at) > quiet
}

func (s *screen) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Len()
}

// startTyping starts an agent in a terminal, where a human types a prompt and leaves when the model has
// nothing more to say.
func (d *desk) startTyping(cmd *exec.Cmd, out *bytes.Buffer, prompt string) (done chan struct{}) {
	d.t.Helper()
	human, program := d.terminal()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	program.Close()
	s := &screen{out: out, at: time.Now()}
	read, ended := make(chan struct{}), make(chan struct{})
	go func() {
		io.Copy(s, human) //nolint:errcheck // it ends with an error when the program has ended
		close(read)
	}()
	go d.types(s, human, prompt, ended)
	done = make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // a killed agent always has an error
		close(ended)
		human.Close() // what the agent started may still have the terminal
		<-read
		close(done)
	}()
	return done
}

// terminal opens a pseudo-terminal: the end of the human, and that of programs.
func (d *desk) terminal() (human, program *os.File) {
	d.t.Helper()
	human, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	conn, err := human.SyscallConn() // Fd would make reads block Close
	if err != nil {
		d.t.Fatal(err)
	}
	n := 0
	var opened error
	if err := conn.Control(func(fd uintptr) {
		if opened = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); opened != nil {
			return
		}
		if opened = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); opened != nil {
			return
		}
		n, opened = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	}); err != nil || opened != nil {
		d.t.Fatal(err, opened)
	}
	program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	return human, program
}

// types is what the human does. Keys that come before the session is shown are lost, so the prompt is
// typed again until it is seen.
func (d *desk) types(s *screen, human io.Writer, prompt string, ended <-chan struct{}) {
	// until waits until something holds, for a time at most, and reports whether the agent still runs.
	until := func(holds func() bool, most time.Duration) bool {
		for limit := time.Now().Add(most); time.Now().Before(limit) && !holds(); {
			select {
			case <-ended:
				return false
			case <-time.After(50 * time.Millisecond):
			}
		}
		return true
	}
	seen := func() bool { return false }
	// The title of the terminal is the first prompt of the session once that has been read.
	if !until(func() bool { return s.shows("\x1b]0;> ", 0, time.Second) }, patience/4) {
		return
	}
	for range 5 {
		if seen() {
			break
		}
		from := s.size()
		seen = func() bool { return s.shows(prompt, from, 0) }
		io.WriteString(human, prompt) //nolint:errcheck // it may have ended by now
		if !until(seen, 5*time.Second) {
			return
		}
	}
	// The agent may send no request, and say why.
	for try := 0; try < 5 && len(d.model.seen()) == 0; try++ {
		io.WriteString(human, "\r") //nolint:errcheck // as above
		if !until(func() bool { return len(d.model.seen()) > 0 }, 12*time.Second) {
			return
		}
	}
	if !until(func() bool { return d.model.over() || len(d.model.seen()) == 0 }, patience) {
		return
	}
	d.settle()
	for range 5 {
		io.WriteString(human, "\x03") //nolint:errcheck // as above
		if !until(func() bool { return false }, 2*time.Second) {
			return
		}
	}
}
