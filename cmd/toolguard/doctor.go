package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/rules"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/store"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/internal/transcript"
)

// lastRun is the value of --undo without a run.
const lastRun = "last"

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	agents      []string
	config      string
	path        string
	since       string
	color       string
	all, json   bool
	fix         choice
	yes         bool
	unsafe      bool
	strip       bool // --strip-reasoning
	undo        string
	list        bool
	jobs        int
	undoes      bool      // --undo is set
	sinceTime   time.Time // zero without --since
	interactive bool      // --fix asks for each session
}

func newDoctorCmd(a *app) *cobra.Command {
	f := &doctorFlags{}
	cmd := &cobra.Command{
		Use:   "doctor [--fix [number,...]] [flags]",
		Short: "Find broken sessions of all agents on this computer, and repair them with --fix",
		Long: `doctor looks where agents keep their sessions, checks them like toolguard check,
and lists the sessions that their provider rejects, the newest first. What an
agent repairs itself when it resumes a session is only counted, unless --all is
set. Databases are read by toolguard-sqlite, if it is installed. doctor does not
repair them, but names the command that does. On a terminal, doctor ends with which of
more than 50 sessions are broken, the oldest first.

With --fix, doctor shows each broken session and asks before it repairs it:
y repairs, n skips, d shows the changes, q stops. Without a terminal it needs
--yes. --fix 2 and --fix 1,3 repair only the sessions that have these numbers in
the list; give the same --agent, --path, --since and --all as for the list.
Repairs are safe or additive; --unsafe allows others too. The original is
saved first, and nothing is repaired without that. The repaired file keeps its
modification time. With --strip-reasoning, doctor also lists sessions that have
nothing wrong but reasoning, which only the account and the model that wrote it
accept, and repairs them with --fix; choose them with --agent, --path and --since.

A session in use is never repaired: one that changed within the last 10 minutes,
that a running process of the agent has noted as its own, or, for extensions of
an editor, any session while the editor runs. No flag overrides that. --list
lists the runs that saved originals, also those of toolguard fix. --undo restores
the files of the last run, or of the run that it names. A file that changed after
its repair is not restored, and its original is named.

Exit codes: 0 if no broken session is left, 1 if there are some, 2 if a file or a
store could not be read, repaired or restored, or if the command line is wrong.
With --strip-reasoning, a session with reasoning counts like a broken one.`,
		Example: `  toolguard doctor
  toolguard doctor --fix
  toolguard doctor --undo`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return nil
			case cmd.Flags().Changed("undo") && f.undo == lastRun: // the flag takes its value after "="
				return fmt.Errorf("%s: unexpected argument %q; did you mean --undo=%s?", nameOf(cmd), args[0], args[0])
			}
			for _, arg := range args {
				err := f.fix.add(arg)
				switch {
				case err == nil && f.fix.made:
				case err == nil:
					return fmt.Errorf("%s: unexpected argument %q; did you mean --fix %s?", nameOf(cmd), arg, arg)
				case exists(arg):
					return fmt.Errorf("%s: unexpected argument %q; did you mean --path %s?", nameOf(cmd), arg, arg)
				case f.fix.made:
					return fmt.Errorf("--fix: %w", err)
				default:
					return surplus(cmd, arg)
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.undoes = cmd.Flags().Changed("undo")
			d, err := newDoctor(a, f, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			switch {
			case f.list:
				err = d.listRuns()
			case f.undoes:
				err = d.undo(cmd.Context())
			default:
				err = d.run(cmd.Context())
			}
			if err != nil && f.json && !d.printed && cmd.Context().Err() == nil {
				return cmp.Or(d.printFailure(err), err)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&f.agents, "agent", nil, "look only for sessions of this agent, by `name`; repeatable")
	flags.StringVar(&f.path, "path", "", "look only in this `directory`; --agent says whose sessions it contains")
	flags.StringVar(&f.since, "since", "", "skip sessions that did not change since a `date`, such as 2026-01-31, or for a time, such as 30d")
	flags.BoolVar(&f.all, "all", false, "also list, and repair, sessions that the agent repairs itself")
	flags.BoolVar(&f.json, "json", false, "print a JSON document")
	defineColor(cmd, &f.color)
	flags.Var(&f.fix, "fix", "repair the listed sessions, and ask before each; --fix 1,3 repairs only those with these numbers")
	flags.Lookup("fix").NoOptDefVal = "true"
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&f.unsafe, "unsafe", false, "also make unsafe repairs")
	flags.BoolVar(&f.strip, "strip-reasoning", false, stripReasoningUsage)
	flags.StringVar(&f.undo, "undo", "", "restore the files of a `run` (default: the last one)")
	flags.Lookup("undo").NoOptDefVal = lastRun
	flags.BoolVar(&f.list, "list", false, "list the runs that can be undone")
	// A config file in a store or above it is not for doctor: anybody whose project an agent
	// works on could hide its sessions.
	flags.StringVar(&f.config, "config", "", "check sessions with the settings of this config `file` (default: none)")
	defineJobs(flags, &f.jobs, "check")
	exclusive(cmd, "fix", "undo")
	exclusive(cmd, "fix", "list")
	exclusive(cmd, "undo", "list")
	complete(cmd, "agent", completeFrom(agentNames))
	complete(cmd, "config", completeConfig)
	return cmd
}

// agentNames lists the values of --agent.
func agentNames() []string {
	var out []string
	for _, s := range store.All() {
		out = append(out, agentName(s.Agent))
	}
	return out
}

// agentName returns the name of an agent as --agent takes it.
func agentName(agent string) string { return strings.ReplaceAll(strings.ToLower(agent), " ", "-") }

// A doctor is one run of the command.
type doctor struct {
	*app
	*resolver
	flags     *doctorFlags
	search    *search
	finder    *store.Finder
	home      string
	now       time.Time
	alive     func(pid int) bool
	stores    []*storeReport
	found     *targets
	colors    bool
	failed    []report.Missed
	printed   bool          // the JSON document is printed
	mentioned bool          // show was
	ages      []*sessionAge // of all sessions, on a terminal
	unsent    []*stored     // sessions with results that the agent does not send
}

// newDoctor validates the flags and returns the run that they ask for.
func newDoctor(a *app, f *doctorFlags, changed func(string) bool) (*doctor, error) {
	d := &doctor{app: a, flags: f, home: home(a.env), now: time.Now(), alive: store.Alive, finder: store.Find(a.env, runtime.GOOS)}
	for i, name := range f.agents {
		f.agents[i] = agentName(name)
		if !slices.Contains(agentNames(), f.agents[i]) {
			return nil, fmt.Errorf("--agent: %w", suggest.Unknown("agent", name, agentNames(), "expected one of "+strings.Join(agentNames(), ", ")))
		}
	}
	for _, name := range []string{"yes", "unsafe"} {
		if changed(name) && !f.fix.made {
			return nil, fmt.Errorf("--%s needs --fix", name)
		}
	}
	for _, name := range []string{"agent", "path", "since", "all", "strip-reasoning", "config", "jobs"} {
		if changed(name) && (f.list || f.undoes) {
			return nil, fmt.Errorf("--%s has no meaning with --list and --undo", name)
		}
	}
	if f.path != "" && len(f.agents) > 1 {
		return nil, errors.New("--path: a directory has sessions of one agent; give only one --agent")
	}
	if changed("path") && f.path == "" {
		return nil, errors.New(`--path: expected a directory, got ""`)
	}
	if f.undoes && f.undo == "" {
		return nil, errors.New("--undo: expected a run; toolguard doctor --list lists them")
	}
	var err error
	if f.jobs, err = atATime(f.jobs); err != nil {
		return nil, err
	}
	if changed("since") {
		if f.sinceTime, err = parseSince(f.since, d.now); err != nil {
			return nil, err
		}
	}
	if d.colors, err = useColor(f.color, a.env, a.terminal); err != nil {
		return nil, err
	}
	f.interactive = f.fix.made && !f.yes
	if f.interactive && !(isTerminal(stdinFile(a.stdin)) && a.stderrTerminal) {
		return nil, errors.New("--fix asks before each repair; without a terminal it needs --yes")
	}
	if f.interactive && f.json {
		return nil, errors.New("--fix asks before each repair; with --json it needs --yes")
	}
	if d.resolver, err = newResolver(&ruleFlags{}); err != nil {
		return nil, err
	}
	// A .gitignore may hide sessions from git, but not from their agent.
	config := configFlags{f.config, f.config == ""}
	d.search, err = newSearch(&fileFlags{configFlags: config, noGitignore: true, stdinName: stdinName})
	if err == nil {
		// Another place may be a home directory, with the caches of everything.
		d.search.everywhere = f.path == "" || d.finder.Of(filepath.Join(f.path, "session")) != nil
	}
	return d, err
}

// home returns the home directory, "" if it is not known.
func home(env func(string) string) string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if dir := env(name); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return ""
}

// stdinFile returns standard input as a writer for isTerminal, nil if it is no file.
func stdinFile(stdin any) *os.File {
	f, _ := stdin.(*os.File)
	return f
}

// parseSince parses the value of --since: a date or a number of days or hours.
func parseSince(value string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, value, now.Location()); err == nil {
			return t, nil
		}
	}
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if len(value) > 1 {
		n, err := strconv.ParseUint(value[:len(value)-1], 10, 16)
		if unit, known := units[value[len(value)-1]]; err == nil && known {
			if d := time.Duration(n) * unit; n <= 1<<16 && (unit == 0 || d/unit == time.Duration(n)) {
				return now.Add(-d), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("--since: expected a date such as 2026-01-31, or a time such as 30d, got %q", value)
}

// A storeReport is what was found in one directory or database.
type storeReport struct {
	store.Place

	agent    string
	now      *store.Store // with the locks that could hold when the run began
	unread   bool         // toolguard does not read it
	database bool         // it is a database
	loose    bool         // the user said where it is, so it may be only a part of one
	sessions int
	broken   int
	reasoned int // that only have reasoning, with --strip-reasoning
	mended   int // that the agent repairs itself
	unsent   int // with results that the agent does not send
	inUse    int
	excluded int // files and directories that the config file hides
	listed   []*stored
}

// state says what toolguard does with the sessions of a store.
func (r *storeReport) state() string {
	switch {
	case r.unread:
		return "not read"
	case r.Store.Repaired && !r.database:
		return "repaired"
	}
	return "checked"
}

// A stored is a session in a store, once it was checked.
type stored struct {
	number   int // in the list, from 1
	in       *storeReport
	target   *target
	modified time.Time
	store.Description

	inUse    string            // why it is in use, or ""
	unsent   transcript.Branch // the results that the agent does not send
	uncut    string            // the file as it was before its agent removed lines, or ""
	tallies  []report.Tally
	mended   bool // the agent repairs itself what is wrong
	reasoned bool // nothing is wrong, but --strip-reasoning asks for its reasoning
	repair   repairPlan
	outcome  string // what --fix did, "" if nothing
	backup   string
	repaired bool
}

// A repairPlan says how a session can be repaired.
type repairPlan struct {
	class  operation.Class
	asks   operation.Class // the same, without what --strip-reasoning asks for
	what   string          // "" if there is no repair
	none   string          // why there is no repair
	unsafe bool            // the repair needs --unsafe
	left   int             // errors that stay
	fewer  int             // errors that --unsafe repairs in addition
}

// run looks for sessions, lists the broken ones and repairs them.
func (d *doctor) run(ctx context.Context) error {
	targets, in, err := d.find()
	if err != nil {
		return err
	}
	if d.stderrTerminal && d.env("TERM") != "dumb" {
		d.bar = newProgress(d.rawStderr, targets, progressAfter)
		defer d.bar.end()
	}
	work := func(ctx context.Context, t *target) (*stored, error) { return d.examine(ctx, t, in[t]) }
	weight := func(t *target) int64 { return max(t.size, weightPerJob/8) }
	err = inOrder(ctx, targets, d.flags.jobs, weight, work, func(t *target, s *stored, err error) error {
		defer d.bar.step(t)
		d.take(t, s, err)
		return nil
	})
	d.bar.end()
	if err == nil {
		err = d.readDatabases(ctx)
	}
	if err != nil {
		return err
	}
	var sessions []*stored
	for _, r := range d.stores {
		sessions = append(sessions, r.listed...)
	}
	slices.SortStableFunc(sessions, func(a, b *stored) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.target.path, b.target.path))
	})
	for i, s := range sessions {
		s.number = i + 1
	}
	chosen, err := d.flags.fix.of(sessions)
	if err != nil {
		return err
	}
	if d.flags.json {
		if d.flags.fix.made {
			err = d.fix(ctx, chosen)
		}
		if err == nil || ctx.Err() == nil { // what was repaired before an error is reported all the same
			err = cmp.Or(d.printJSON(sessions), err)
		}
	} else {
		err = d.printStores()
		if d.flags.fix.made {
			err = cmp.Or(err, d.fix(ctx, chosen))
		} else {
			err = cmp.Or(err, d.printSessions(sessions))
		}
		if err == nil {
			d.close(sessions)
			d.closeDatabases()
			err = d.drawAges(sessions)
		}
	}
	switch {
	case err != nil:
		return err
	case len(d.failed) > 0:
		return errReported
	case slices.ContainsFunc(sessions, func(s *stored) bool { return !s.mended && !s.repaired }),
		slices.ContainsFunc(d.stores, func(r *storeReport) bool { return r.inDatabase() && r.broken > 0 }):
		return errFindings
	}
	return nil
}

