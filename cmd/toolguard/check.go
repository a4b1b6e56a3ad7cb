package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/config"
	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
)

// checkFlags are the flags that check and fix share.
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
	allowEmpty       bool
	baseline         string
	noBaseline       bool
	jobs             int
}

func newCheckCmd(a *app) *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check [flags] [path...|-]",
		Short: "Check transcripts and report errors",
		Long: `check reads transcripts and reports what is wrong with them. It changes nothing.

A file that you name is checked whatever its extension. In a directory, check
looks for *.jsonl, *.ndjson and *.json files, also compressed as .gz or .zst,
and for *.yaml and *.yml files that begin like recordings of requests, which are
only checked. It skips hidden directories, node_modules, and files that a .gitignore in the
directory or below it hides. The default is the current directory; - is standard
input. Settings come from the nearest toolguard.toml in the directory of a file
or above it. Flags override them. Findings in the baseline of a file are counted,
but not reported: see toolguard baseline --help.

check shows errors and warnings. It shows infos with --verbose, with --fail-on
info, or if --select names their rule; the JSON report always contains them.
Reports for people show the first 1,000 findings of a kind in a file and count
the rest; the text report shows three warnings and three infos of a kind, unless
--verbose is given or --fail-on is that level. It has one entry for the calls of a turn that lost their
results together, with the places and the tools of the others. With --verbose,
and in all other formats, also concise, each has its own. On a terminal, check
ends with which files have errors, if it read more than 50.

A compressed file is rejected if it unpacks to more than 4 GiB or to more than
200 times its size. --max-size sets another limit.

Exit codes: 0 if there are no findings at or above --fail-on, 1 if there are, 2
if a file could not be checked, if there was no transcript to check, or if the
command line is wrong. --allow-empty allows that nothing is checked, and so do
--skip-unrecognized, --force-exclude and --exit-zero. A named file
that is empty or has no messages is only a warning.`,
		Example: `  toolguard check session.jsonl
  toolguard check --select pairing --output-format json=report.json runs/
  my-agent --dump-history | toolguard check --send --provider anthropic -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newCheck(a, f)
			if err != nil {
				return err
			}
			c.judges = true
			return c.run(cmd.Context(), args)
		},
	}
	f.define(cmd)
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "leave out the findings that this `file` holds; toolguard baseline writes it (default: for each transcript "+defaultBaseline+")")
	cmd.Flags().BoolVar(&f.noBaseline, "no-baseline", false, "report the findings that a baseline holds too")
	cmd.Flags().BoolVar(&f.allowEmpty, "allow-empty", false, "exit with 0 even if there was no transcript to check")
	exclusive(cmd, "baseline", "no-baseline")
	return cmd
}

// define adds the flags to a command.
func (f *checkFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	f.ruleFlags.define(cmd)
	flags.StringArrayVarP(&f.formats, "output-format", "o", nil, "report in this `format[=file]`: "+strings.Join(formatNames(), ", ")+"; repeatable, or separated by commas (default: $"+formatEnv+", or text)")
	defineColor(cmd, &f.color)
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show only ids, names, types and roles, and no other text of a transcript")
	flags.BoolVar(&f.statistics, "statistics", false, "show the number of findings by rule instead of the findings")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only findings")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show infos, and each call of a turn that lost its result; say on standard error what each file is, and why")
	flags.BoolVar(&f.exitZero, "exit-zero", false, "exit with 0 even if there are findings")
	flags.BoolVar(&f.skipUnrecognized, "skip-unrecognized", false, "skip named files that are not clearly transcripts")
	f.fileFlags.define(cmd)
	defineJobs(flags, &f.jobs, "check")
	exclusive(cmd, "quiet", "verbose")

	complete(cmd, "output-format", completeFrom(formatNames))
}

// complete registers f to complete the values of a flag. It panics if the flag
// does not exist.
func complete(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}

// completeFrom completes from a list. The list is made only when a shell asks for
// it, because the lists of all flags take more memory than the flags themselves.
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
	errOut    *bufio.Writer // standard error, for a report

	fixes   bool      // this is a run of fix
	records bool      // this is a run of baseline
	judges  bool      // this is a run of check: it must find a transcript
	judged  bool      // it found one
	unnamed bool      // no path was given, so that the current directory is checked
	excused bool      // it found a named file without messages
	seeks   bool      // a directory or standard input should have a transcript
	now     *settings // of the file that is being reported
	failing bool      // a finding is at or above fail-on
	summary *report.Summary
	found   []bool         // by root: a transcript was found in it
	odd     []string       // by root: a file that may have messages in an unknown format
	ended   func(*targets) // called after the last file, nil if there is nothing to do
	spread  spread         // which files have errors, in a run of check on a terminal
}

// newCheck validates the flags and returns the check that they ask for.
func newCheck(a *app, f *checkFlags) (*check, error) {
	c := &check{app: a, flags: f, out: bufio.NewWriter(a.stdout), errOut: bufio.NewWriter(a.stderrReport), summary: &report.Summary{}}
	c.baselines = baselines{given: f.baseline, off: f.noBaseline || f.isolated && f.baseline == ""}
	var err error
	if c.resolver, err = newResolver(&f.ruleFlags); err != nil {
		return nil, err
	}
	if f.jobs, err = atATime(f.jobs); err != nil {
		return nil, err
	}
	var formats []string
	from := "--output-format"
	for _, v := range f.formats {
		formats = append(formats, splitOutputs(v)...)
	}
	if len(formats) == 0 {
		formats, from = []string{"text"}, formatEnv
		if v := a.env(formatEnv); v != "" {
			formats = strings.Split(v, ",")
		}
	}
	if c.outputs, err = a.parseOutputs(formats); err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if slices.ContainsFunc(c.outputs, func(o *output) bool { return o.to != toStdout }) {
		c.out.Reset(&sidePipe{Writer: a.stdout})
	}
	// A wrong value is an error even if no report goes to standard output.
	if _, err := useColor(f.color, a.env, false); err != nil {
		return nil, err
	}
	c.search, err = newSearch(&f.fileFlags)
	return c, err
}

// reporter returns a reporter that writes an output to w.
func (c *check) reporter(o *output, w io.Writer) (report.Reporter, error) {
	opts := report.Options{
		NoExcerpt: c.flags.noExcerpt, Version: programVersion(), Fix: c.fixes, Started: started(c.env),
		ShowInfo: c.showsInfo, EachCall: c.flags.verbose,
		Fails: func(f *engine.Finding) bool { return f.Severity >= c.now.failOn },
	}
	var err error
	switch o.to {
	case toStdout:
		opts.Width = c.reportWidth(c.rawStdout)
		opts.Color, err = useColor(c.flags.color, c.env, c.terminal)
		opts.Apart = !sameFile(c.rawStdout, c.rawStderr)
	case toStderr:
		opts.Width = c.reportWidth(c.rawStderr)
		opts.Color, err = useColor(c.flags.color, c.env, c.stderrTerminal)
	case toFile:
		opts.Apart = true
		opts.Color = c.flags.color == "always" // the environment is about terminals
	}
	if c.flags.statistics && o.format.Human {
		return report.NewStatistics(w, opts), err
	}
	return o.format.New(w, opts), err
}

// showsInfo reports whether reports for people show an info of the current file.
func (c *check) showsInfo(f *engine.Finding) bool { return c.flags.verbose || c.now.shows(f.Rule) }

// started returns the time to put into reports. SOURCE_DATE_EPOCH overrides it,
// so that reports are reproducible.
func started(env func(string) string) time.Time {
	if seconds, err := strconv.ParseInt(env("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0)
	}
	return time.Now()
}

func (c *check) run(ctx context.Context, paths []string) error {
	return runOver(ctx, c, paths, c.check, c.take, c.summary)
}

// runOver calls work for each file that paths name, passes the results to take in
// the order of the files, and prints the closing summary.
func runOver[R any](ctx context.Context, c *check, paths []string, work func(context.Context, *target) (R, error), take func(*target, R, error) error, closing fmt.Stringer) error {
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
	if err := c.openOutputs(); err != nil {
		return err
	}
	defer discardOutputs(c.outputs)
	weight := func(t *target) int64 {
		if c.fixes {
			return max(t.size, weightPerJob/4) // it stays open until it is taken
		}
		return t.size
	}
	if c.stderrTerminal && !c.flags.quiet && c.env("TERM") != "dumb" {
		c.bar = newProgress(c.rawStderr, ts.files, progressAfter)
		defer c.bar.end()
	}
	err = inOrder(ctx, ts.files, c.flags.jobs, weight, work, func(t *target, r R, err error) error {
		defer c.bar.step(t)
		c.now = c.settings(t.config)
		return take(t, r, err)
	})
	c.bar.end()
	if err == nil {
		if c.ended != nil {
			c.ended(ts)
		}
		err = c.finish(ts, closing)
	}
	switch {
	case err != nil && !isBrokenPipe(err): // the reader has closed the pipe
		return err
	case len(c.summary.Failed) > 0, c.unjudged(), slices.ContainsFunc(c.outputs, func(o *output) bool { return o.failed }):
		return errReported
	}
	if c.failing && !c.flags.exitZero {
		return errFindings
	}
	return nil
}

// targets finds the files that paths name and resolves the settings of each.
func (c *check) targets(paths []string) (*targets, error) {
	c.unnamed = len(paths) == 0
	ts, err := c.search.find(paths)
	if err != nil {
		return nil, err
	}
	c.found, c.odd = make([]bool, len(ts.roots)), make([]string, len(ts.roots))
	c.seeks = len(ts.roots) > 0 || slices.ContainsFunc(ts.files, func(t *target) bool { return t.stdin })
	for _, u := range ts.unread {
		c.fail(u.path, u.err)
	}
	for _, path := range ts.excluded {
		c.explain(path, "excluded")
	}
	c.summary.Ignored = len(ts.ignored)
	for _, path := range slices.Sorted(maps.Values(ts.ignored)) {
		c.explain(path, "ignored")
	}
	err = eachConfig(c.search, ts, func(file *config.File) error {
		c.settings(file) // fills the cache, which is only read from now on
		return c.knows(file)
	})
	if err != nil {
		return nil, err
	}
	return ts, nil
}

// target returns the only file of a command that reads one. instead says what else a directory is good
// for, and is "" for nothing.
func (c *check) target(path, instead string) (*target, error) {
	if info, err := os.Stat(path); path != "-" && err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory; expected a file%s", path, instead)
	}
	ts, err := c.targets([]string{path})
	switch {
	case err != nil:
		return nil, err
	case len(c.summary.Failed) > 0:
		return nil, errReported
	case len(ts.files) == 0:
		return nil, fmt.Errorf("%s: is excluded", path)
	}
	return ts.files[0], nil
}

// check reads and checks one file.
func (c *check) check(ctx context.Context, t *target) (*engine.Report, error) {
	return c.look(ctx, t, c.options(t), c.flags.jobs)
}

// options returns the engine's options for a file, with those that the reports
// need.
func (c *check) options(t *target) engine.Options {
	o := c.settings(t.config).options(t)
	o.Identity = t.identity()
	// Edits contain text of the transcript.
	o.Edits = !c.flags.noExcerpt && slices.ContainsFunc(c.outputs, func(o *output) bool { return o.format.Edits })
	o.Excerpts = slices.ContainsFunc(c.outputs, func(o *output) bool { return o.format.Excerpts })
	if _, known := c.baselines.files[c.baselines.path(c.settings(t.config))]; c.records || known {
		return o // a baseline needs all findings
	}
	if !slices.ContainsFunc(c.outputs, func(o *output) bool { return !o.format.Few }) {
		o.Most = report.MostShown
		if s := c.settings(t.config); !c.flags.verbose && !slices.ContainsFunc(c.outputs, func(o *output) bool { return !o.format.Sparse }) {
			o.MostOf = func(at rules.Severity) int {
				if at < s.failOn && at < rules.Error {
					return report.MostMinor
				}
				return report.MostShown
			}
		}
	}
	if s := c.settings(t.config); !slices.ContainsFunc(c.outputs, func(o *output) bool { return o.format.Infos }) {
		o.Shown = func(r *rules.Rule, at rules.Severity) bool { return at > rules.Info || c.flags.verbose || s.shows(r) }
	}
	return o
}

// look opens and checks one file.
func (a *app) look(ctx context.Context, t *target, o engine.Options, jobs int) (*engine.Report, error) {
	src, err := a.open(ctx, t, jobs)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return engine.Check(ctx, src, o)
}

// take reports the findings of a file, or the error that prevented them. Its own error ends
// the run.
func (c *check) take(t *target, got *engine.Report, err error) error {
	if err != nil {
		c.fail(t.path, err)
		return nil
	}
	if !c.admits(t, got) {
		return nil
	}
	c.judge(t, got)
	c.baselines.leaveOut(c.now, t, got, c.summary)
	c.summary.Add(got)
	c.describes(c.summary, t, got)
	for f, n := range got.Kinds() {
		if f.Severity == rules.Info && !c.showsInfo(f) {
			c.summary.Hidden += n
		}
	}
	c.failing = c.failing || c.fails(got)
	if c.judges && c.stderrTerminal {
		c.spread.add(report.TallyErrors(got))
	}
	return c.tell(got)
}

// judge notes whether a file had something to check. A named file without messages has not: it may
// be a session that nobody has used, so that is only said. Nothing in a pipe or in a whole
// directory is more likely a mistake.
func (c *check) judge(t *target, r *engine.Report) {
	lacks := ""
	switch {
	case r.File.Container == detect.ContainerEmpty:
		lacks = "is empty"
	case nothingIn(r.File) != "" && r.Findings.Len() == 0:
		lacks = "has no messages"
	default:
		c.judged = true
		return
	}
	c.excused = c.excused || t.named && !t.stdin
	if c.judges {
		c.summary.Empty++
	}
	if !c.flags.quiet {
		_ = c.flush() // as in fail
		c.complain("warning: "+t.path+" "+lacks, t.path)
	}
}

// unjudged reports whether there was no transcript to check, although there should be one. Hooks
// name whatever changed, and skip what is excluded or unrecognized.
func (c *check) unjudged() bool {
	f := c.flags
	none := !c.judged && (c.seeks || !c.excused)
	return c.judges && none && !f.allowEmpty && !f.skipUnrecognized && !f.forceExclude && !f.exitZero && len(c.summary.Failed) == 0
}

// isPipe reports whether another program writes to r.
func isPipe(r io.Reader) bool {
	f, is := r.(*os.File)
	if !is {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// describes counts a file whose dialect is defined in its config file.
func (c *check) describes(s *report.Summary, t *target, r *engine.Report) {
	if d := t.config.Dialects().ByName(r.File.Dialect); d != nil && d.UserDefined() {
		s.Described(r)
	}
}

// fails reports whether a finding in a file is at or above fail-on.
func (c *check) fails(r *engine.Report) bool {
	for f := range r.Kinds() {
		if f.Severity >= c.now.failOn {
			return true
		}
	}
	return false
}

// admits reports whether a file is a transcript to be reported. If it is not,
// admits counts it as skipped or failed.
func (c *check) admits(t *target, r *engine.Report) bool {
	skip, why := "", ""
	switch {
	case r.Skipped != "" && t.named && !c.flags.skipUnrecognized:
		c.fail(r.Path, errors.New(r.Path+": "+notTranscript(r, c.skipped(r))))
		return false
	case r.File.Container == detect.ContainerEmpty && t.named && c.now.send:
		c.fail(r.Path, errors.New(r.Path+": is empty: --send expects a request body"))
		return false
	case r.Skipped != "":
		why = c.skipped(r)
		skip = "not a transcript: " + why
		note(c.odd, t, r)
	case (!t.named || c.flags.skipUnrecognized) && !r.File.Sure:
		why = "it has nothing that occurs only in transcripts"
		skip = why
	}
	if skip != "" {
		c.summary.Skip(r, why)
		c.explain(r.Path, "skipped: "+skip)
		return false
	}
	for _, root := range t.roots {
		c.found[root] = true
	}
	c.explain(r.Path, because(r.File))
	return true
}

// tell reports the findings of a file.
func (c *check) tell(r *engine.Report) error {
	if err := c.each(func(o *output) error { return o.rep.File(r) }); err != nil {
		return err
	}
	return c.flush()
}

// each calls f for each output. A report that fails is not written any more, and its file is
// not created; the others are complete. An error of a standard stream ends the run.
func (c *check) each(f func(*output) error) error {
	for _, o := range c.outputs {
		if o.failed {
			continue
		}
		err := contain.Do(func() error { return f(o) })
		switch caught := contain.From(err); {
		case err == nil:
			continue
		case caught != nil:
			err = c.internal(fmt.Sprintf("%s: the %s report is not complete", o.where(), o.format.Name), caught)
		case o.to != toFile:
			return err
		}
		if o.failed = true; o.file != nil {
			o.file.Discard()
		}
		_ = c.flush() // as in fail
		c.complain(err.Error(), o.where())
	}
	return nil
}

// flush writes what reports have written to the standard streams.
func (c *check) flush() error { return cmp.Or(c.out.Flush(), c.errOut.Flush()) }

// finish ends the reports and prints the summary.
func (c *check) finish(ts *targets, closing fmt.Stringer) error {
	err := c.each(func(o *output) error {
		if err := o.rep.Close(c.summary); err != nil || o.file == nil {
			return err
		}
		return o.file.Commit()
	})
	if err := cmp.Or(err, c.flush()); err != nil {
		return err
	}
	c.warn(ts)
	if c.unjudged() {
		what := "there was no transcript to check; "
		if c.unnamed && isPipe(c.stdin) {
			what += "- reads standard input, "
		}
		c.complain(what + "--allow-empty allows that")
	}
	if c.flags.quiet {
		return nil
	}
	if c.summarises() {
		c.say(closing.String(), c.summary.Names()...)
		return c.draw(&c.spread, "file", "in the order of their paths", c.spread.causes(), c.flags.color)
	}
	return nil
}

// warn prints which directories hold no transcripts, unless --quiet is set.
func (c *check) warn(ts *targets) {
	for i := range ts.roots {
		if !c.found[i] && !c.flags.quiet {
			c.complain(ts.noneIn(i, c.odd[i]), ts.roots[i], c.odd[i])
		}
	}
}

// summarises reports whether the run ends with a summary. It does not if a
// report for programs goes to standard output or to standard error.
func (c *check) summarises() bool {
	return !slices.ContainsFunc(c.outputs, func(o *output) bool { return o.to != toFile && !o.format.Human })
}

// fail prints why a file cannot be checked. The run continues with the others.
func (c *check) fail(path string, err error) {
	err = c.described(path, err)
	c.summary.Fail(path, err)
	// The findings so far come first. If they cannot be written, the next write
	// reports that.
	_ = c.flush()
	c.complain(err.Error(), path)
}

// explain prints a decision about a file if --verbose is set.
func (c *check) explain(path, what string) {
	if c.flags.verbose {
		_ = c.flush()
		c.note(path+": "+what, path)
	}
}

// note notes a file that is not a transcript, if it may have messages in an unknown format.
func note(odd []string, t *target, r *engine.Report) {
	for _, root := range t.roots {
		if r.File.Unknown && odd[root] == "" {
			odd[root] = r.Path
		}
	}
}

// notTranscript says why a file that was named is not a transcript, and what to do if it is one.
func notTranscript(r *engine.Report, why string) string {
	if r.File.Unknown {
		why += "; a format of your own is described in toolguard.toml: see docs/dialects.md"
	}
	return "not a transcript: " + why
}

// skipped returns why a file is not a transcript.
func (c *check) skipped(r *engine.Report) string {
	if c.flags.noExcerpt {
		return r.SkippedDiscreet
	}
	return r.Skipped
}
