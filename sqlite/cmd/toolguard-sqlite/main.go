// Command toolguard-sqlite reads the sessions that agents keep in SQLite databases. It is a
// program of its own, so that the toolguard command links no database.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolguard/toolguard/sqlite/internal/cli"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Version(version), os.Getenv, os.Stdout, os.Stderr))
}
