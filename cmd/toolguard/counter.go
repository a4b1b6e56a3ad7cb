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
	c.count++
	if _, err := c.in.Write(line.Bytes()); err != nil {
		// The error is not wrapped: that of a broken pipe would be taken for one of standard output.
		return 0, c.error(fmt.Errorf("it does not read line %d: %v", c.count, err)) //nolint:errorlint // see above
	}
	answer, err := c.out.ReadSlice('\n')
	if err != nil && (!errors.Is(err, io.EOF) || len(answer) == 0) {
		if errors.Is(err, io.EOF) {
			err = errors.New("it ended")
		}
		return 0, c.error(fmt.Errorf("no answer to line %d: %w", c.count, err))
	}
	said := string(bytes.TrimSpace(answer))
	n, err := strconv.ParseInt(said, 10, 64)
	if err != nil || n < 0 {
		return 0, c.error(fmt.Errorf("expected an integer for line %d, got %q", c.count, said))
	}
	return float64(n), nil
}

func (c *counter) error(err error) error { return fmt.Errorf("--counter: %s: %w", c.name, err) }

// close ends the program.
func (c *counter) close() {
	c.in.Close()
	_, _ = io.Copy(io.Discard, c.out)
	_ = c.cmd.Wait()
}
