package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// A program is a command that is a program of its own, because it needs what the others do
// without, such as an HTTP server. It is shipped beside toolguard and has its version.
type program struct {
	name  string // of the command; the program is called toolguard-name
	short string
	long  string
}

// programs lists them.
func programs() []program {
	return []program{
		{
			"proxy", "Repair requests on their way to a provider",
			`proxy runs toolguard-proxy, which forwards requests to the APIs of providers and
repairs their histories on the way. toolguard proxy --help lists its flags, if
it is installed, and toolguard-proxy(1) is its manual.

The program is looked for beside toolguard and then on the PATH. It must have
the same version.`,
		},
		{
			"sqlite", "Check and repair the sessions that agents keep in SQLite databases",
			`sqlite runs toolguard-sqlite, which lists, checks, repairs and prints the sessions
in the databases of agents. toolguard sqlite --help lists its commands, if it is
installed, and toolguard-sqlite(1) is its manual.

The program is looked for beside toolguard and then on the PATH. It must have
the same version.`,
		},
		{
			"parquet", "Check and filter datasets in Parquet and Arrow files",
			`parquet runs toolguard-parquet, which checks and filters the rows of Parquet
and Arrow files, and writes those that it keeps in the same format. toolguard
parquet --help shows its commands, if it is installed, and toolguard-parquet(1)
is its manual.

The program is looked for beside toolguard and then on the PATH. It must have
the same version.`,
		},
	}
}

// file returns the name of the program's file.
func (p program) file() string {
	if runtime.GOOS == "windows" {
		return "toolguard-" + p.name + ".exe"
	}
	return "toolguard-" + p.name
}

// command returns the command that runs the program with all arguments.
func (p program) command(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                p.name + " [flags]",
		Short:              p.short,
		Long:               p.long,
		DisableFlagParsing: true, // they are flags of the program
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := p.find(os.Executable, a.lookPath)
			if err != nil && len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if err != nil {
				return err
			}
			if err := p.matches(cmd.Context(), path); err != nil {
				return err
			}
			return a.become(path, args)
		},
	}
}

// find returns the path of the program.
func (p program) find(executable func() (string, error), lookPath func(string) (string, error)) (string, error) {
	self, err := executable()
	if err == nil {
		// A link to toolguard is not where the archive was unpacked.
		if target, err := filepath.EvalSymlinks(self); err == nil {
			self = target
		}
		beside := filepath.Join(filepath.Dir(self), p.file())
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := lookPath(p.file())
	if err != nil {
		return "", fmt.Errorf("%s: toolguard-%s is not installed: it is in the archives and packages of toolguard %s, beside toolguard; in a checkout, make build builds both",
			p.name, p.name, programVersion())
	}
	return path, nil
}

// matches returns an error if the program has another version than toolguard.
func (p program) matches(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// Processes that it has started can keep its output open when it has ended.
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
			err = errors.New("it does not print its version")
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	version, ok := strings.CutPrefix(strings.TrimSpace(stdout.String()), "toolguard-"+p.name+" ")
	switch want := programVersion(); {
	case !ok:
		return fmt.Errorf("%s: expected it to print its version, such as toolguard-%s %s", path, p.name, want)
	case !sameVersion(version, want):
		return fmt.Errorf("%s: toolguard-%s has the version %s, and toolguard %s: install both from the same archive or package of toolguard", path, p.name, version, want)
	}
	return nil
}

// sameVersion reports whether two programs are of the same release, or of the same commit. The go
// command derives the version of a commit from the tags of its module, which differ.
func sameVersion(a, b string) bool {
	return a == b || commitOf(a) != "" && commitOf(a) == commitOf(b)
}

// commitOf returns the time and the commit at the end of the version that the go command derives
// for a commit, or "".
func commitOf(version string) string {
	parts := strings.Split(version, "-")
	if len(parts) < 3 {
		return ""
	}
	when, commit := parts[len(parts)-2], parts[len(parts)-1]
	if i := strings.LastIndexByte(when, '.'); i >= 0 {
		when = when[i+1:]
	}
	if len(when) != len("20060102150405") || strings.Trim(when, "0123456789") != "" {
		return ""
	}
	return when + "-" + commit
}
