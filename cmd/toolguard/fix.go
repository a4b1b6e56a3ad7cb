package main

import (
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
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/write"
)

// longestShown is the longest line that a diff shows without --diff.
const longestShown = 1 << 20

// fixFlags are the flags of fix.
type fixFlags struct {
	checkFlags
	write, diff      bool
	safeOnly, unsafe bool
	stripReasoning   bool
	strategies       []string
	placeholder      string
	backup           string
	force            bool
	prove            string
	exitNonZeroOnFix bool
}

func newFixCmd(a *app) *cobra.Command {
	f := &fixFlags{}
	cmd := &cobra.Command{
		Use:   "fix [flags] [path...|-]",
		Short: "Show repairs of transcripts, or make them with --write",
		Long: `fix shows the repairs of transcripts as a diff for git apply. On a terminal, and
if the environment variable CI is set, it shows a preview instead: each repair,
with control characters and CI commands escaped. --diff always prints the diff.
With --write, fix repairs the files in place. It finds files like check.

With -, fix reads standard input and writes the repaired text to standard
output, even if findings remain. The report goes to standard error.

Repairs are safe, additive or unsafe. Safe repairs neither remove nor add
recorded content. Additive repairs insert placeholders, such as a result that
says that no result was recorded. Unsafe repairs remove recorded content and
need --unsafe, except that --strip-reasoning alone removes the reasoning that
only its own provider accepts. A repair is made completely or not at all. Before it writes,
toolguard reads the result again and proves that only the listed repairs removed
or added content, that there are no more problems than before, and that a second
run would change nothing.

Exit codes: 0 if there are no findings at or above --fail-on, 1 if there are, 2
if a file could not be repaired or the command line is wrong. With --write,
repaired findings do not count.`,
		Example: `  toolguard fix session.jsonl
  toolguard fix --write session.jsonl
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
	flags.BoolVar(&f.diff, "diff", false, "print the diff even on a terminal or in CI, and even if its lines are very long")
	flags.BoolVar(&f.safeOnly, "safe-only", false, "make only safe repairs")
	flags.BoolVar(&f.unsafe, "unsafe", false, "also make unsafe repairs")
	flags.BoolVar(&f.stripReasoning, "strip-reasoning", false, stripReasoningUsage)
	flags.StringSliceVar(&f.strategies, "strategy", nil, "choose how findings of a rule are repaired: `rule=name`; repeatable, or separated by commas")
	flags.StringVar(&f.placeholder, "placeholder", "", "use this `text` for inserted results; {tool} and {id} are replaced")
	flags.StringVar(&f.backup, "backup", "", "keep the original with this `suffix`; none keeps no original (default: .bak for unsafe repairs, the state directory for session logs of agents)")
	flags.Lookup("backup").NoOptDefVal = backupSuffix
	flags.BoolVar(&f.force, "force", false, "write files even if they seem to be in use or have hard links")
	flags.StringVar(&f.prove, "prove", proofs[0], "`how` to prove repairs of a dataset or a log of 8 MiB or more: auto reads the lines again that they change, full reads the whole file again")
	flags.BoolVar(&f.exitNonZeroOnFix, "exit-non-zero-on-fix", false, "exit with 1 if a file was repaired")
	f.define(cmd)
	exclusive(cmd, "safe-only", "unsafe")
	exclusive(cmd, "safe-only", "strip-reasoning")
	exclusive(cmd, "write", "diff")
	exclusive(cmd, "diff", "statistics")
	exclusive(cmd, "diff", "no-excerpt")

	complete(cmd, "strategy", completeFrom(allStrategies))
	complete(cmd, "prove", cobra.FixedCompletions(proofs, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// proofs are the values of --prove.
var proofs = []string{"auto", "full"}

// stripReasoningUsage is what --strip-reasoning does.
const stripReasoningUsage = "also remove all reasoning, signatures and encrypted content, so that another account, model or provider accepts the history"

// stripsAnyway returns an error if --ignore names the rule whose repairs --strip-reasoning asks for.
func stripsAnyway(strip bool, ignored []string) error {
	r := rules.ByName(rules.ReplayedReasoning)
	for _, name := range ignored {
		if strip && (name == r.Name || name == string(r.Category)) {
			return fmt.Errorf("--strip-reasoning and --ignore %s exclude each other: give only one", name)
		}
	}
	return nil
}

// allStrategies lists the values of --strategy.
func allStrategies() []string {
	var out []string
	for _, r := range rules.All() {
		for _, s := range r.Strategies {
			out = append(out, r.Name+"="+s)
		}
	}
	return out
}

// strategies parses the values of --strategy: rule=name.
func strategies(values []string) (map[string]string, error) {
	set, err := names.User.Strategies(values)
	if err != nil {
		return nil, of("--strategy", err)
	}
	return set, nil
}

// A show says what fix prints on standard output.
type show uint8

const (
	showReport  show = iota // the remaining findings
	showDiff                // the repairs as a diff
	showPreview             // the repairs line by line
	showText                // the repaired text of standard input
)

// A fix is one run of the command.
type fix struct {
	*check
	flags     *fixFlags
	backups   *backups
	show      show
	color     bool // of the preview
	previewed bool // a preview of a file was printed
	mentioned bool // show was
	summary   report.FixSummary
	done      map[string]bool // the real paths of files that were shown or repaired
}

// newFix validates the flags and returns the fix that they ask for.
func newFix(a *app, f *fixFlags, paths []string, changed func(string) bool) (*fix, error) {
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	if err := stripsAnyway(f.stripReasoning, f.ignored); err != nil {
		return nil, err
	}
	x := &fix{check: c, flags: f, backups: newBackups(a.env, f.backup, changed("backup")), done: map[string]bool{}}
	if c.strategy, err = strategies(f.strategies); err != nil {
		return nil, err
	}
	if changed("placeholder") && strings.TrimSpace(f.placeholder) == "" {
		return nil, errors.New("--placeholder: expected a text")
	}
	if !slices.Contains(proofs, f.prove) {
		return nil, fmt.Errorf("--prove: %w", suggest.Unknown("value", f.prove, proofs, "expected "+alternatives(proofs)))
	}
	if strings.ContainsAny(f.backup, "/\\\x00") {
		return nil, fmt.Errorf("--backup: expected a suffix or none, got %q", f.backup)
	}
	c.fixes = true
	c.baselines.off = true // a baseline is no reason to leave a session broken
	c.summary = &x.summary.Summary
	x.summary.SafeOnly, x.summary.Unsafe = f.safeOnly, f.unsafe
	return x, x.settle(paths)
}

// settle decides what fix prints on standard output.
func (x *fix) settle(paths []string) error {
	f := x.flags
	shown := slices.IndexFunc(x.outputs, func(o *output) bool { return o.to == toStdout })
	switch {
	case slices.Contains(paths, "-") && !f.diff:
		if slices.ContainsFunc(paths, func(p string) bool { return p != "-" }) {
			return errors.New("- reads standard input and writes standard output; it cannot be combined with other paths")
		}
		x.show = showText
		x.summary.Written = true
		// Standard output is for the text, so the report goes to standard error.
		for _, o := range x.outputs {
			if o.to == toStdout && o.path != "" {
				return fmt.Errorf("--output-format: %s: standard output is for the repaired text", o.value)
			}
			if o.to == toStdout {
				o.to = toStderr
			}
		}
		if err := distinct(x.outputs); err != nil {
			return fmt.Errorf("--output-format: %w", err)
		}
	case f.write:
		x.ended = x.sweep
		x.summary.Written = true
		// Files are repaired even if the reader of the report goes away.
		x.out.Reset(&sidePipe{Writer: x.stdout})
	case shown >= 0 && !x.outputs[shown].format.Human:
		if f.diff {
			return fmt.Errorf("--diff and --output-format %s both write to standard output", x.outputs[shown].format.Name)
		}
	case f.statistics:
	default:
		x.show = showDiff
		x.summary.Unlisted = true
		if shown >= 0 {
			x.outputs = slices.Delete(x.outputs, shown, shown+1)
		}
		// A diff contains the raw bytes of the transcript, so terminals and CI logs
		// get a preview.
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

// run repairs the files that paths name.
func (x *fix) run(ctx context.Context, paths []string) error {
	take := func(t *target, got fixed, err error) error { return x.take(ctx, t, got, err) }
	err := runOver(ctx, x.check, paths, x.fix, take, &x.summary)
	err = cmp.Or(err, x.backups.run.Close())
	if err == nil && x.flags.exitNonZeroOnFix && x.summary.Written && x.summary.RepairedFiles > 0 && !x.flags.exitZero {
		return errFindings
	}
	return err
}

// options returns the engine's options for a file.
func (x *fix) options(t *target) engine.FixOptions {
	s := x.settings(t.config)
	opts := engine.FixOptions{Options: x.check.options(t), SafeOnly: x.flags.safeOnly, Unsafe: x.flags.unsafe}
	opts.Placeholder = cmp.Or(x.flags.placeholder, s.placeholder)
	opts.StripReasoning, opts.ProveFull = x.flags.stripReasoning, x.flags.prove == "full"
	// What was wrong with a file is only said if it is not written. Of --strip-reasoning, each finding counts.
	opts.CountBefore = x.flags.write && !t.stdin && !x.flags.stripReasoning
	return opts
}

// A fixed holds the repairs of a target.
type fixed struct {
	*engine.Fixed
	src  *source.Source // open if it is still needed
	info fs.FileInfo    // from before the file was opened
}

// fix reads a file and computes its repairs. It writes nothing. It returns both a report and an
// error if the file was checked and must not be repaired.
func (x *fix) fix(ctx context.Context, t *target) (got fixed, err error) {
	if !t.stdin {
		if got.info, err = os.Stat(t.path); err != nil {
			return got, pathError(t.path, err)
		}
	}
	src, err := x.open(ctx, t, x.flags.jobs)
	if err != nil {
		return got, err
	}
	defer func() {
		if got.src == nil {
			src.Close()
		}
	}()
	got.Fixed, err = engine.Settle(ctx, src, x.options(t))
	unproved := errors.As(err, new(*engine.ProofError))
	refused := errors.As(err, new(*engine.CheckOnlyError))
	if unproved || refused {
		err = fmt.Errorf("%s: %w", t.path, err)
	}
	if err == nil && (got.Changed() || x.show == showText) {
		got.src = src
	}
	return got, err
}

// take shows or writes the repairs of a file, or says which error prevented them. Its own error
// ends the run.
func (x *fix) take(ctx context.Context, t *target, got fixed, err error) error {
	if got.src != nil {
		defer got.src.Close()
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if got.Fixed == nil {
		x.fail(t.path, err)
		return nil
	}
	if !x.admits(t, got.Before) {
		if x.show == showText && got.Before.Skipped != "" && x.check.flags.skipUnrecognized {
			return x.copyOut(got.src)
		}
		return nil
	}
	if got.Changed() && x.again(t) {
		x.explain(t.path, "already repaired under another name")
		return nil
	}
	written := false
	if x.flags.write && got.Changed() && !t.stdin {
		if written, err = x.write(ctx, t, got); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if !written {
			opts := x.options(t)
			opts.CountBefore = false
			again, failed := engine.Settle(ctx, got.src, opts)
			if failed != nil {
				x.fail(t.path, cmp.Or(err, failed))
				return ctx.Err()
			}
			got.Fixed = again.Unrepaired()
		}
	}
	switch {
	case err == nil:
		if err := x.shown(ctx, t, got); err != nil {
			return err
		}
	case written:
		x.fail(t.path, err)
	default:
		x.refuse(t.path, err)
	}
	if x.summary.Unlisted {
		x.withheld(t, got.After)
	}
	x.prove(t, got.Fixed)
	x.summary.Strategy = x.now.strategy
	x.summary.AddFixed(got.Fixed)
	x.describes(&x.summary.Summary, t, got.After)
	x.failing = x.failing || x.fails(got.After) || got.Changed() && !x.summary.Written && x.fails(got.Before)
	if got.Changed() {
		err := x.each(func(o *output) error {
			if rep, ok := o.rep.(report.FixReporter); ok {
				return rep.Fixed(got.Fixed, written)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return x.tell(got.After)
}

// sweep removes what killed runs left beside the files of this run.
func (x *fix) sweep(ts *targets) {
	for _, n := range ts.sweep(func(path string) write.Options {
		file, _ := x.search.configOf(filepath.Dir(path)) // this directory has no other than those that were read
		return x.backups.options(&target{path: path, config: file}, x, nil)
	}) {
		x.warn(n.Path, n.Text)
	}
}

// again reports whether a file was repaired before under another name.
func (x *fix) again(t *target) bool {
	if t.stdin {
		return false
	}
	name, err := filepath.EvalSymlinks(t.path)
	if err == nil {
		name, err = filepath.Abs(name)
	}
	if err != nil {
		return false // writing the file will report the error
	}
	before := x.done[name]
	x.done[name] = true
	return before
}

// withheld says why repairs are not made. A diff does not show it, and check takes them for possible.
func (x *fix) withheld(t *target, after *engine.Report) {
	told := map[string]bool{}
	for f := range after.All() {
		if f.Unproved() && !told[f.Unfixed] {
			told[f.Unfixed] = true
			x.warn(t.path, f.Rule.Name+": "+f.Unfixed)
		}
	}
}

// refuse prints why a file that was checked is not repaired.
func (x *fix) refuse(path string, err error) {
	x.summary.Refuse(path, err)
	_ = x.out.Flush()
	x.complain(err.Error(), path)
}

// write repairs a file in place. It reports whether the file has its new text, which may be
// so even if there is an error.
func (x *fix) write(ctx context.Context, t *target, got fixed) (written bool, err error) {
	d := x.settings(t.config).dialects.ByName(got.Before.File.Dialect)
	opts := x.backups.options(t, x, got.Repairs)
	opts.Force = x.flags.force
	opts.Session = d != nil && d.Log != nil || x.backups.stored(t, x.env)
	done, err := x.replace(ctx,
		write.File{Path: t.path, Info: got.info, Original: got.src, Packed: got.src.Packed(), Text: got.Pieces}, opts)
	if done.Note != "" {
		x.warn(t.path, done.Note)
	}
	if err != nil {
		return done.Written, err
	}
	if !x.flags.quiet {
		what := []string{report.Repaired(got.Fixed)}
		if done.Backup != "" {
			what = append(what, "the original is saved as "+done.Backup)
		}
		_ = x.out.Flush()
		x.note(t.path+": "+strings.Join(what, "; "), t.path, done.Backup)
	}
	return true, nil
}

// shown prints the repairs of a file on standard output.
func (x *fix) shown(ctx context.Context, t *target, got fixed) error {
	switch {
	case x.show == showText && got.Changed():
		return x.copyOut(got.Pieces.Source())
	case x.show == showText:
		return x.copyOut(got.src)
	case !got.Changed():
		return nil
	case x.show == showPreview:
		opts := report.Options{Color: x.color, NoExcerpt: x.flags.noExcerpt, EachCall: x.flags.verbose, Width: x.reportWidth(x.rawStdout)}
		if err := opts.Outline(ctx, got.src, got.Fixed, x.check.options(t)); err != nil {
			return err
		}
		if x.previewed {
			if _, err := fmt.Fprintln(x.out); err != nil {
				return err
			}
		}
		x.previewed = true
		err := report.Preview(x.out, t.path, got.src, got.Fixed, opts)
		if err == nil && !x.mentioned && !t.stdin && !x.flags.quiet {
			_ = x.flush() // as in fail
			x.mentioned = x.mentionsShow(t.path, got.Fixed, shellPath(t.path, ""))
		}
		return err
	case x.show == showDiff && x.flags.noExcerpt:
		x.warn(t.path, "--no-excerpt hides the diff")
		return nil
	case x.show == showDiff:
		d, err := report.NewDiff(patchName(t.path), got.src, got.Pieces)
		if err != nil {
			return err
		}
		if n := d.LongestLine(); n > longestShown && !x.flags.diff {
			x.warn(t.path, fmt.Sprintf("the diff is not shown, because it has a line of %d bytes; --diff prints it", n))
			return nil
		}
		var out io.Writer = x.out
		if x.terminal {
			out = report.NewScreen(x.out) // a terminal is no place for raw bytes
		}
		_, err = d.WriteTo(out)
		return err
	}
	return nil
}

// patchName returns the name of a file in a patch. git apply rejects absolute
// names, so a file below the current directory gets a relative one.
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

// prove lists the repairs of a file and what was proved of them if --verbose is
// set.
func (x *fix) prove(t *target, f *engine.Fixed) {
	if !f.Changed() {
		return
	}
	for i := range f.Repairs {
		r := &f.Repairs[i]
		x.explain(t.path, fmt.Sprintf("%s (%s) [%s]", r.Title, r.Class, r.Rule))
		for _, s := range r.Dropped {
			x.explain(t.path, fmt.Sprintf("removes content of bytes %d to %d", s.Start, s.End))
		}
	}
	rounds := "1 round"
	if f.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", f.Rounds)
	}
	x.explain(t.path, "finished after "+rounds+"; proved that every valid record is still valid, that no rule reports more, and that no other content was lost or duplicated")
}

// warn prints a warning about a file unless --quiet is set.
func (x *fix) warn(path, message string) {
	if !x.flags.quiet {
		_ = x.out.Flush()
		x.complain("warning: "+path+": "+message, path)
	}
}
