package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/golden"
)

func TestMain(m *testing.M) {
	version = "0.0.0-test" // the reports in the scripts contain it
	testscript.Main(m, map[string]func(){"toolguard": main})
}

// run executes a command line in a new app.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) int {
	a := newApp(stdin, stdout, stderr, env)
	a.lookPath = notInstalled
	return a.run(ctx, args)
}

// notInstalled finds no program. What is installed on this machine would replace the process of a
// test.
func notInstalled(string) (string, error) { return "", exec.ErrNotFound }

// userTests are the tests in which something must be closed to the user who runs them.
var userTests = []string{"TestDoctorTellsOfFailures", "TestFixReadOnlyDirectory", "TestUnreadableIsNotInUse"}

// needsUser skips one of userTests if nothing is closed to this user.
func needsUser(t *testing.T) {
	t.Helper()
	switch {
	case !slices.Contains(userTests, t.Name()):
		t.Fatal("userTests does not have it")
	case runtime.GOOS == "windows":
		t.Skip("everything is open to this user")
	case os.Geteuid() == 0:
		t.Skip("TestAsUser runs it")
	}
}

// TestOnlyTheNamedCommand checks that a command line that begins with the name of a
// command creates only that command.
func TestOnlyTheNamedCommand(t *testing.T) {
	t.Parallel()
	names := func(cmd *cobra.Command) (names []string) {
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return names
	}
	a := newApp(strings.NewReader(""), io.Discard, io.Discard, noEnv)
	all := names(newRootCmd(a, nil))
	if len(all) < 11 {
		t.Errorf("commands: %q", all)
	}
	for _, name := range all {
		if diff := cmp.Diff([]string{name}, names(newRootCmd(a, []string{name, "x"}))); diff != "" {
			t.Errorf("%s x (-want +got):\n%s", name, diff)
		}
	}
	for _, args := range [][]string{{}, {"--version", "check"}, {"help", "check"}, {"__complete", "check", ""}, {"chec"}} {
		if diff := cmp.Diff(all, names(newRootCmd(a, args))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", args, diff)
		}
	}
}

func TestScripts(t *testing.T) { runScripts(t, "../../testdata/scripts") }

// TestThreads runs what users of agents reported, rebuilt as small histories: one script for each
// thread, with what toolguard finds and what its repair leaves.
func TestThreads(t *testing.T) {
	dir := "../../testdata/threads"
	scripts, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// The name is that of the thread, owner-repository-number.txtar.
		first, _, _ := strings.Cut(string(text), "\n")
		thread, found := strings.CutPrefix(first, "# https://github.com/")
		parts := strings.Split(thread, "/")
		if !found || len(parts) != 4 || filepath.Base(path) != parts[0]+"-"+parts[1]+"-"+parts[3]+".txtar" {
			t.Errorf("%s: the first line is %q; expected the address of the thread after which the file is named", path, first)
		}
	}
	runScripts(t, dir)
}

// runScripts runs the scripts in a directory.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	transcripts, err := filepath.Abs("../../testdata/transcripts")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       golden.Update(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TRANSCRIPTS", transcripts)
			env.Setenv("PROJECT", filepath.Dir(filepath.Dir(transcripts)))
			// With the race detector each command would sleep for a second.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"age":        age,
			"exits":      exits,
			"hook":       hook,
			"truncate":   truncate,
			"unquote-go": unquoteGo,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition " + cond)
		},
	})
}

// exits runs a command and checks its exit code:
//
//	exits 2 toolguard check no-such-file
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// age sets old modification times.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: age duration file...")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	then := time.Now().Add(-d)
	for _, name := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(name), then, then))
	}
}

// truncate sets the size of a file.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate size file")
	}
	size, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[1]), size))
}

// unquoteGo replaces each line of files, a Go string literal, by its value, so that
// a script can contain arbitrary bytes.
func unquoteGo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: unquote-go file...")
	}
	for _, name := range args {
		var out []byte
		for line := range strings.Lines(ts.ReadFile(name)) {
			s, err := strconv.Unquote(strings.TrimSpace(line))
			if err != nil {
				ts.Fatalf("%s: %s: %v", name, line, err)
			}
			out = append(out, s...)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), out, 0o666))
	}
}
