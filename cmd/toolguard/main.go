// Command toolguard checks transcripts of AI agents. It reports tool calls without
// results, results without calls and other errors that make a provider reject a
// request, and repairs them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-colorable"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/write"
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

// errFindings ends a run with findings. It is not printed.
var errFindings = errors.New("findings")

// A programError ends a run with the exit code of a program that has printed its errors.
type programError int

func (e programError) Error() string { return "exit code " + strconv.Itoa(int(e)) }

// errReported ends a run whose errors were already printed.
var errReported = errors.New("reported")

func main() {
	ctx, listen := untilSignal(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// A broken pipe must not end the process before temporary files are removed.
	signal.Ignore(syscall.SIGPIPE)
	// Older Windows consoles interpret escape sequences only if asked to.
	colorable.EnableColorsStdout(nil)
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	// The garbage collector runs when the heap has grown by a tenth. The untouched 160 MiB
	// take no memory but count as heap, which raises that limit by 16 MiB. They come with the
	// first collection, at 16 MiB, which short files do not reach.
	var room atomic.Pointer[[160 << 20]byte]
	var once sync.Once
	a.beforeFiles = func(jobs int) {
		once.Do(func() {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(400)
				runtime.AddCleanup(new([32]byte), func(percent int) {
					debug.SetGCPercent(percent)
					room.Store(new([160 << 20]byte))
				}, 10)
			}
			if jobs == 1 && os.Getenv("GOMAXPROCS") == "" {
				runtime.GOMAXPROCS(1) // other processors would only look for work
			}
		})
	}
	a.listen = listen
	code := a.run(ctx, os.Args[1:])
	runtime.KeepAlive(room.Load())
	os.Exit(code)
}

// untilSignal returns a context, and a function after which the first of the signals ends
// that context. The second signal ends the process at once, and so does the first one
// before listen is called: listening takes half of the time of a command that only prints
// something. Ignored signals stay ignored, as nohup requires.
func untilSignal(signals ...os.Signal) (ctx context.Context, listen func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	return ctx, func() {
		received := make(chan os.Signal, 1)
		for _, s := range signals {
			if !signal.Ignored(s) {
				signal.Notify(received, s)
			}
		}
		contain.Go(func() {
			s := <-received
			signal.Stop(received)
			cancel(signalError{s})
		}, func(caught *contain.Error) { cancel(caught) })
	}
}

// A signalError is the cause of a context that a signal ended.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }

// interrupted returns the exit code of a run that a signal ended: 128 plus the number of
// the signal, as in shells.
func interrupted(ctx context.Context) int {
	var by signalError
	if errors.As(context.Cause(ctx), &by) {
		if number, ok := by.Signal.(syscall.Signal); ok {
			return 128 + int(number)
		}
	}
	return exitInterrupted
}

// newApp returns an app with these streams and this environment.
func newApp(stdin io.Reader, stdout, stderr io.Writer, env func(string) string) *app {
	a := &app{stdin: stdin, env: env, terminal: isTerminal(stdout), stderrTerminal: isTerminal(stderr), rawStdout: stdout, rawStderr: stderr}
	a.written = &standardOutput{Writer: stdout}
	a.stdout, a.stderrReport = overBar{a.written, a, a.terminal}, overBar{stderr, a, a.stderrTerminal}
	a.screen, a.stderr = report.NewScreen(a.stdout), report.NewScreen(a.stderrReport)
	a.beforeFiles, a.listen, a.replace, a.lookPath = func(int) {}, func() {}, write.Replace, exec.LookPath
	return a
}

// run executes a command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	err := mistaken(args)
	if err == nil {
		cmd := newRootCmd(a, args)
		cmd.SetArgs(args)
		err = contain.Do(func() error { return cmd.ExecuteContext(ctx) })
		if err == nil || errors.Is(err, errFindings) {
			err = cmp.Or(a.written.failed, err) // help has no errors
		}
	}
	var invalid *config.Error
	var program programError
	switch {
	case err == nil, isBrokenPipe(err):
		return exitOK
	case ctx.Err() != nil:
		return interrupted(ctx)
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.As(err, &program):
		return int(program)
	case errors.As(err, &invalid):
		a.complainOf(invalid)
	case !errors.Is(err, errReported):
		a.complain(a.described("", err).Error(), namesIn(args)...)
	}
	return exitTrouble
}