// find lists the files of the stores, and says which store each is in.
func (d *doctor) find() ([]*target, map[*target]*storeReport, error) {
	places, failed := d.finder.Dirs()
	databases := d.finder.Databases()
	if d.flags.path != "" {
		var err error
		if places, databases, err = d.place(); err != nil {
			return nil, nil, err
		}
		failed = nil
	}
	for _, err := range failed {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			d.fail(pe.Path, pathError(pe.Path, err))
		}
	}
	wanted := func(s *store.Store) bool {
		return len(d.flags.agents) == 0 || d.flags.path != "" || slices.Contains(d.flags.agents, agentName(s.Agent))
	}
	var paths []string
	at := map[string]*storeReport{}
	for _, p := range places {
		if len(p.Store.Files) == 0 {
			databases = append(databases, p)
			continue
		}
		if !wanted(p.Store) {
			continue
		}
		r := d.report(p)
		if d.flags.path != "" {
			r.loose, r.now = true, p.Store
		}
		d.stores = append(d.stores, r)
		paths = append(paths, p.Path)
		at[filepath.Clean(p.Path)] = r
	}
	var unread []*storeReport
	for _, p := range databases {
		if wanted(p.Store) {
			unread = append(unread, &storeReport{Place: p, agent: p.Store.Agent, unread: true, database: len(p.Store.Databases) > 0})
		}
	}
	defer func() { d.stores = append(d.stores, unread...) }()
	if len(paths) == 0 {
		return nil, nil, nil
	}
	ts, err := d.search.find(paths)
	if err != nil {
		return nil, nil, err
	}
	d.found = ts
	for _, u := range ts.unread {
		d.fail(u.path, u.err)
	}
	d.settings(d.search.given) // fills the cache, which is only read from now on
	in := map[*target]*storeReport{}
	var out []*target
	for _, t := range ts.files {
		r := at[t.path] // --path names a file, or the directory has just become one
		if len(t.roots) > 0 {
			r = at[ts.roots[t.roots[0]]]
		}
		if d.flags.path != "" {
			r = d.known(t, r)
		}
		if !t.named && !r.Store.Holds(filepath.Base(t.path)) {
			continue
		}
		in[t] = r
		out = append(out, t)
	}
	d.countExcluded(ts, at)
	if d.flags.path != "" && len(d.stores) > 1 {
		d.stores = slices.DeleteFunc(d.stores, func(r *storeReport) bool {
			return r == at[paths[0]] && !r.holds(in) && r.excluded == 0
		})
	}
	return out, in, nil
}

