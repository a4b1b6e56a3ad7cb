package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/write"
)

// longestShown is the length of a line from which on nobody reads it.
const longestShown = 1 << 20

// fixFlags are the flags of fix.
type fixFlags struct {
	checkFlags
	write, diff      bool
	safeOnly, unsafe bool
	strategies       []string
	placeholder      string
	backup           string
	force            bool
	exitNonZeroOnFix bool
}

func newFixCmd(a *app) *cobra.Command {
	f := &fixFlags{}
	cmd := &cobra.Command{
		Use:   "fix [flags] [path...|-]",
		Short: "Show what would repair transcripts; --write does it",
		Long: `fix shows what would repair transcripts, as a diff that git apply takes. On a
terminal, and where the environment variable CI is set, it shows each repair line
by line instead, with control characters and whatever a CI would obey spelled
out; --diff prints the diff there too. With --write it repairs files in place.
Files are looked for as check does it.

With - it reads standard input and writes the repaired text to standard output,
whatever is left to repair, and its report to standard error.

Repairs are safe, additive or unsafe. Safe ones lose nothing and claim nothing.
Additive ones insert a result that says that no result was recorded. Unsafe ones
remove recorded content and are made only with --unsafe. Each repair is made
whole or not at all. Before toolguard writes, it reads the result again and
proves that nothing is lost or doubled that no repair named, that nothing is
worse than before, and that repairing it again would change nothing.

Exit codes: 0 when nothing at or above --fail-on is to be repaired or left, 1
when there is, 2 when a file could not be repaired or the command line is wrong.
With --write, what was repaired does not count.`,
		Example: `  toolguard fix session.jsonl
  toolguard fix --write session.jsonl
  toolguard fix --write --unsafe --strategy orphan-tool-result=text runs/
  my-agent --dump-history | toolguard fix --send - | my-client`,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newFix(a, f, args, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&f.write, "write", "w", false, "repair files in place")
	flags.BoolVar(&f.diff, "diff", false, "print a diff even on a terminal or in CI, and of lines of any length")
	flags.BoolVar(&f.safeOnly, "safe-only", false, "make safe repairs alone")
	flags.BoolVar(&f.unsafe, "unsafe", false, "make unsafe repairs too")
	flags.StringArrayVar(&f.strategies, "strategy", nil, "choose how what a rule finds is repaired: `rule=name`; repeatable")
	flags.StringVar(&f.placeholder, "placeholder", "", "the `text` of inserted results; {tool} and {id} are filled in")
	flags.StringVar(&f.backup, "backup", "", "keep the original under its name with this `suffix`, or none (default: .bak with unsafe repairs; agents' session logs in the state directory)")
	flags.Lookup("backup").NoOptDefVal = backupSuffix
	flags.BoolVar(&f.force, "force", false, "write files that seem to be in use, and files with several names")
	flags.BoolVar(&f.exitNonZeroOnFix, "exit-non-zero-on-fix", false, "exit with 1 if anything was repaired")
	f.define(cmd)
	cmd.MarkFlagsMutuallyExclusive("safe-only", "unsafe")
	cmd.MarkFlagsMutuallyExclusive("write", "diff")
	cmd.MarkFlagsMutuallyExclusive("diff", "statistics")
	cmd.MarkFlagsMutuallyExclusive("diff", "no-excerpt")

	complete(cmd, "strategy", completeFrom(allStrategies))
	return cmd
}

// allStrategies lists what --strategy takes.
func allStrategies() []string {
	var out []string
	for _, r := range rules.All() {
		for _, s := range r.Strategies {
			out = append(out, r.Name+"="+s)
		}
	}
	return out
}

// strategies reads values of --strategy: rule=name.
func strategies(values []string) (map[string]string, error) {
	set := map[string]string{}
	for _, value := range values {
		name, strategy, ok := strings.Cut(value, "=")
		if !ok {
			return nil, fmt.Errorf("--strategy: want rule=name, not %q", value)
		}
		r, err := findRule(name)
		if err != nil {
			return nil, fmt.Errorf("--strategy: %w", err)
		}
		known := strings.Join(r.Strategies, ", ")
		switch {
		case len(r.Strategies) == 0:
			return nil, fmt.Errorf("--strategy: there is nothing to choose from for %s", name)
		case !slices.Contains(r.Strategies, strategy):
			what := fmt.Sprintf("unknown strategy %q", strategy)
			if near := suggest.Nearest(strategy, r.Strategies); near != "" {
				what += fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, fmt.Errorf("--strategy: %s (known for %s: %s)", what, name, known)
		}
		if before, set := set[name]; set && before != strategy {
			return nil, fmt.Errorf("--strategy: %s cannot be both %s and %s", name, before, strategy)
		}
		set[name] = strategy
	}
	return set, nil
}

// A show is what fix prints on standard output.
type show uint8

const (
	showReport  show = iota // what is left
	showDiff                // the repairs as a diff
	showPreview             // the repairs line by line
	showText                // the repaired text of standard input
)

// A fix is one run of the command.
type fix struct {
	*check
	flags   *fixFlags
	backups *backups
	show    show
	color   bool // of the preview
	summary report.FixSummary
	done    map[string]bool // files that were shown or repaired, behind all links
}

// newFix settles what the flags ask for.
func newFix(a *app, f *fixFlags, paths []string, changed func(string) bool) (*fix, error) {
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	x := &fix{check: c, flags: f, backups: newBackups(a.env, f.backup, changed("backup")), done: map[string]bool{}}
	if c.strategy, err = strategies(f.strategies); err != nil {
		return nil, err
	}
	if changed("placeholder") && strings.TrimSpace(f.placeholder) == "" {
		return nil, errors.New("--placeholder: want a text")
	}
	if strings.ContainsAny(f.backup, "/\\\x00") {
		return nil, fmt.Errorf("--backup: want a suffix or none, not %q", f.backup)
	}
	c.fixes = true
	c.summary = &x.summary.Summary
	x.summary.SafeOnly, x.summary.Unsafe = f.safeOnly, f.unsafe
	return x, x.settle(paths)
}

// settle decides what goes to standard output.
func (x *fix) settle(paths []string) error {
	f := x.flags
	toStdout := slices.IndexFunc(x.outputs, func(o *output) bool { return o.path == "" })
	switch {
	case slices.Contains(paths, "-") && !f.diff:
		if slices.ContainsFunc(paths, func(p string) bool { return p != "-" }) {
			return errors.New("- stands for standard input and output, and so for itself alone")
		}
		x.show = showText
		x.summary.Written = true
		// The report is for people or programs that read standard error.
		x.terminal = x.stderrTerminal
		x.out = bufio.NewWriter(x.stderrReport)
	case f.write:
		x.summary.Written = true
		// Files are repaired even if nobody reads any more what is left.
		x.out.Reset(&sidePipe{Writer: x.stdout})
	case toStdout >= 0 && !x.outputs[toStdout].format.Human:
		if f.diff {
			return fmt.Errorf("--diff and --output-format %s both go to standard output", x.outputs[toStdout].format.Name)
		}
	case f.statistics:
	default:
		x.show = showDiff
		x.summary.Unlisted = true
		if toStdout >= 0 {
			x.outputs = slices.Delete(x.outputs, toStdout, toStdout+1)
		}
		// What people read, on a terminal or in the log of a CI, is a preview: a
		// diff has the bytes of the transcript as they are.
		if !f.diff && (f.color == "always" || x.terminal || x.env("CI") != "") {
			x.show = showPreview
			var err error
			if x.color, err = useColor(f.color, x.env, x.terminal); err != nil {
				return err
			}
		}
	}
	return nil
}

// run repairs the files that paths stand for.
func (x *fix) run(ctx context.Context, paths []string) error {
	take := func(t *target, got fixed) error { return x.take(ctx, t, got) }
	err := runOver(ctx, x.check, paths, x.fix, take, &x.summary)
	err = cmp.Or(err, x.backups.run.Close())
	if err == nil && x.flags.exitNonZeroOnFix && x.summary.Written && x.summary.RepairedFiles > 0 && !x.flags.exitZero {
		return errFindings
	}
	return err
}

// options returns how a file is to be repaired.
func (x *fix) options(t *target) engine.FixOptions {
	s := x.settings(t.config)
	opts := engine.FixOptions{Options: x.check.options(t), SafeOnly: x.flags.safeOnly, Unsafe: x.flags.unsafe, Explicit: s.byName}
	opts.Placeholder = cmp.Or(x.flags.placeholder, s.placeholder)
	return opts
}

// A fixed file is what came of a target.
type fixed struct {
	*engine.Fixed
	src  *source.Source // open where it is still needed
	info fs.FileInfo    // from before it was opened
	err  error
}

// fix reads a file and finds out how it is repaired. It writes nothing.
func (x *fix) fix(ctx context.Context, t *target) fixed {
	var got fixed
	if !t.stdin {
		got.info, got.err = os.Stat(t.path)
		if got.err != nil {
			got.err = pathError(t.path, got.err)
			return got
		}
	}
	src, err := x.open(ctx, t, x.flags.jobs)
	if err != nil {
		got.err = err
		return got
	}
	got.Fixed, got.err = engine.Settle(ctx, src, x.options(t))
	_, unproved := errors.AsType[*engine.ProofError](got.err)
	_, refused := errors.AsType[*engine.CheckOnlyError](got.err)
	if unproved || refused {
		got.err = fmt.Errorf("%s: %w", t.path, got.err)
	}
	if got.err == nil && (got.Changed() || x.show == showText) {
		got.src = src
	} else {
		src.Close()
	}
	return got
}

// take shows or writes what came of a file. Its error ends the run.
func (x *fix) take(ctx context.Context, t *target, got fixed) error {
	if got.src != nil {
		defer got.src.Close()
	}
	if got.err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		x.fail(t.path, got.err)
		return nil
	}
	if !x.admits(t, got.Before) {
		if x.show == showText && got.Before.Skipped != "" && x.check.flags.skipUnrecognized {
			return x.copyOut(got.src)
		}
		return nil
	}
	if got.Changed() && x.again(t) {
		x.explain("%s: is a file that was dealt with under another name", t.path)
		return nil
	}
	written := false
	if x.flags.write && !got.Changed() && !t.stdin {
		if note := write.Clean(t.path, x.backups.options(t, x, nil)); note != "" {
			x.warn(t.path + ": " + note)
		}
	}
	if x.flags.write && got.Changed() && !t.stdin {
		if err := x.write(ctx, t, got); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			x.fail(t.path, err)
			return nil
		}
		written = true
	}
	if err := x.shown(t, got); err != nil {
		return err
	}
	x.prove(t, got.Fixed)
	x.baselines.leaveOut(x.now, t, got.Before)
	if got.After != got.Before {
		x.summary.Known += x.baselines.leaveOut(x.now, t, got.After)
	}
	x.summary.Strategy = x.now.strategy
	x.summary.AddFixed(got.Fixed)
	x.describes(&x.summary.Summary, t, got.After)
	x.failing = x.failing || x.fails(got.After) || got.Changed() && !x.summary.Written && x.fails(got.Before)
	if got.Changed() {
		for _, o := range x.outputs {
			if rep, ok := o.rep.(report.FixReporter); ok {
				if err := rep.Fixed(got.Fixed, written); err != nil {
					return err
				}
			}
		}
	}
	return x.tell(got.After)
}

