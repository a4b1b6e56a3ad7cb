package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/contain"
)

// counterWait is how long a program may take for one answer. Programs that load a vocabulary or
// ask a server need a few seconds.
const counterWait = 30 * time.Second

// A counter is a program that counts tokens. It reads a JSON string per line and answers each
// with an integer on a line.
type counter struct {
	ctx   context.Context
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	from  io.Closer // what out reads
	out   *bufio.Reader
	wait  time.Duration
	count int
}

// startCounter starts the program of a command line. It is split at spaces and run without a
// shell.
func startCounter(ctx context.Context, line string, stderr io.Writer) (*counter, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, errors.New("--counter: expected estimate or cmd:PROGRAM")
	}
	c := &counter{ctx: ctx, name: words[0], cmd: exec.CommandContext(ctx, words[0], words[1:]...), wait: counterWait}
	c.cmd.Stderr, c.cmd.WaitDelay = stderr, time.Second
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, c.error(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, c.error(err)
	}
	c.from, c.out = out, bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, c.error(c.unstarted(err))
	}
	return c, nil
}

// unstarted says why the program cannot be started, and what to write.
func (c *counter) unstarted(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, exec.ErrNotFound) && filepath.Base(c.name) == c.name && exists(c.name):
		return fmt.Errorf("no such program in PATH; write cmd:./%s", c.name)
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("no such program in PATH")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("may not be executed; name its interpreter too, such as cmd:python3 count.py")
	case errors.As(err, &path):
		return path.Err
	}
	return err
}

// tokens counts the tokens of a text.
func (c *counter) tokens(text []byte) (float64, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(text)); err != nil {
		return 0, c.error(err)
	}
	if c.out.Buffered() > 0 {
		return 0, c.error(c.tooMany())
	}
	c.count++
	said, err := c.ask(line.Bytes())
	if err != nil {
		return 0, c.error(err)
	}
	n, err := strconv.ParseInt(said, 10, 64)
	if err != nil || n < 0 {
		if len(said) > longestAnswer {
			said = said[:longestAnswer] + "…"
		}
		return 0, c.error(fmt.Errorf("expected an integer for line %d, got %q", c.count, said))
	}
	return float64(n), nil
}

// ask sends a line and returns the answer.
func (c *counter) ask(line []byte) (string, error) {
	limited, cancel := context.WithTimeout(c.ctx, c.wait)
	defer cancel()
	// A program that waits for the end of its input, or whose answers stay in a buffer, would wait
	// forever, and so would this one.
	defer context.AfterFunc(limited, c.abort)()
	// A program that writes without reading would block, and so would a write to it. If it does
	// not read, its answer or its end says more than the error.
	wrote := make(chan struct{})
	contain.Go(func() {
		defer close(wrote)
		_, _ = c.in.Write(line)
	}, c.lose)
	answer, err := c.out.ReadSlice('\n')
	said := string(bytes.TrimSpace(answer))
	switch {
	case c.ctx.Err() != nil:
		return "", c.ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("no answer to line %d within %s; the program must answer each line at once, so it may not wait for the end of its input or buffer its output", c.count, c.wait)
	case err == nil || errors.Is(err, io.EOF) && said != "":
		select {
		case <-wrote:
			return said, nil
		case <-time.After(counterDelay):
			return "", fmt.Errorf("it answers before it has read line %d", c.count)
		}
	case errors.Is(err, bufio.ErrBufferFull):
		return "", fmt.Errorf("expected an integer for line %d, got %q", c.count, string(answer[:longestAnswer])+"…")
	case errors.Is(err, io.EOF):
		end := "exit status 0"
		if err := c.cmd.Wait(); err != nil {
			end = err.Error()
		}
		return "", fmt.Errorf("it ended without an answer to line %d (%s)", c.count, end)
	}
	return "", fmt.Errorf("no answer to line %d: %w", c.count, err)
}

// longestAnswer is how much of a wrong answer an error shows.
const longestAnswer = 40

// counterDelay is how long a counter may take to end after its last answer.
const counterDelay = 2 * time.Second

// ends closes the input of the program and returns an error if it writes more than one answer for
// each line. Its counts are then not those of the lines.
func (c *counter) ends() error {
	c.in.Close()
	more := make(chan bool, 1)
	contain.Go(func() {
		for {
			b, err := c.out.ReadByte()
			if err != nil || !isBlank(b) {
				more <- err == nil
				return
			}
		}
	}, c.lose)
	select {
	case is := <-more:
		if is {
			return c.error(c.tooMany())
		}
	case <-time.After(counterDelay): // a process that it has started may hold the pipe open
	}
	return nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

func (c *counter) tooMany() error {
	return fmt.Errorf("expected an integer for each line, got more after line %d", c.count)
}

func (c *counter) error(err error) error { return fmt.Errorf("--counter: %s: %w", c.name, err) }

// lose ends the program because a goroutine that reads or writes for it panicked.
func (c *counter) lose(*contain.Error) { c.abort() }

// abort ends the program and what is read from it. Programs that it started may live on and
// keep its output open.
func (c *counter) abort() {
	_ = c.cmd.Process.Kill()
	c.in.Close()
	c.from.Close()
}

// close ends the program.
func (c *counter) close() {
	limited, cancel := context.WithTimeout(c.ctx, time.Second)
	defer cancel()
	defer context.AfterFunc(limited, c.abort)()
	c.in.Close()
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
