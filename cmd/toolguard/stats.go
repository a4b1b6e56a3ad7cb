package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/stats"
	"github.com/toolguard/toolguard/internal/store"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/write"
)

// statsFlags are the flags of stats.
type statsFlags struct {
	checkFlags
	by        []string
	since     string
	minCalls  int
	json, csv bool
	html      string
	overwrite bool
}

func newStatsCmd(a *app) *cobra.Command {
	f := &statsFlags{}
	cmd := &cobra.Command{
		Use:   "stats [flags] [path...|-]",
		Short: "Count how often tool calls have no result, by agent, version, tool or model",
		Long: `stats reads transcripts like toolguard check and counts how often their calls
have no result. --by says by what: agent, version, tool, model, month or project.
Each --by is a table; --by version,tool is a table of pairs.

The rate is the share of the calls that could have a result and have none, with
its 95 % interval. These calls are left out, and counted at the end: those that
were interrupted, are at the end of a conversation, or are copies in forked
sessions, and those in traces, in damaged conversations, and where the result may
be stored elsewhere. Sessions in use are not read. The version and the model are
those of the record of a call, or else of its session.

stats also counts the errors by rule, with an example of each, and shows which
files have errors. For datasets it shows how many rows filter would reject, for
which cause, and where in the file they are.

--json and --csv have all groups, and exact numbers. Percentiles are right to 1 %.
--html writes a page that needs no network. The output does not depend on --jobs.

Exit codes: 0 if everything was counted, 2 if a file could not be read, if there
was no transcript, or if the command line is wrong. The files that could be read
are counted in any case.`,
		Example: `  toolguard stats ~/.claude/projects
  toolguard stats --by version --by month,tool --since 90d ~/.claude/projects
  toolguard stats --html report.html runs/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newCounting(a, f, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.by, "by", nil, "count by these `properties`: "+strings.Join(stats.Dimensions(), ", ")+"; repeatable (default: agent, and tool)")
	flags.StringVar(&f.since, "since", "", "skip files that did not change since a `date`, such as 2026-01-31, or for a time, such as 30d")
	flags.IntVar(&f.minCalls, "min-calls", 30, "show no rate for groups with fewer calls than `n`")
	flags.BoolVar(&f.json, "json", false, "print a JSON document")
	flags.BoolVar(&f.csv, "csv", false, "print the groups as CSV")
	flags.StringVar(&f.html, "html", "", "write a page with bars to this `file`, instead of text")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an existing file")
	defineColor(cmd, &f.color)
	flags.BoolVar(&f.noExcerpt, "no-excerpt", false, "show only ids, names, types and roles, and no other text of a transcript")
	f.defineRules(cmd)
	f.defineReading(cmd)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print no warnings")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error what each file is, and why")
	f.fileFlags.define(cmd)
	defineJobs(flags, &f.jobs, "read")
	exclusive(cmd, "json", "csv")
	exclusive(cmd, "json", "html")
	exclusive(cmd, "csv", "html")
	exclusive(cmd, "quiet", "verbose")
	complete(cmd, "by", completeFrom(stats.Dimensions))
	return cmd
}

// A counting is one run of the command.
type counting struct {
	*check
	flags  *statsFlags
	tables [][]stats.Dimension
	since  time.Time // zero without --since
	color  bool
	total  *stats.Shard
	result report.StatsRun
	page   *write.Output // nil without --html

	finder *store.Finder
	mu     sync.Mutex
	places map[string]*storePlace // by directory
}

// A storePlace is the store of an agent that contains a directory, and its locks when the run began.
type storePlace struct {
	store, now *store.Store // nil for none
	root       string
}

// newCounting validates the flags and returns the run that they ask for.
func newCounting(a *app, f *statsFlags, changed func(string) bool) (*counting, error) {
	color := f.color
	f.formats, f.color, f.noBaseline = []string{"text"}, "never", true
	c, err := newCheck(a, &f.checkFlags)
	if err != nil {
		return nil, err
	}
	c.outputs, c.baselines.off, c.judges = nil, true, true
	x := &counting{check: c, flags: f, places: map[string]*storePlace{}}
	if x.color, err = useColor(color, a.env, a.terminal); err != nil {
		return nil, err
	}
	if len(f.by) == 0 {
		f.by = []string{"agent", "tool"}
	}
	for _, text := range f.by {
		by, unknown := stats.ParseTable(text)
		if by == nil {
			return nil, fmt.Errorf("--by: %w", suggest.Unknown("property", unknown, stats.Dimensions(), "expected one of "+strings.Join(stats.Dimensions(), ", ")))
		}
		if !slices.ContainsFunc(x.tables, func(other []stats.Dimension) bool { return slices.Equal(other, by) }) {
			x.tables = append(x.tables, by)
		}
	}
	switch {
	case f.minCalls < 0:
		return nil, fmt.Errorf("--min-calls: expected a number of calls, got %d", f.minCalls)
	case changed("html") && f.html == "":
		return nil, errors.New(`--html: expected a path, got ""`)
	case f.overwrite && f.html == "":
		return nil, errors.New("--overwrite needs --html")
	case packedName(f.html):
		return nil, fmt.Errorf("--html: %s: toolguard writes no compressed files", f.html)
	}
	if changed("since") {
		if x.since, err = parseSince(f.since, time.Now()); err != nil {
			return nil, err
		}
	}
	x.total = stats.NewShard(x.tables)
	x.finder = store.Find(a.env, runtime.GOOS)
	return x, nil
}

// A fileCounts is what became of one file.
type fileCounts struct {
	shard      *stats.Shard
	report     *engine.Report
	inUse, old bool
}

// run counts what is in the files that paths name.
func (x *counting) run(ctx context.Context, paths []string) error {
	ts, err := x.targets(paths)
	if err != nil {
		return err
	}
	if err := x.openPage(ts); err != nil {
		return err
	}
	defer func() {
		if x.page != nil {
			x.page.Discard()
		}
	}()
	if x.stderrTerminal && !x.check.flags.quiet && x.env("TERM") != "dumb" {
		x.bar = newProgress(x.rawStderr, ts.files, progressAfter)
		defer x.bar.end()
	}
	err = inOrder(ctx, ts.files, x.check.flags.jobs, func(t *target) int64 { return t.size }, x.count, func(t *target, got *fileCounts, err error) error {
		defer x.bar.step(t)
		x.take(t, got, err)
		return nil
	})
	x.bar.end()
	if err != nil {
		return err
	}
	return x.end(ts)
}

// openPage opens the file of --html, unless the run reads it or it exists.
func (x *counting) openPage(ts *targets) (err error) {
	name := x.flags.html
	switch {
	case name == "":
		return x.overwrites(ts.files)
	case x.streamed(name) == "-":
		return errors.New("--html: expected a file")
	case isDir(name):
		return fmt.Errorf("--html: %s: is a directory; expected a file, such as %s", name, filepath.Join(name, "stats.html"))
	}
	if err := x.overwrites(ts.files, name); err != nil {
		return err
	}
	if !x.flags.overwrite {
		for name := range write.Existing(slices.Values([]string{name})) {
			return fmt.Errorf("%s: already exists; --overwrite replaces it", name)
		}
	}
	x.page, err = write.Create(name)
	return err
}

// count counts what is in one file.
func (x *counting) count(ctx context.Context, t *target) (got *fileCounts, err error) {
	got = &fileCounts{}
	at := &storePlace{}
	if !t.stdin {
		at = x.placeOf(t)
		info, err := os.Stat(t.path)
		if err != nil {
			return got, pathError(t.path, err)
		}
		if got.old = info.ModTime().Before(x.since); got.old {
			return got, nil
		}
		if at.store != nil {
			s := store.Session{Root: at.root, Path: t.path, Project: func() string { return x.describe(at.store, t).Project }}
			if got.inUse = at.now.InUse(s, info.ModTime(), time.Now(), store.Alive) != ""; got.inUse {
				return got, nil
			}
		}
	}
	src, err := x.open(ctx, t, x.check.flags.jobs)
	if err != nil {
		return got, err
	}
	defer src.Close()
	opts := stats.Options{Check: x.settings(t.config).options(t), Tables: x.tables, Discreet: x.check.flags.noExcerpt}
	opts.Check.Identity = t.identity()
	opts.About = func(d *dialect.Dialect) stats.About { return x.about(at, src, d) }
	got.shard, got.report, err = stats.Read(ctx, src, opts)
	return got, err
}

// placeOf returns the store that contains a file.
func (x *counting) placeOf(t *target) *storePlace {
	x.mu.Lock()
	defer x.mu.Unlock()
	dir := filepath.Dir(t.path)
	at := x.places[dir]
	if at == nil {
		at = &storePlace{}
		if at.store, at.root = x.finder.At(t.path); at.store != nil {
			for _, other := range x.places {
				if other.root == at.root && other.store == at.store {
					at.now = other.now
				}
			}
			if at.now == nil {
				at.now = at.store.Now(at.root, store.Alive)
			}
		}
		x.places[dir] = at
	}
	return at
}

// describe reads what a session says about itself.
func (x *counting) describe(s *store.Store, t *target) store.Description {
	f, err := os.Open(t.path)
	if err != nil {
		return store.Description{}
	}
	defer f.Close()
	return s.About.Describe(f, t.size)
}

// about returns what is known about a session in a dialect.
func (x *counting) about(at *storePlace, src *source.Source, d *dialect.Dialect) stats.About {
	s := at.store
	if s == nil {
		if s = store.ByDialect(d.Name); s == nil {
			return stats.About{Agent: d.Title}
		}
	}
	out := stats.About{Agent: s.Agent, VersionAt: s.About.Version}
	wants := func(d stats.Dimension) bool {
		return slices.ContainsFunc(x.tables, func(by []stats.Dimension) bool { return slices.Contains(by, d) })
	}
	if wants(stats.Project) || wants(stats.Version) && len(out.VersionAt) > 0 {
		described := s.About.Describe(src, src.Size())
		out.Project, out.Version = described.Project, described.Version
		if dir := home(x.env); dir != "" {
			if rest, is := strings.CutPrefix(out.Project, dir+string(filepath.Separator)); is {
				out.Project = "~" + string(filepath.Separator) + rest
			}
		}
	}
	return out
}

// take adds the counts of a file, or says why there are none.
func (x *counting) take(t *target, got *fileCounts, err error) {
	x.now = x.settings(t.config)
	switch {
	case err != nil:
		x.fail(t.path, err)
		return
	case got.old:
		x.result.Old++
	case got.inUse:
		x.result.InUse++
		x.explain(t.path, "left out: in use")
	case !x.admits(t, got.report):
		return
	default:
		if x.judge(t, got.report); got.report.File.Container != detect.ContainerEmpty {
			x.total.Merge(got.shard)
		}
		return
	}
	x.judged = true // it is no mistake
	for _, root := range t.roots {
		x.found[root] = true
	}
}

// end writes the counts and returns the outcome of the run.
func (x *counting) end(ts *targets) error {
	x.result.Result, x.result.Summary = x.total.Finish(), x.summary
	x.warn(ts)
	if x.unjudged() {
		x.complain("there was no transcript to count")
	}
	if err := cmp.Or(x.print(), x.flush()); err != nil {
		return err
	}
	if len(x.summary.Failed) > 0 || x.unjudged() {
		return errReported
	}
	return nil
}

// print writes the counts in the form that was asked for.
func (x *counting) print() error {
	var to io.Writer = x.out
	switch f := x.flags; {
	case f.json:
		return report.StatsJSON(to, &x.result)
	case f.csv:
		return report.StatsCSV(to, &x.result)
	case f.html != "":
		if err := report.StatsHTML(x.page, &x.result, f.minCalls); err != nil {
			return err
		}
		err := x.page.Commit()
		x.page = nil
		if err == nil && !x.check.flags.quiet {
			x.say("Wrote "+f.html+".", f.html)
		}
		return err
	}
	width, _ := x.columns(x.rawStdout)
	return report.Stats(to, &x.result, report.StatsOptions{Width: width, ASCII: !unicodeLocale(x.env), Color: x.color, MinCalls: x.flags.minCalls})
}