// countExcluded counts by store what the config file excludes, so that no store seems to be empty. A
// directory counts once.
func (d *doctor) countExcluded(ts *targets, at map[string]*storeReport) {
	slices.Sort(ts.excluded) // a store within another one is walked twice
	for _, path := range slices.Compact(ts.excluded) {
		root := ""
		for _, dir := range ts.roots {
			if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) && len(dir) >= len(root) {
				root = dir
			}
		}
		r := at[root]
		if d.flags.path != "" {
			r = d.known(&target{path: path}, r)
		}
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || r.Store.Holds(filepath.Base(path))) {
			r.excluded++
		}
	}
}

// report returns the report of a directory.
func (d *doctor) report(p store.Place) *storeReport {
	return &storeReport{Place: p, agent: p.Store.Agent, now: p.Store.Now(p.Path, d.alive)}
}

// holds reports whether a session is in the store.
func (r *storeReport) holds(in map[*target]*storeReport) bool {
	for _, other := range in {
		if r == other {
			return true
		}
	}
	return false
}

// known returns the store that a file is really in, or else r. The locks of an agent are where
// its store is, wherever --path leads.
func (d *doctor) known(t *target, r *storeReport) *storeReport {
	s, dir := d.finder.At(t.path)
	if s == nil || len(s.Files) == 0 {
		return r
	}
	for _, other := range d.stores {
		if other.Path == dir && other.Store.Agent == s.Agent {
			return other
		}
	}
	r = d.report(store.Place{Store: s, Path: dir})
	d.stores = append(d.stores, r)
	return r
}

