package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

// checkFlags are the flags of check.
type checkFlags struct {
	sessions          []string
	selected, ignored []string
	provider          string
	format, failOn    string
	noExcerpt         bool
	verbose           bool
}

func newCheckCmd(a *app) *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check [flags] database...",
		Short: "Check the sessions in databases and report errors",
		Long: `check reads each session in the form in which its agent exports it, and reports
what is wrong with it. Lines and columns are those of the text that
toolguard-sqlite dump writes. Reports name a session as DATABASE#SESSION.

Exit codes: 0 if there are no findings at or above --fail-on, 1 if there are, 2
if a database or a session could not be read or the command line is wrong.`,
		Example: `  toolguard-sqlite check ~/.local/share/opencode/opencode.db
  toolguard-sqlite check --session ses_1 --output-format json opencode.db`,
		Args: databases,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newCheck(a, f, false)
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
	flags.StringArrayVar(&f.sessions, "session", nil, "only the session with this `id`; repeatable")
	flags.StringSliceVar(&f.selected, "select", nil, "run only these `rules` and categories")
	flags.StringSliceVar(&f.ignored, "ignore", nil, "skip these `rules` and categories")
	flags.StringVar(&f.provider, "provider", "", "check what this model `API` rejects; toolguard profiles lists them")
	flags.StringVarP(&f.format, "output-format", "o", "text", "report in this `format`: "+strings.Join(formatNames(), ", "))
	flags.StringVar(&f.failOn, "fail-on", "error", "exit with 1 if there are findings of at least this `severity`: error, warning or info")
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show only ids, names, types and roles, and no other text of a session")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show infos, and each call of a turn that lost its result")
}

// formatNames lists the output formats.
func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// A check is one run of the command.
type check struct {
	*app
	flags   *checkFlags
	out     *bufio.Writer
	format  report.Format
	report  report.Reporter
	options engine.Options
	failOn  rules.Severity
	summary *report.Summary
	failing bool
	fixes   bool             // it is part of a repair
	broken  []*layout.Schema // of sessions with errors
}

// newCheck validates the flags and returns the check that they ask for, which may be that of a repair.
func newCheck(a *app, f *checkFlags, fixes bool) (*check, error) {
	c := &check{app: a, flags: f, out: bufio.NewWriter(a.stdout), summary: &report.Summary{}, fixes: fixes}
	formats := formatNames()
	i := slices.Index(formats, f.format)
	if i < 0 {
		return nil, fmt.Errorf("--output-format: %w", suggest.Unknown("output format", f.format, formats, "expected one of "+strings.Join(formats, ", ")))
	}
	c.format = report.Formats()[i]
	for _, list := range []struct {
		flag   string
		values []string
	}{{"select", f.selected}, {"ignore", f.ignored}} {
		if err := names.User.Rules(list.values); err != nil {
			return nil, fmt.Errorf("--%s: %w", list.flag, err)
		}
	}
	var err error
	if c.failOn, err = names.FailOn(f.failOn); err != nil {
		return nil, fmt.Errorf("--fail-on: %w", err)
	}
	if f.provider != "" {
		if c.options.Target, err = names.User.Provider(f.provider); err != nil {
			return nil, fmt.Errorf("--provider: %w", err)
		}
	}
	c.options.Rules, c.options.Explicit = rules.Select(f.selected, f.ignored)
	c.options.Excerpts = c.format.Excerpts
	c.report = c.format.New(c.out, report.Options{
		Fix: fixes, NoExcerpt: f.noExcerpt, Version: a.version, EachCall: f.verbose, ShowInfo: c.shows, Started: time.Now(),
		Fails: func(f *engine.Finding) bool { return f.Severity >= c.failOn },
	})
	return c, nil
}

// shows reports whether people are shown an info.
func (c *check) shows(f *engine.Finding) bool {
	return c.flags.verbose || c.failOn == rules.Info || c.options.Explicit[f.Rule.Name]
}

// run checks databases.
func (c *check) run(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := c.database(ctx, path); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !errors.Is(err, errReported) {
				return err
			}
		}
	}
	if err := cmp.Or(c.report.Close(c.summary), c.out.Flush()); err != nil {
		return err
	}
	if c.format.Human {
		fmt.Fprintln(c.stderr, c.closing())
	}
	switch {
	case len(c.summary.Failed) > 0:
		return errReported
	case c.failing:
		return errFindings
	}
	return nil
}