// again reports whether a file was met before under another name.
func (x *fix) again(t *target) bool {
	if t.stdin {
		return false
	}
	name, err := filepath.EvalSymlinks(t.path)
	if err == nil {
		name, err = filepath.Abs(name)
	}
	if err != nil {
		return false // the write will tell
	}
	before := x.done[name]
	x.done[name] = true
	return before
}

// write repairs a file in place.
func (x *fix) write(ctx context.Context, t *target, got fixed) error {
	d := x.settings(t.config).dialects.ByName(got.Before.File.Dialect)
	opts := x.backups.options(t, x, got.Repairs)
	opts.Force = x.flags.force
	opts.Session = d != nil && d.Log != nil || x.backups.stored(t, x.env)
	done, err := write.Replace(ctx,
		write.File{Path: t.path, Info: got.info, Original: got.src, Packed: got.src.Packed(), Text: got.Pieces}, opts)
	if done.Note != "" {
		x.warn(t.path + ": " + done.Note)
	}
	if err != nil {
		return err
	}
	var what []string
	if x.several {
		what = append(what, report.Repaired(got.Fixed))
	}
	if done.Backup != "" {
		what = append(what, "the original is kept as "+done.Backup)
	}
	if len(what) > 0 && !x.flags.quiet {
		_ = x.out.Flush()
		x.note(t.path + ": " + strings.Join(what, "; "))
	}
	return nil
}