// sqliteMagic is how a SQLite database begins.
const sqliteMagic = "SQLite format 3\x00"

// place returns the directory or database of --path.
func (d *doctor) place() (dirs, databases []store.Place, err error) {
	path := filepath.Clean(d.flags.path)
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("--path: %w", pathError(path, err))
	}
	s := &store.Store{Agent: "sessions", Repaired: true, Files: []string{"*.jsonl", "*.ndjson", "*.json"}, Instead: "export the session, then toolguard check -", Locks: store.AllLocks()}
	if len(d.flags.agents) > 0 {
		stores := store.All()
		s = &stores[slices.IndexFunc(stores, func(s store.Store) bool { return agentName(s.Agent) == d.flags.agents[0] })]
	}
	p := []store.Place{{Store: s, Path: path}}
	switch {
	case info.IsDir():
		return p, nil, nil
	case !info.Mode().IsRegular(): // opening a pipe would wait for a writer
		return nil, nil, fmt.Errorf("--path: %s: expected a directory or a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("--path: %w", pathError(path, err))
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	if n, _ := f.ReadAt(head, 0); string(head[:n]) == sqliteMagic {
		return nil, p, nil
	}
	return p, nil, nil
}

// fail prints why a file or a store cannot be read. The run continues with the others.
func (d *doctor) fail(path string, err error) {
	err = d.described(path, err)
	d.failed = append(d.failed, report.Missed{Path: path, Why: strings.TrimPrefix(err.Error(), path+": ")})
	d.complain(err.Error(), path)
}

// warn prints a note about a file, if there is one.
func (d *doctor) warn(path, note string) {
	if note != "" {
		d.complain("warning: "+path+": "+note, path)
	}
}

// options returns the engine's options for a session. It is over, or else in use and not
// repaired.
func (d *doctor) options(t *target) engine.Options {
	o := d.settings(t.config).options(t)
	o.Identity, o.Over = t.identity(), true
	o.Most = report.MostShown
	if o.StripReasoning = d.flags.strip; o.StripReasoning { // a session with reasoning is listed
		o.Severity = maps.Clone(o.Severity)
		if o.Severity == nil {
			o.Severity = map[string]rules.Severity{}
		}
		o.Severity[rules.ReplayedReasoning] = rules.Error
	}
	o.Shown = func(_ *rules.Rule, at rules.Severity) bool { return at >= rules.Error }
	return o
}

// examine checks a file. It returns nil if the file is not a session, or too old.
func (d *doctor) examine(ctx context.Context, t *target, in *storeReport) (*stored, error) {
	s := &stored{in: in, target: t}
	info, err := os.Stat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // its agent has just removed it
		return nil, nil
	case err != nil:
		return nil, pathError(t.path, err)
	}
	if s.modified = info.ModTime(); !d.flags.sinceTime.IsZero() && s.modified.Before(d.flags.sinceTime) {
		return nil, nil
	}
	got, err := d.look(ctx, t, d.options(t), d.flags.jobs)
	if err != nil {
		// An agent that writes or removes the session now disturbs the reading.
		now, gone := os.Stat(t.path)
		if errors.Is(gone, fs.ErrNotExist) {
			return nil, nil
		}
		if gone == nil && (now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) || !os.SameFile(now, info)) {
			s.inUse = d.inUseBy(in.now, s, now.ModTime())
			return s, nil
		}
		return nil, err
	}
	if got.Skipped != "" || !got.File.Sure {
		return nil, nil
	}
	s.inUse = d.inUseBy(in.now, s, s.modified)
	for _, b := range got.File.Branches {
		s.unsent.Results += b.Results
		s.unsent.Branches += b.Branches
		s.unsent.Mixed = s.unsent.Mixed || b.Mixed
	}
	if s.tallies = report.TallyErrors(got); len(s.tallies) == 0 {
		return s, nil
	}
	if in.Store.Dialect == "" && in.Store.Source == "" {
		s.describe(store.ByDialect(got.File.Dialect))
	} else {
		s.describe(in.Store)
	}
	if end := in.Store.Uncut; end != "" {
		if info, err := os.Stat(t.path + end); err == nil && info.Mode().IsRegular() {
			s.uncut = t.path + end
		}
	}
	s.mended = !slices.ContainsFunc(s.tallies, func(t report.Tally) bool { return !s.mends(t) })
	s.reasoned = !s.mended && !slices.ContainsFunc(s.tallies, func(t report.Tally) bool { return !s.mends(t) && !isReasoning(t) })
	if s.mended && !d.flags.all {
		return s, nil
	}
	s.repair, err = d.plan(ctx, s)
	return s, err
}