// closing says at the end how many sessions were checked.
func (c *check) closing() string {
	s := c.summary
	text := ""
	switch n := s.Problems(); {
	case n > 0:
		text = fmt.Sprintf("Found %s. ", count(n, "problem"))
	case s.Files > 0 || len(s.Failed) == 0:
		text = "No problems found. "
	}
	if s.Files == 0 && len(s.Failed) > 0 {
		text += "No sessions checked"
	} else {
		text += count(s.Files, "session") + " checked"
	}
	failed := map[string]bool{} // several rows of one can be bad
	for _, m := range s.Failed {
		failed[m.Path] = true
	}
	if n := len(failed); n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	lines := []string{text + "."}
	return strings.Join(append(lines, c.instead()...), "\n")
}

// instead says what can be done about sessions with errors.
func (c *check) instead() (lines []string) {
	for _, s := range c.broken {
		what := s.Instead
		if (c.fixes || s.Untested) && s.Left != "" {
			what = s.Left
		}
		lines = append(lines, s.Agent+": "+what+".")
	}
	return lines
}

// database checks the sessions of a database. Its error ends the run.
func (c *check) database(ctx context.Context, path string) error {
	l, err := openLibrary(ctx, path)
	if err != nil {
		c.fail(path, err)
		return nil
	}
	defer l.Close()
	if err := l.choose(c.flags.sessions); err != nil {
		c.fail(path, err)
		return nil
	}
	for _, s := range l.shelves {
		if s.torn != nil {
			c.fail(path, about(path, fmt.Errorf("the list of its sessions ends early: %w", s.torn)))
		}
		if s.elsewhere > 0 {
			fmt.Fprintln(c.stderr, report.Printable(fmt.Sprintf("%s: warning: %s: %s not checked: %s", program, path, count(s.elsewhere, "session"), s.Why)))
		}
		for i := range s.sessions {
			if err := c.session(ctx, l, s, s.sessions[i].ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// session checks a session. Its error ends the run.
func (c *check) session(ctx context.Context, l *library, s *shelf, id string) error {
	path := name(l.path, id)
	text, err := l.read(s, id, (*layout.Schema).Read)
	if err != nil {
		c.fail(path, about(path, err))
		return ctx.Err()
	}
	defer text.Close()
	for _, b := range text.Bad {
		c.fail(path, about(path, b))
	}
	opts := c.of(s.Schema, id)
	var got *engine.Report
	err = contain.Do(func() (err error) {
		got, err = engine.Check(ctx, source.NewSource(path, text, text.Size()), opts)
		return err
	})
	switch {
	case err != nil:
		c.fail(path, about(path, err))
		return ctx.Err()
	case got.Skipped != "":
		return nil // a session without messages
	}
	c.summary.Add(got)
	c.judge(s.Schema, got)
	return cmp.Or(c.report.File(got), c.out.Flush())
}

// judge notes whether a session fails the run, and whose it is.
func (c *check) judge(s *layout.Schema, got *engine.Report) {
	for f := range got.Kinds() {
		c.failing = c.failing || f.Severity >= c.failOn
		if f.Severity == rules.Error && !slices.Contains(c.broken, s) {
			c.broken = append(c.broken, s)
		}
	}
}

// of returns the options for a session of an agent.
func (c *check) of(s *layout.Schema, id string) engine.Options {
	opts := c.options
	opts.Dialect = dialect.ByName(s.Dialect)
	opts.Identity = id
	if s.Repaired == "" {
		opts.CheckOnly = "a session of " + s.Agent + " in a database is not repaired"
	} else if s.Untested {
		opts.CheckOnly = "its tables are not those of " + s.Repaired + ", whose sessions are repaired"
	}
	return opts
}

// fail prints why a database or a session could not be read. The run continues with the others.
func (c *check) fail(path string, err error) {
	c.summary.Fail(path, err)
	_ = c.out.Flush() // the next write reports the error
	c.complain(err.Error())
}
