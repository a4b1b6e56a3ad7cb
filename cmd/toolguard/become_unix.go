//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// become replaces the process by a program, which so gets its signals and its terminal.
func (a *app) become(path string, args []string) error {
	signal.Reset(syscall.SIGPIPE) // an ignored signal would stay ignored
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, append([]string{path}, args...), os.Environ()))
}