// mends reports whether the agent itself repairs findings of a rule, and loses nothing by it.
func (s *stored) mends(t report.Tally) bool {
	return s.in.Store.Mends.By(t.Rule, s.Version) && !t.Recorded
}

// isReasoning reports whether findings are not about a fault, but about reasoning that
// --strip-reasoning removes.
func isReasoning(t report.Tally) bool { return t.Rule == rules.ReplayedReasoning }

// describe reads what a session says about itself.
func (s *stored) describe(st *store.Store) {
	if st == nil {
		return
	}
	f, err := os.Open(s.target.path)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		s.Description = st.About.Describe(f, info.Size())
	}
}

// inUse returns why a session is in use, or "". modified is when it was written last, or zero
// if it is known that nobody writes it.
func (d *doctor) inUse(s *stored, modified time.Time) string {
	return d.inUseBy(s.in.Store, s, modified)
}

// inUseBy tests the locks of a store.
func (d *doctor) inUseBy(st *store.Store, s *stored, modified time.Time) string {
	x := store.Session{Root: s.in.Path, Path: s.target.path, Loose: s.in.loose, Project: func() string {
		if s.Project == "" {
			s.describe(s.in.Store)
		}
		return s.Project
	}}
	why := st.InUse(x, modified, time.Now(), d.alive)
	if d.home == "" {
		return why
	}
	return strings.ReplaceAll(why, d.home+string(filepath.Separator), "~"+string(filepath.Separator))
}

