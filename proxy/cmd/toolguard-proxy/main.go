// Command toolguard-proxy forwards requests to the APIs of providers and repairs
// their histories on the way. The toolguard command runs it as toolguard proxy.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolguard/toolguard/proxy/internal/cli"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Version(version), os.Stdout, os.Stderr))
}
