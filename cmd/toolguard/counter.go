package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// A counter is a program that counts tokens. It reads a JSON string per line and answers each
// with an integer on a line.
type counter struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	count int
}

// startCounter starts the program of a command line. It is split at spaces and run without a
// shell.
func startCounter(ctx context.Context, line string, stderr io.Writer) (*counter, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, errors.New("--counter: expected estimate or cmd:PROGRAM")
	}
	c := &counter{name: words[0], cmd: exec.CommandContext(ctx, words[0], words[1:]...)}
	c.cmd.Stderr, c.cmd.WaitDelay = stderr, time.Second
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, c.error(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, c.error(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, c.error(err)
	}
	return c, nil
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
	// A program that writes without reading would block, and so would a write to it.
	wrote := make(chan error, 1)
	go func() {
		_, err := c.in.Write(line.Bytes())
		wrote <- err
	}()
	answer, err := c.out.ReadSlice('\n')
	said := string(bytes.TrimSpace(answer))
	switch {
	case err == nil, errors.Is(err, io.EOF) && said != "":
	case errors.Is(err, io.EOF):
		return 0, c.error(fmt.Errorf("no answer to line %d: it ended", c.count))
	case errors.Is(err, bufio.ErrBufferFull):
	default:
		return 0, c.error(fmt.Errorf("no answer to line %d: %w", c.count, err))
	}
	n, err := strconv.ParseInt(said, 10, 64)
	if err != nil || n < 0 {
		if len(said) > longestAnswer {
			said = said[:longestAnswer] + "…"
		}
		return 0, c.error(fmt.Errorf("expected an integer for line %d, got %q", c.count, said))
	}
	select {
	case err = <-wrote:
	case <-time.After(counterDelay):
		err = errors.New("it answers before it has read the line")
	}
	if err != nil {
		// The error is not wrapped: that of a broken pipe would be taken for one of standard output.
		return 0, c.error(fmt.Errorf("it does not read line %d: %v", c.count, err)) //nolint:errorlint // see above
	}
	return float64(n), nil
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
	go func() {
		for {
			b, err := c.out.ReadByte()
			if err != nil || !isBlank(b) {
				more <- err == nil
				return
			}
		}
	}()
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

// close ends the program, which has no more to say.
func (c *counter) close() {
	c.in.Close()
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