// plan computes the repair of a session without making it.
func (d *doctor) plan(ctx context.Context, s *stored) (repairPlan, error) {
	if !s.in.Store.Repaired {
		return repairPlan{none: "toolguard only checks sessions of " + s.in.agent}, nil
	}
	p, err := d.planWith(ctx, s, d.flags.unsafe)
	if err != nil || p.left == 0 && p.what != "" || d.flags.unsafe {
		return p, err
	}
	more, err := d.planWith(ctx, s, true)
	switch {
	case err != nil || more.what == "" || more.left >= p.left:
		return p, err
	case p.what == "":
		more.unsafe = true
		return more, nil
	}
	p.fewer = p.left - more.left
	return p, nil
}

// planWith computes the repair of a session with or without unsafe repairs.
func (d *doctor) planWith(ctx context.Context, s *stored, unsafe bool) (p repairPlan, err error) {
	src, err := d.open(ctx, s.target, d.flags.jobs)
	if err != nil {
		return p, err
	}
	defer src.Close()
	got, none, err := d.settle(ctx, s, src, unsafe)
	if err != nil || none != "" {
		return repairPlan{none: none, left: len(s.tallies)}, err
	}
	p.left = s.errorsLeft(got.After)
	if !got.Changed() {
		p.none = "toolguard has no repair for it"
		return p, nil
	}
	p.what = report.Plan(got)
	for i := range got.Repairs {
		p.class = max(p.class, got.Repairs[i].Class)
		if got.Repairs[i].Rule != rules.ReplayedReasoning {
			p.asks = max(p.asks, got.Repairs[i].Class)
		}
	}
	return p, nil
}