// An app is the environment of a command: its streams and variables.
type app struct {
	stdin io.Reader
	// stdout passes bytes through. It is for repaired files, and for reports,
	// which escape the text of transcripts themselves.
	stdout io.Writer
	// screen is standard output and stderr is standard error for all other text.
	// They escape what a terminal or a CI would interpret.
	screen, stderr io.Writer
	stderrReport   io.Writer // standard error, for a report
	env            func(string) string
	debug          bool // print the stack of an internal error
	terminal       bool // standard output is a terminal
	stderrTerminal bool
	rawStdout      io.Writer // to find out which file it is
	rawStderr      io.Writer // for the progress bar
	written        *standardOutput
	bar            *progress      // nil if none is shown
	beforeFiles    func(jobs int) // called before a file is opened
	replace        func(context.Context, write.File, write.Options) (*write.Done, error)
	lookPath       func(string) (string, error) // finds a program on the PATH
	listen         func()                       // called by commands that read or write files: signals then end their context
}

// standardOutput replaces the path of the device in errors by "standard output". It keeps the
// first error, except that of a reader who has closed the pipe: no command may succeed whose
// output is lost.
type standardOutput struct {
	io.Writer
	failed error
}

// Write implements io.Writer.
func (w *standardOutput) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if err != nil {
		err = fmt.Errorf("standard output: %w", err)
	}
	if w.failed == nil && !isBrokenPipe(err) {
		w.failed = err
	}
	return n, err
}

// note prints a line on standard error. It escapes line feeds, which paths may
// contain. On a terminal it breaks the line between words, but not in names, such as
// paths; elsewhere it keeps one line, so that programs can search for it.
func (a *app) note(line string, names ...string) {
	if width, known := a.columns(a.rawStderr); known {
		fmt.Fprint(a.stderr, report.Fold(line, width, "    ", names...))
		return
	}
	fmt.Fprintln(a.stderr, report.Printable(line))
}

// say prints sentences on standard error, in lines that fit. No line is broken in a name.
func (a *app) say(text string, names ...string) {
	width, _ := a.columns(a.rawStderr)
	fmt.Fprint(a.stderr, report.FoldSentences(text, width, names...))
}

// complain prints an error or a warning, in which names are not broken.
func (a *app) complain(message string, names ...string) {
	const program = "toolguard:"
	if strings.HasPrefix(message, program) { // a file of this name is not the program again
		message = "./" + message
	}
	a.note(program+" "+message, names...)
}

// namesIn returns what may be a path in a command line: its words, and the values of its
// flags.
func namesIn(args []string) []string {
	names := slices.Clone(args)
	for _, arg := range args {
		for _, value, ok := strings.Cut(arg, "="); ok; _, value, ok = strings.Cut(value, "=") {
			names = append(names, value)
		}
	}
	return names
}

// complainOf prints the problems of a config file with the lines they are in.
func (a *app) complainOf(err *config.Error) {
	width, _ := a.columns(a.rawStderr)
	for _, p := range err.Problems {
		a.complain(err.About(p), err.Path)
		if p.Line > 0 {
			fmt.Fprint(a.stderr, report.Underlined(p.Line, p.Text, p.Column-1, p.Width, width))
		}
	}
}

// isBrokenPipe reports whether err means that the reader closed the pipe. Windows
// has its own error number for it.
func isBrokenPipe(err error) bool {
	const errorNoData = 232
	return errors.Is(err, syscall.EPIPE) ||
		runtime.GOOS == "windows" && errors.Is(err, syscall.Errno(errorNoData))
}

// programVersion returns the version that the linker set, or the one that the go
// command recorded in the binary.
func programVersion() string {
	if version != "dev" {
		return strings.TrimPrefix(version, "v")
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return version
}