// shown prints a file's repairs on standard output.
func (x *fix) shown(t *target, got fixed) error {
	switch {
	case x.show == showText && got.Changed():
		return x.copyOut(got.Pieces.Source())
	case x.show == showText:
		return x.copyOut(got.src)
	case !got.Changed():
		return nil
	case x.show == showPreview:
		opts := report.Options{Color: x.color, NoExcerpt: x.flags.noExcerpt}
		return report.Preview(x.out, t.path, got.src, got.Fixed, opts)
	case x.show == showDiff && x.flags.noExcerpt:
		x.warn(t.path + ": no diff is shown with --no-excerpt")
		return nil
	case x.show == showDiff:
		d, err := report.NewDiff(patchName(t.path), got.src, got.Pieces)
		if err != nil {
			return err
		}
		if n := d.LongestLine(); n > longestShown && !x.flags.diff {
			x.warn(fmt.Sprintf("%s: no diff is shown, because a line in it has %d bytes; --diff shows it", t.path, n))
			return nil
		}
		var out io.Writer = x.out
		if x.terminal {
			out = report.NewScreen(x.out) // no patch is taken from there
		}
		_, err = d.WriteTo(out)
		return err
	}
	return nil
}

// patchName returns the name that a patch of a file has, for git apply in the
// current directory: that takes no name that begins at the root.
func patchName(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
		return name
	}
	return path
}

// copyOut writes a whole source to standard output.
func (x *fix) copyOut(src *source.Source) error {
	_, err := io.Copy(x.stdout, src.Stream())
	return err
}

// prove says what was done to a file, and what was held against it, if that is
// asked for.
func (x *fix) prove(t *target, f *engine.Fixed) {
	if !f.Changed() {
		return
	}
	for i := range f.Repairs {
		r := &f.Repairs[i]
		x.explain("%s: %s (%s) [%s]", t.path, r.Title, r.Class, r.Rule)
		for _, s := range r.Dropped {
			x.explain("%s: takes out content of bytes %d to %d", t.path, s.Start, s.End)
		}
	}
	rounds := "1 round"
	if f.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", f.Rounds)
	}
	x.explain("%s: settled in %s; proved that what could be read still can, that no rule reports more, and that nothing else is lost or doubled", t.path, rounds)
}

// warn prints something that the user should know.
func (x *fix) warn(message string) {
	if !x.flags.quiet {
		_ = x.out.Flush()
		x.complain("warning: " + message)
	}
}
