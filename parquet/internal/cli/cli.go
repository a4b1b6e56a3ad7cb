// Package cli is the command line of toolguard-parquet: flags, files and exit codes. What is right and wrong, and
// how it is reported, is that of toolguard: rows of Parquet files are rows of JSON Lines to it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/quantity"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/usage"
	"github.com/toolguard/toolguard/parquet/internal/lines"
)

// The exit codes.
const (
	exitOK       = 0
	exitFindings = 1
	exitTrouble  = 2
	exitSignal   = 130
)

// errFindings ends a run with findings, and errReported one whose errors were printed.
var (
	errFindings = errors.New("findings")
	errReported = errors.New("reported")
)

// Run executes a command line and returns the exit code. version is that of the program.
func Run(ctx context.Context, args []string, version string, stdout, stderr io.Writer) int {
	a := &app{version: version, stdout: stdout, stderr: report.NewScreen(stderr), errOut: stderr}
	cmd := a.root()
	cmd.SetArgs(args)
	err := contain.Do(func() error { return cmd.ExecuteContext(ctx) })
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK
	case ctx.Err() != nil:
		return exitSignal
	case errors.Is(err, errFindings):
		return exitFindings
	case !errors.Is(err, errReported):
		a.complain(a.described("", err))
	}
	return exitTrouble
}

// Version returns the version that the linker set, or the one that the go command recorded in the binary.
func Version(linked string) string {
	if linked == "dev" {
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
			linked = info.Main.Version
		}
	}
	return strings.TrimPrefix(linked, "v")
}

// An app is the environment of a command.
type app struct {
	version        string
	stdout         io.Writer
	stderr, errOut io.Writer // stderr escapes what a terminal would interpret
}

// complain prints an error or a warning.
func (a *app) complain(err error) {
	fmt.Fprintln(a.stderr, report.Printable("toolguard: "+err.Error()))
}

// described returns an error as users see it: a panic as an internal error.
func (a *app) described(path string, err error) error {
	if contain.From(err) == nil {
		return err
	}
	if path != "" {
		path += ": "
	}
	return fmt.Errorf("%sinternal error in toolguard %s; please report it at https://github.com/toolguard/toolguard/issues", path, a.version)
}

// root returns the command.
func (a *app) root() *cobra.Command {
	version := false
	cmd := &cobra.Command{
		Use:   "parquet",
		Short: "Check and filter datasets in Parquet and Arrow files",
		Long: `parquet reads Parquet files, Arrow files and Arrow streams as toolguard reads JSON
Lines: each row is an object with the columns as its fields. filter writes the
rows that it keeps in the format of the file, with the same types, codecs,
metadata and order, or as JSON Lines.

toolguard parquet runs the program toolguard-parquet.`,
		Example: `  toolguard parquet filter --out clean.parquet train.parquet
  toolguard parquet check --provider openai train.parquet
  toolguard parquet stats data/`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return suggest.Unknown("command", args[0], []string{"check", "filter", "stats"}, "toolguard parquet --help lists them")
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				_, err := fmt.Fprintf(a.stdout, "toolguard-parquet %s\n", a.version)
				return err
			}
			return cmd.Help()
		},
	}
	cmd.SetOut(a.stdout)
	cmd.SetErr(a.stderr)
	cmd.SetFlagErrorFunc(flagError)
	cmd.Flags().BoolVar(&version, "version", false, "print the version")
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_ = usage.Write(a.stdout, cmd, groups(), report.DefaultWidth)
	})
	cmd.AddCommand(a.checkCmd(), a.filterCmd(), a.statsCmd())
	cmd.SetHelpCommand(&cobra.Command{Hidden: true})
	usage.Define(cmd)
	return cmd
}

// groups lists the flags under the headings of the help.
func groups() []usage.Group {
	return []usage.Group{
		{Title: "Which rows", Names: "column"},
		{Title: "What is counted", Names: "by min-calls"},
		{Title: "Repair", Names: "fix dry-run strip-reasoning strategy placeholder"},
		{Title: "What is judged", Names: "provider send from tools select ignore severity fail-on exit-zero max-rejects"},
		{Title: "Output", Names: "out rejects reasons overwrite output-format json csv html quiet verbose no-excerpt statistics"},
		{Title: "Config", Names: "config isolated"},
		{Title: "Limits", Names: "max-memory"},
		{Title: "Other flags", Names: "version help"},
	}
}

