package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
)

// checkFlags are the flags of check, which fix has as well.
type checkFlags struct {
	ruleFlags
	fileFlags
	formats          []string
	color            string
	noExcerpt        bool
	statistics       bool
	quiet, verbose   bool
	exitZero         bool
	skipUnrecognized bool
	baseline         string
	jobs             int
}

func newCheckCmd(a *app) *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check [flags] [path...|-]",
		Short: "Report what is wrong in transcripts",
		Long: `check reads transcripts and reports what is wrong with them. It changes nothing.

A file that is named is read whatever its name is. A directory is searched for
transcripts: *.jsonl, *.ndjson and *.json, packed as .gz or .zst too, without
hidden directories and node_modules. Without a path that is the current directory; - is standard input.
The nearest toolguard.toml upward from a file has its settings; flags come first.

Problems are errors and warnings. Infos are shown with --verbose or --fail-on
info, or when --select names their rule; the JSON report always has them. Of one
kind of problem in a file, the first 1,000 are shown and the others are counted.

A compressed file is refused if it unpacks to more than 4 GiB or 200 times its
size; --max-size sets another limit.

Exit codes: 0 when there is nothing at or above --fail-on, 1 when there is, 2
when a file could not be checked or the command line is wrong.`,
		Example: `  toolguard check session.jsonl
  toolguard check --select pairing --output-format json=report.json runs/
  my-agent --dump-history | toolguard check --send --target anthropic -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newCheck(a, f)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), args)
		},
	}
	f.define(cmd)
	return cmd
}

// define adds the flags to a command.
func (f *checkFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.ruleFlags.define(cmd)
	flags.StringArrayVarP(&f.formats, "output-format", "o", nil, "write `format[=file]`: "+strings.Join(formatNames(), ", ")+"; repeatable (default text, or "+formatEnv+")")
	flags.StringVar(&f.color, "color", "auto", "`when` to colour the report: auto, always or never")
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show no text of a transcript but ids, names, types and roles")
	flags.BoolVar(&f.statistics, "statistics", false, "count findings by rule instead of showing them")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print findings only")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show infos, and on standard error what each file is and why")
	flags.BoolVar(&f.exitZero, "exit-zero", false, "exit with 0 although there are findings")
	flags.BoolVar(&f.skipUnrecognized, "skip-unrecognized", false, "skip named files that are not surely transcripts")
	f.fileFlags.define(cmd)
	flags.StringVar(&f.baseline, "baseline", "", "leave out the findings that this `file` holds; toolguard baseline writes it")
	flags.IntVarP(&f.jobs, "jobs", "j", 0, "check `n` files at a time (default: one for each processor; at most 16, or four for each)")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")

	complete(cmd, "output-format", completeFrom(formatNames))
	complete(cmd, "color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
}

// complete says how the values of a flag are completed.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag does not exist
	}
}

// completeFrom completes from a list. It is made only when a shell asks for it:
// making them all took most of the memory that defining the flags needs.
func completeFrom(list func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// A check is one run of the command.
type check struct {
	*app
	*resolver
	flags     *checkFlags
	search    *search
	baselines baselines
	outputs   []*output
	out       *bufio.Writer // standard output

	fixes   bool      // this is a run of fix
	records bool      // this is a run of baseline
	now     *settings // of the file that is being reported
	failing bool      // something makes the run fail
	summary *report.Summary
	found   []bool // by walked directory: there was a transcript in it
	several bool   // the run is about more than one file that was named
}

// newCheck settles what the flags ask for.
func newCheck(a *app, f *checkFlags) (*check, error) {
	c := &check{app: a, flags: f, out: bufio.NewWriter(a.stdout), summary: &report.Summary{}}
	c.baselines.given = f.baseline
	var err error
	if c.resolver, err = newResolver(&f.ruleFlags); err != nil {
		return nil, err
	}
	if f.jobs < 0 {
		return nil, fmt.Errorf("--jobs: want a number of files, not %d", f.jobs)
	}
	if f.jobs == 0 {
		f.jobs = runtime.GOMAXPROCS(0)
	}
	// More would only take memory: the work is on the processors.
	f.jobs = min(f.jobs, max(16, 4*runtime.GOMAXPROCS(0)))
	formats, from := f.formats, "--output-format"
	if len(formats) == 0 {
		formats, from = []string{"text"}, formatEnv
		if v := a.env(formatEnv); v != "" {
			formats = strings.Split(v, ",")
		}
	}
	if c.outputs, err = parseOutputs(formats); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if slices.ContainsFunc(c.outputs, func(o *output) bool { return o.path != "" }) {
		c.out.Reset(&sidePipe{Writer: a.stdout})
	}
	// Asked even when nothing of it goes to standard output, so that a wrong
	// value never passes.
	if _, err := useColor(f.color, a.env, false); err != nil {
		return nil, err
	}
	c.search, err = newSearch(&f.fileFlags)
	return c, err
}

// reporter returns the reporter of an output that writes to w.
func (c *check) reporter(o *output, w io.Writer) (report.Reporter, error) {
	opts := report.Options{
		NoExcerpt: c.flags.noExcerpt, Version: programVersion(), Fix: c.fixes, Started: started(c.env),
		ShowInfo: c.showsInfo,
		Fails:    func(f *engine.Finding) bool { return f.Severity >= c.now.failOn },
	}
	var err error
	if o.path == "" {
		opts.Color, err = useColor(c.flags.color, c.env, c.terminal)
	} else {
		opts.OwnFile = true
		opts.Color = c.flags.color == "always" // the environment speaks of terminals
	}
	if c.flags.statistics && o.format.Human {
		return report.NewStatistics(w, opts), err
	}
	return o.format.New(w, opts), err
}

// showsInfo reports whether people see an info of the file that is reported.
func (c *check) showsInfo(f *engine.Finding) bool { return c.flags.verbose || c.now.shows(f.Rule) }

// started returns the time to put into reports. As elsewhere, SOURCE_DATE_EPOCH
// makes them reproducible.
func started(env func(string) string) time.Time {
	if seconds, err := strconv.ParseInt(env("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0)
	}
	return time.Now()
}

// A checked file is what came of a target.
type checked struct {
	report *engine.Report
	err    error
}

func (c *check) run(ctx context.Context, paths []string) error {
	return runOver(ctx, c, paths, c.check, c.take, c.summary)
}

// runOver works on the files that paths stand for, hands what came of each to
// take, in order, and ends with the closing words.
func runOver[R any](ctx context.Context, c *check, paths []string, work func(context.Context, *target) R, take func(*target, R) error, closing fmt.Stringer) error {
	ts, err := c.targets(paths)
	if err != nil {
		return err
	}
	if err := c.overwrites(ts.files); err != nil {
		return err
	}
	if err := c.baselines.read(c, ts.files); err != nil {
		return err
	}
	if err := openOutputs(c.outputs, c.out, c.reporter); err != nil {
		return err
	}
	defer discardOutputs(c.outputs)
	weight := func(t *target) int64 {
		if c.fixes {
			return max(t.size, weightPerJob/4) // it stays open until its turn comes
		}
		return t.size
	}
	if c.stderrTerminal && !c.flags.quiet && c.env("TERM") != "dumb" {
		c.bar = newProgress(c.rawStderr, len(ts.files), progressAfter)
		defer c.bar.end()
	}
	err = inOrder(ctx, ts.files, c.flags.jobs, weight, work, func(t *target, r R) error {
		defer c.bar.step()
		c.now = c.settings(t.config)
		return take(t, r)
	})
	c.bar.end()
	if err == nil {
		err = c.finish(ts, closing)
	}
	switch {
	case err != nil && !isBrokenPipe(err): // who no longer reads has seen enough
		return err
	case len(c.summary.Failed) > 0:
		return errReported
	}
	if c.failing && !c.flags.exitZero {
		return errFindings
	}
	return nil
}

// targets looks up what paths stand for, and settles what holds for each file.
func (c *check) targets(paths []string) (*targets, error) {
	ts, err := c.search.find(paths)
	if err != nil {
		return nil, err
	}
	c.found = make([]bool, len(ts.roots))
	c.several = len(ts.files) > 1 || len(ts.roots) > 0
	for _, u := range ts.unread {
		c.fail(u.path, u.err)
	}
	for _, path := range ts.excluded {
		c.explain("%s: excluded", path)
	}
	err = eachConfig(c.search, ts, func(file *config.File) error {
		c.settings(file) // from now on they are only read
		return c.knows(file)
	})
	if err != nil {
		return nil, err
	}
	return ts, nil
}

// check reads and checks one file.
func (c *check) check(ctx context.Context, t *target) checked {
	return c.look(ctx, t, c.options(t), c.flags.jobs)
}

// options returns how a file is to be looked at, and what the reports need
// besides the findings.
func (c *check) options(t *target) engine.Options {
	o := c.settings(t.config).options(t)
	o.Identity = t.identity()
	// Edits hold text of the transcript.
	o.Edits = !c.flags.noExcerpt && slices.ContainsFunc(c.outputs, func(o *output) bool { return o.format.Edits })
	o.Excerpts = slices.ContainsFunc(c.outputs, func(o *output) bool { return o.format.Excerpts })
	if c.records || c.baselines.path(c.settings(t.config)) != "" {
		return o // a baseline knows each finding
	}
	if !slices.ContainsFunc(c.outputs, func(o *output) bool { return !o.format.Few }) {
		o.Most = report.MostShown
	}
	if s := c.settings(t.config); !slices.ContainsFunc(c.outputs, func(o *output) bool { return o.format.Infos }) {
		o.Shown = func(r *rules.Rule, at rules.Severity) bool { return at > rules.Info || c.flags.verbose || s.shows(r) }
	}
	return o
}

// look opens and checks one file.
func (a *app) look(ctx context.Context, t *target, o engine.Options, jobs int) checked {
	src, err := a.open(ctx, t, jobs)
	if err != nil {
		return checked{err: err}
	}
	defer src.Close()
	r, err := engine.Check(ctx, src, o)
	return checked{r, err}
}

// take reports what came of a file. Its error ends the run.
func (c *check) take(t *target, got checked) error {
	if got.err != nil {
		c.fail(t.path, got.err)
		return nil
	}
	if !c.admits(t, got.report) {
		return nil
	}
	c.summary.Known += c.baselines.leaveOut(c.now, t, got.report)
	c.summary.Add(got.report)
	c.describes(c.summary, t, got.report)
	for f, n := range got.report.All() {
		if f.Severity == rules.Info && !c.showsInfo(f) {
			c.summary.Hidden += n
		}
	}
	c.failing = c.failing || c.fails(got.report)
	return c.tell(got.report)
}

// describes counts a file whose dialect its config file describes.
func (c *check) describes(s *report.Summary, t *target, r *engine.Report) {
	if d := t.config.Dialects().ByName(r.File.Dialect); d != nil && d.UserDefined() {
		s.Described(r)
	}
}

// fails reports whether what was found in a file makes the run fail.
func (c *check) fails(r *engine.Report) bool {
	for f := range r.All() {
		if f.Severity >= c.now.failOn {
			return true
		}
	}
	return false
}

// admits reports whether a file counts, and says so.
func (c *check) admits(t *target, r *engine.Report) bool {
	skip, why := "", ""
	switch {
	case r.Skipped != "" && t.named && !c.flags.skipUnrecognized:
		c.fail(r.Path, errors.New(r.Path+": not a transcript: "+c.skipped(r)))
		return false
	case r.Skipped != "":
		why = c.skipped(r)
		skip = "not a transcript: " + why
	case (!t.named || c.flags.skipUnrecognized) && !r.File.Sure:
		why = "nothing in it is found in transcripts alone"
		skip = why
	}
	if skip != "" {
		c.summary.Skip(r, why)
		c.explain("%s: skipped: %s", r.Path, skip)
		return false
	}
	for _, root := range t.roots {
		c.found[root] = true
	}
	c.explain("%s: %s", r.Path, because(r.File))
	return true
}

// tell reports the findings of a file.
func (c *check) tell(r *engine.Report) error {
	for _, o := range c.outputs {
		if err := o.rep.File(r); err != nil {
			return err
		}
	}
	return c.out.Flush()
}

// finish writes what stands at the end.
func (c *check) finish(ts *targets, closing fmt.Stringer) error {
	for _, o := range c.outputs {
		err := o.rep.Close(c.summary)
		if err == nil && o.file != nil {
			err = o.file.Commit()
		}
		if err != nil {
			return err
		}
	}
	if err := c.out.Flush(); err != nil {
		return err
	}
	if c.flags.quiet {
		return nil
	}
	for i, root := range ts.roots {
		if !c.found[i] {
			c.complain("warning: no transcripts found in " + root)
		}
	}
	if c.summarises() {
		c.note(closing.String())
	}
	return nil
}

// summarises reports whether the run ends with a summary: not where standard
// output belongs to a program.
func (c *check) summarises() bool {
	for _, o := range c.outputs {
		if o.path == "" {
			return o.format.Human
		}
	}
	return true
}

// fail prints what keeps a file from being checked. The others still are.
func (c *check) fail(path string, err error) {
	c.summary.Fail(path, err)
	// What was found so far comes first; if it cannot be written, the next
	// write tells.
	_ = c.out.Flush()
	c.complain(err.Error())
}

// explain prints what was decided about a file, if that is asked for.
func (c *check) explain(format string, args ...any) {
	if c.flags.verbose {
		_ = c.out.Flush()
		c.note(fmt.Sprintf(format, args...))
	}
}

// skipped says why a file is no transcript.
func (c *check) skipped(r *engine.Report) string {
	if c.flags.noExcerpt {
		return r.SkippedDiscreet
	}
	return r.Skipped
}