// settle computes the repair of a session, or says why there is none.
func (d *doctor) settle(ctx context.Context, s *stored, src *source.Source, unsafe bool) (got *engine.Fixed, none string, err error) {
	set := d.settings(s.target.config)
	opts := engine.FixOptions{Options: d.options(s.target), Unsafe: unsafe}
	opts.Placeholder = set.placeholder
	got, err = engine.Settle(ctx, src, opts)
	var only *engine.CheckOnlyError
	var unproved *engine.ProofError
	switch {
	case errors.As(err, &only):
		return nil, "toolguard only checks it: " + only.Reason, nil
	case errors.As(err, &unproved):
		return nil, unproved.Error(), nil
	}
	return got, "", err
}

// errorsLeft counts the errors that remain after a repair, without those that the agent repairs
// itself.
func (s *stored) errorsLeft(r *engine.Report) (n int) {
	for _, t := range report.TallyErrors(r) {
		if s.mended || !s.mends(t) {
			n += t.Count
		}
	}
	return n
}

// take counts a session, and keeps it if it is to be listed. err is why it could not be examined.
func (d *doctor) take(t *target, s *stored, err error) {
	if err != nil {
		d.fail(t.path, err)
		return
	}
	if s == nil {
		return
	}
	if d.stderrTerminal {
		d.ages = append(d.ages, &sessionAge{s.modified, s.tallies, len(s.tallies) > 0 && !s.mended})
	}
	r := s.in
	r.sessions++
	if s.inUse != "" {
		r.inUse++
	}
	if s.unsent.Results > 0 {
		r.unsent++
		d.unsent = append(d.unsent, s)
	}
	switch {
	case len(s.tallies) == 0:
		return
	case s.mended:
		if r.mended++; !d.flags.all {
			return
		}
	case s.reasoned:
		r.reasoned++
	default:
		r.broken++
	}
	r.listed = append(r.listed, s)
}