// flagError says in a user's words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var required *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
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
	case errors.As(err, &invalid):
		want := "a size, such as 500MiB"
		switch invalid.GetFlag().Value.Type() {
		case "bool":
			want = "true or false"
		case "int":
			want = "a number"
		}
		return fmt.Errorf("--%s: expected %s, got %q", invalid.GetFlag().Name, want, invalid.GetValue())
	}
	return err
}

// fileFlags say how files are read.
type fileFlags struct {
	columns          []string
	memory           quantity.Bytes
	config           string
	isolated         bool
	quiet, noExcerpt bool
}

// define adds the flags to a command.
func (f *fileFlags) define(flags *pflag.FlagSet) {
	f.memory = lines.DefaultMemory
	flags.StringArrayVar(&f.columns, "column", nil, "read only this `column`, and bytes in it as text; repeatable (default: all)")
	flags.Var(&f.memory, "max-memory", "refuse files that need more memory than this `size`")
	flags.StringVar(&f.config, "config", "", "use this config `file` for all files (default: the nearest toolguard.toml in the directory of each file or above it)")
	flags.BoolVar(&f.isolated, "isolated", false, "ignore all config files")
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show only ids, names, types and roles, and no other text of a transcript")
}

// A target is a file to be read.
type target struct {
	path   string
	in     string // its path in the named directory, or its name
	config *config.File
}

// targets finds the files that paths name. several says that there may be more than one.
func (f *fileFlags) targets(paths []string) (list []*target, several bool, err error) {
	if len(paths) == 0 {
		return nil, false, errors.New("expected the path of a Parquet or Arrow file, or of a directory with such files")
	}
	var given *config.File
	if f.config != "" && !f.isolated {
		dir, err := os.Getwd()
		if err != nil {
			return nil, false, err
		}
		if given, err = config.Read(f.config, dir); err != nil {
			return nil, false, err
		}
	}
	finder := config.Finder{}
	seen := map[string]bool{}
	add := func(path, in string) error {
		t := &target{path: path, in: in, config: given}
		if seen[path] {
			return nil
		}
		seen[path] = true
		if !f.isolated && given == nil {
			if t.config, err = finder.Find(filepath.Dir(path)); err != nil {
				return err
			}
		}
		list = append(list, t)
		return nil
	}
	for _, path := range paths {
		if path == "" {
			return nil, false, errors.New(`expected a path, got ""`)
		}
		if path == "-" {
			return nil, false, errors.New("-: expected a file, because the rows are read twice")
		}
		path = filepath.Clean(path)
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			if err := add(path, filepath.Base(path)); err != nil {
				return nil, false, err
			}
			continue
		}
		several = true
		found := false
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", p, errors.Unwrap(err))
			case p != path && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
			case d.Type().IsRegular() && kindNamed(p) != nil:
				found = true
				in, err := filepath.Rel(path, p)
				if err != nil {
					return err
				}
				return add(p, in)
			}
			return nil
		})
		if err == nil && !found {
			err = fmt.Errorf("%s: no *.parquet or *.arrow files in it", path)
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortStableFunc(list, func(a, b *target) int { return strings.Compare(a.path, b.path) })
	return list, several || len(list) > 1, nil
}

// An input is an open file as a source of JSON Lines.
type input struct {
	lines.File
	kind *kind
	text *lines.Text
	src  *source.Source
}

// open opens a file.
func (f *fileFlags) open(ctx context.Context, t *target) (*input, error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(f.memory) / 4 * 3) // the rest is for the program and its stacks
	}
	k := kindOf(t.path)
	file, err := k.open(ctx, t.path, int64(f.memory))
	if err != nil {
		return nil, err
	}
	in := &input{File: file, kind: k}
	if err = file.Only(f.columns); err == nil {
		in.text, err = lines.NewText(ctx, file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	in.src = source.NewSource(t.path, in.text, in.text.Size())
	in.src.AsLines()
	in.src.SetAhead(source.LeastAhead)
	return in, nil
}

// Close closes the file.
func (in *input) Close() {
	in.text.Close()
	_ = in.File.Close() // it was only read
}

// admits reports whether a file is certainly a transcript, or the error that it is not.
func admits(t *target, r *engine.Report, given, discreet bool) error {
	why := r.Skipped
	if discreet {
		why = r.SkippedDiscreet
	}
	switch {
	case r.Skipped != "":
		return fmt.Errorf("%s: not a transcript: %s", t.path, why)
	case !r.File.Sure && !given:
		return fmt.Errorf("%s: not clearly a transcript: name its format with --from", t.path)
	}
	return nil
}
