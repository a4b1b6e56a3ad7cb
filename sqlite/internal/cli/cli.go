// Package cli is the command line of toolguard-sqlite: commands, flags, exit codes. It knows neither
// the tables of agents nor the rules.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/usage"
)

// The exit codes, which are those of toolguard.
const (
	exitOK       = 0
	exitFindings = 1
	exitTrouble  = 2
)

// program is the name of the program.
const program = "toolguard-sqlite"

var (
	// errFindings ends a run that found something.
	errFindings = errors.New("findings")
	// errReported ends a run whose errors were printed.
	errReported = errors.New("reported")
)

// An app is what all commands use.
type app struct {
	version        string
	env            func(string) string
	stdout, stderr io.Writer
}

// Run executes a command line and returns the exit code. version is that of the program.
func Run(ctx context.Context, args []string, version string, env func(string) string, stdout, stderr io.Writer) int {
	a := &app{version, env, stdout, stderr}
	cmd := New(a)
	cmd.SetArgs(args)
	switch err := cmd.ExecuteContext(ctx); {
	case err == nil:
		return exitOK
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, errReported):
		return exitTrouble
	default:
		a.complain(err.Error())
		return exitTrouble
	}
}

// Version returns the version of the program: that which the linker was given, or that of the
// module.
func Version(linked string) string {
	if linked != "dev" {
		return strings.TrimPrefix(linked, "v")
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return linked
}

// New returns the command.
func New(a *app) *cobra.Command {
	var version bool
	cmd := &cobra.Command{
		Use:   program,
		Short: "Check and repair the sessions that agents keep in SQLite databases",
		Long: `toolguard-sqlite reads the databases in which agents keep their sessions, and
checks each session like toolguard check. Only fix --write and fix --undo change
a database. All else creates nothing beside it: a database with a write-ahead log
or a journal is copied to a private directory in $TMPDIR first, and the copy is
read.

list lists the sessions, check checks them, fix repairs them, and dump writes
them for other commands. toolguard-sqlite COMMAND --help explains each.

Exit codes: 0 if there are no findings at or above --fail-on, 1 if there are, 2
if a database or a session could not be read or the command line is wrong.`,
		Example: `  toolguard-sqlite list ~/.local/share/opencode/opencode.db
  toolguard-sqlite check ~/.local/share/opencode/opencode.db
  toolguard-sqlite fix --write ~/.local/share/opencode/opencode.db
  toolguard-sqlite dump opencode.db ses_1 | toolguard show -`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			if _, err := os.Stat(args[0]); err == nil {
				return fmt.Errorf("unexpected argument %q; did you mean %s check %[1]s?", args[0], program)
			}
			return suggest.Unknown("command", args[0], names, program+" --help lists the commands")
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				_, err := fmt.Fprintf(a.stdout, "%s %s\n", program, a.version)
				return err
			}
			return cmd.Help()
		},
	}
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	cmd.SetFlagErrorFunc(flagError)
	cmd.Flags().BoolVar(&version, "version", false, "print the version")
	cmd.AddCommand(newListCmd(a), newCheckCmd(a), newFixCmd(a), newDumpCmd(a))
	usage.Define(cmd)
	cmd.SetHelpCommand(&cobra.Command{Use: "help", Short: "Help about any command", Hidden: true, RunE: func(*cobra.Command, []string) error { return cmd.Help() }})
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = usage.Write(a.stdout, cmd, flagGroups(), helpWidth) })
	return cmd
}

// helpWidth is how many columns help takes at most.
const helpWidth = 100

// flagGroups lists the flags under the headings of the help.
func flagGroups() []usage.Group {
	return []usage.Group{
		{Title: "What is done", Names: "write undo"},
		{Title: "What is checked", Names: "session select ignore provider"},
		{Title: "Which repairs are made", Names: "safe-only unsafe strip-reasoning strategy placeholder"},
		{Title: "Output", Names: "output-format fail-on no-excerpt verbose json out"},
		{Title: "Other flags", Names: "version help"},
	}
}

// flagError says in a user's words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var required *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("unknown flag -%s; %s --help lists the flags", unknown.GetSpecifiedName(), cmd.CommandPath())
	case errors.As(err, &unknown):
		if near := suggest.Nearest(unknown.GetSpecifiedName(), usage.Visible(cmd)); near != "" {
			return fmt.Errorf("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
		return fmt.Errorf("unknown flag --%s; %s --help lists the flags", unknown.GetSpecifiedName(), cmd.CommandPath())
	case errors.As(err, &required):
		value, _ := pflag.UnquoteUsage(required.GetFlag())
		return fmt.Errorf("--%s needs a value: --%[1]s %s", required.GetSpecifiedName(), value)
	}
	return err
}

// databases returns an error unless a command line names a database.
func databases(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("expected the path of a database: %s", cmd.UseLine())
	}
	return nil
}

// complain prints an error on one line, without what a terminal or a CI would interpret.
func (a *app) complain(message string) {
	fmt.Fprintln(a.stderr, report.Printable(program+": "+message))
}

// about returns an error that begins with a path.
func about(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("no such file")
	}
	if contain.From(err) != nil {
		err = fmt.Errorf("%w; please report it at https://github.com/toolguard/toolguard/issues", err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
