// Command toolguard checks transcripts of AI agents: that every tool call has
// its result, that every result has its call, and that a provider would take
// the conversation as it stands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-colorable"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/report"
)

// version is set by the linker in releases.
var version = "dev"

// The exit codes.
const (
	exitOK          = 0
	exitFindings    = 1
	exitTrouble     = 2
	exitInterrupted = 130
)

// errFindings ends a run that found something. It has no message of its own.
var errFindings = errors.New("findings")

// errReported ends a run whose troubles were printed when they came up.
var errReported = errors.New("reported")

func main() {
	ctx, listen := untilSignal(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// A pipe that nobody reads is an error like others: it must not end the
	// process before files are tidied up.
	signal.Ignore(syscall.SIGPIPE)
	// Older consoles of Windows take escape sequences only when told to.
	colorable.EnableColorsStdout(nil)
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	// A fifth of what is in use may become garbage, and 16 MiB more: memory that nobody
	// touches takes none, and counts as part of the heap.
	var room atomic.Pointer[[80 << 20]byte]
	a.beforeFiles = sync.OnceFunc(func() {
		listen()
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(20)
			room.Store(new([80 << 20]byte))
		}
	})
	code := a.run(ctx, os.Args[1:])
	runtime.KeepAlive(room.Load())
	os.Exit(code)
}

// untilSignal returns a context, and a function that makes it end with the first of the
// signals. The second signal ends the process at once, and so does the first one before
// listen is called: to listen takes a third of the time of a short command, and a command
// has nothing to tidy up before it opens a file. Signals that are ignored stay ignored, as
// below nohup.
func untilSignal(signals ...os.Signal) (ctx context.Context, listen func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	return ctx, func() {
		received := make(chan os.Signal, 1)
		for _, s := range signals {
			if !signal.Ignored(s) {
				signal.Notify(received, s)
			}
		}
		go func() {
			s := <-received
			signal.Stop(received)
			cancel(signalError{s})
		}()
	}
}

// A signalError is why a context ended.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// interrupted returns the exit code of a run that ctx ended: 128 and the number of the
// signal, as shells have it.
func interrupted(ctx context.Context) int {
	if by, ok := errors.AsType[signalError](context.Cause(ctx)); ok {
		if number, ok := by.Signal.(syscall.Signal); ok {
			return 128 + int(number)
		}
	}
	return exitInterrupted
}

// newApp returns the app for these streams.
func newApp(stdin io.Reader, stdout, stderr io.Writer, env func(string) string) *app {
	a := &app{stdin: stdin, env: env, terminal: isTerminal(stdout), stderrTerminal: isTerminal(stderr), rawStdout: stdout, rawStderr: stderr}
	a.stdout, a.stderrReport = overBar{standardOutput{stdout}, a}, overBar{stderr, a}
	a.screen, a.stderr = report.NewScreen(a.stdout), report.NewScreen(a.stderrReport)
	a.beforeFiles = func() {}
	return a
}

// run carries out a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	cmd := newRootCmd(a, args)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	var invalid *config.Error
	switch {
	case err == nil, isBrokenPipe(err):
		return exitOK
	case ctx.Err() != nil:
		return interrupted(ctx)
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &invalid):
		a.complainOf(invalid)
	case !errors.Is(err, errReported):
		// Some errors of the command line are several lines long.
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if line = strings.TrimSpace(line); line != "" {
				a.complain(line)
			}
		}
	}
	return exitTrouble
}

// An app is the world around a command.
type app struct {
	stdin io.Reader
	// stdout takes bytes as they are: those of repaired files, and reports,
	// which see to it themselves that nothing in them is obeyed.
	stdout io.Writer
	// screen is standard output, and stderr standard error, for all other text:
	// whatever a path, a config file or a transcript brought into it, no
	// terminal and no CI obeys it.
	screen, stderr io.Writer
	stderrReport   io.Writer // standard error, for a report
	env            func(string) string
	terminal       bool // standard output is one
	stderrTerminal bool
	rawStdout      io.Writer // for what kind of file it is
	rawStderr      io.Writer // for what is drawn over
	bar            *progress // where one is shown
	beforeFiles    func()    // called before a file is opened
}

// standardOutput names itself in errors, and not the device behind it.
type standardOutput struct{ io.Writer }

// Write implements io.Writer.
func (w standardOutput) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if err != nil {
		err = fmt.Errorf("standard output: %w", err)
	}
	return n, err
}

// note prints a line on standard error. Paths in it may hold anything, line
// feeds too.
func (a *app) note(line string) {
	fmt.Fprintln(a.stderr, report.Printable(line))
}

// complain prints a line about what went wrong.
func (a *app) complain(message string) { a.note("toolguard: " + message) }

// complainOf prints what is wrong with a config file, and where.
func (a *app) complainOf(err *config.Error) {
	for _, p := range err.Problems {
		a.complain(err.About(p))
		if p.Line > 0 {
			fmt.Fprint(a.stderr, report.Underlined(p.Line, p.Text, p.Column-1, p.Width))
		}
	}
}

// isBrokenPipe reports whether an error is that nobody reads the output any
// more. Windows has a number of its own for it.
func isBrokenPipe(err error) bool {
	const errorNoData = 232
	return errors.Is(err, syscall.EPIPE) ||
		runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(errorNoData))
}

// programVersion returns the version that the linker set, or the one that the
// go command recorded.
func programVersion() string {
	if version != "dev" {
		return strings.TrimPrefix(version, "v")
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return version
}
