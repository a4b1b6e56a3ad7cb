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

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/stats"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/usage"
)

// formatNames lists the output formats.
func formatNames() (names []string) {
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// checkCmd returns the command check.
func (a *app) checkCmd() *cobra.Command {
	var f fileFlags
	var r ruleFlags
	var format string
	var statistics, verbose, exitZero bool
	cmd := &cobra.Command{
		Use:         "check [flags] path...",
		Short:       "Check the conversations of Parquet and Arrow files and report errors",
		Annotations: usage.Short("column provider from select fail-on exit-zero output-format verbose"),
		Long: `check reports what toolguard check reports about the same rows as JSON Lines. The
line of a finding is its row, from 1, and its column is a place in the row as
toolguard parquet filter --out - writes it.

Exit codes: 0 if there are no findings at or above --fail-on, 1 if there are, 2
if a file could not be checked or the command line is wrong.`,
		Example: "  toolguard parquet check --provider openai train.parquet",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.parse(); err != nil {
				return err
			}
			i := slices.IndexFunc(report.Formats(), func(f report.Format) bool { return f.Name == format })
			if i < 0 {
				return fmt.Errorf("--output-format: %w", suggest.Unknown("format", format, formatNames(), "expected one of "+strings.Join(formatNames(), ", ")))
			}
			of := report.Formats()[i]
			list, _, err := f.targets(args)
			if err != nil {
				return err
			}
			c := &checking{app: a, files: &f, rules: &r, format: of, verbose: verbose, out: bufio.NewWriter(a.stdout), summary: &report.Summary{}}
			opts := report.Options{
				NoExcerpt: f.noExcerpt, Version: a.version, Started: time.Now(), EachCall: verbose, Apart: true,
				ShowInfo: func(g *engine.Finding) bool { return verbose || c.now.shows(g.Rule) },
				Fails:    func(g *engine.Finding) bool { return g.Severity >= c.now.failOn },
			}
			if c.rep = of.New(c.out, opts); statistics && of.Human {
				c.rep = report.NewStatistics(c.out, opts)
			}
			err = c.run(cmd.Context(), list)
			if errors.Is(err, errFindings) && exitZero {
				return nil
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.define(flags)
	r.define(flags)
	flags.StringVar(&r.failOn, "fail-on", "", "exit with 1 for findings of this `severity` or higher: error, warning or info (default: error)")
	flags.StringVarP(&format, "output-format", "o", "text", "report in this `format`: "+strings.Join(formatNames(), ", "))
	flags.BoolVar(&statistics, "statistics", false, "show the number of findings by rule instead of the findings")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only findings")
	flags.BoolVarP(&verbose, "verbose", "v", false, "show infos, and each call of a turn that lost its result")
	flags.BoolVar(&exitZero, "exit-zero", false, "exit with 0 even if there are findings")
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	return cmd
}

// A checking is one run of check.
type checking struct {
	*app
	files   *fileFlags
	rules   *ruleFlags
	format  report.Format
	verbose bool
	out     *bufio.Writer
	rep     report.Reporter
	now     *settings
	summary *report.Summary
	failing bool
}

func (c *checking) run(ctx context.Context, list []*target) error {
	for _, t := range list {
		got, err := c.check(ctx, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err := c.out.Flush(); err != nil {
				return err
			}
			c.fail(t, err, c.summary)
			continue
		}
		c.summary.Add(got)
		for f, n := range got.Kinds() {
			if f.Severity == rules.Info && !c.verbose && !c.now.shows(f.Rule) {
				c.summary.Hidden += n
			}
			c.failing = c.failing || f.Severity >= c.now.failOn
		}
		if err := cmp.Or(c.rep.File(got), c.out.Flush()); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.rep.Close(c.summary), c.out.Flush()); err != nil {
		return err
	}
	if c.format.Human && !c.files.quiet {
		fmt.Fprint(c.stderr, report.FoldSentences(c.summary.String(), report.DefaultWidth, c.summary.Names()...))
	}
	switch {
	case len(c.summary.Failed) > 0:
		return errReported
	case c.failing:
		return errFindings
	}
	return nil
}

// fail says why a file could not be read.
func (a *app) fail(t *target, err error, s *report.Summary) {
	err = a.described(t.path, err)
	s.Fail(t.path, err)
	a.complain(err)
}

// check checks one file.
func (c *checking) check(ctx context.Context, t *target) (got *engine.Report, err error) {
	if c.now, err = c.rules.settings(t); err != nil {
		return nil, err
	}
	in, err := c.files.open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := c.now.Options
	o.Edits, o.Excerpts = c.format.Edits && !c.files.noExcerpt, c.format.Excerpts
	if c.format.Few {
		o.Most = report.MostShown
		if failOn := c.now.failOn; c.format.Sparse && !c.verbose {
			o.MostOf = func(at rules.Severity) int {
				if at < failOn && at < rules.Error {
					return report.MostMinor
				}
				return report.MostShown
			}
		}
	}
	if s := c.now; !c.format.Infos {
		o.Shown = func(r *rules.Rule, at rules.Severity) bool { return at > rules.Info || c.verbose || s.shows(r) }
	}
	if got, err = engine.Check(ctx, in.src, o); err == nil {
		err = cmp.Or(in.Unchanged(), admits(t, got, true, c.files.noExcerpt))
	}
	return got, err
}

// statsCmd returns the command stats.
func (a *app) statsCmd() *cobra.Command {
	var f fileFlags
	var r ruleFlags
	var by []string
	minCalls := 0
	var asJSON, asCSV bool
	cmd := &cobra.Command{
		Use:         "stats [flags] path...",
		Short:       "Count how often tool calls of Parquet and Arrow files have no result",
		Annotations: usage.Short("column by min-calls json csv provider from select"),
		Long: `stats counts what toolguard stats counts in the same rows as JSON Lines: how often
calls have no result, the errors by rule, and how many rows filter would reject.

Exit codes: 0 if everything was counted, 2 if a file could not be read or the
command line is wrong. The files that could be read are counted in any case.`,
		Example: "  toolguard parquet stats --by tool data/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.parse(); err != nil {
				return err
			}
			var tables [][]stats.Dimension
			for _, text := range by {
				of, unknown := stats.ParseTable(text)
				if of == nil {
					return fmt.Errorf("--by: %w", suggest.Unknown("property", unknown, stats.Dimensions(), "expected one of "+strings.Join(stats.Dimensions(), ", ")))
				}
				tables = append(tables, of)
			}
			list, _, err := f.targets(args)
			if err != nil {
				return err
			}
			total, run := stats.NewShard(tables), report.StatsRun{Summary: &report.Summary{}}
			for _, t := range list {
				shard, err := a.count(cmd.Context(), t, &f, &r, tables)
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				if err != nil {
					a.fail(t, err, run.Summary)
					continue
				}
				total.Merge(shard)
			}
			run.Result = total.Finish()
			w := bufio.NewWriter(a.stdout)
			switch {
			case asJSON:
				err = report.StatsJSON(w, &run)
			case asCSV:
				err = report.StatsCSV(w, &run)
			default:
				err = report.Stats(w, &run, report.StatsOptions{Width: report.DefaultWidth, ASCII: true, MinCalls: minCalls})
			}
			if err = cmp.Or(err, w.Flush()); err == nil && len(run.Summary.Failed) > 0 {
				return errReported
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.define(flags)
	r.define(flags)
	flags.StringArrayVar(&by, "by", []string{"agent", "tool"}, "count by these `properties`: "+strings.Join(stats.Dimensions(), ", ")+"; repeatable")
	flags.IntVar(&minCalls, "min-calls", 30, "show no rate for groups with fewer calls than `n`")
	flags.BoolVar(&asJSON, "json", false, "print a JSON document")
	flags.BoolVar(&asCSV, "csv", false, "print the groups as CSV")
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	return cmd
}

// count counts what is in one file.
func (a *app) count(ctx context.Context, t *target, f *fileFlags, r *ruleFlags, tables [][]stats.Dimension) (*stats.Shard, error) {
	s, err := r.settings(t)
	if err != nil {
		return nil, err
	}
	in, err := f.open(ctx, t)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	shard, got, err := stats.Read(ctx, in.src, stats.Options{
		Check: s.Options, Tables: tables, Discreet: f.noExcerpt,
		About: func(d *dialect.Dialect) stats.About { return stats.About{Agent: d.Title} },
	})
	if err == nil {
		err = cmp.Or(in.Unchanged(), admits(t, got, true, f.noExcerpt))
	}
	return shard, err
}
