// Command toolguard-parquet checks and filters datasets in Parquet files. The toolguard command runs it as
// toolguard parquet.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/toolguard/toolguard/parquet/internal/cli"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	// A broken pipe must not end the process before temporary files are removed.
	signal.Ignore(syscall.SIGPIPE)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Version(version), os.Stdout, os.Stderr))
}
