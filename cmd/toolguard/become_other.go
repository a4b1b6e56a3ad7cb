//go:build !unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// become runs a program and ends with its exit code.
func (a *app) become(path string, args []string) error {
	// The console sends the interrupt to the program too, which ends as it wants to.
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.rawStdout, a.rawStderr
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return programError(ended.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
