package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/names"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// margin is how many bytes a file system must have beside what is written.
const margin = 1 << 20

// fixFlags are the flags of fix.
type fixFlags struct {
	checkFlags
	write, undo      bool
	safeOnly, unsafe bool
	stripReasoning   bool
	strategies       []string
	placeholder      string
}

func newFixCmd(a *app) *cobra.Command {
	f := &fixFlags{}
	cmd := &cobra.Command{
		Use:   "fix [flags] database...",
		Short: "Show repairs of sessions in databases, or make them with --write",
		Long: `fix shows the repairs of sessions, which are those of toolguard fix. With --write,
it makes them in the rows of the database, if no other program has it open: close
the agent first. It repairs the sessions of agents that were seen to resume what
it has repaired, and says of others what you can do.

All repairs of a database are one transaction. It changes only the rows of the
messages that are repaired, each only if it is still as it was read. Then the
sessions are read and checked again, and SQLite checks the whole database. If
anything is not as it should be, nothing changes. Before that, the database is
copied to the state directory. --undo gives the rows of the last repair their
former values, if nothing has changed them since. If nothing else has changed
either, it restores the whole file. A part of a message that is not JSON stops
opencode and Kilo; --unsafe removes it.

Exit codes: 0 if there are no findings at or above --fail-on, 1 if there are, 2
if a session could not be repaired or restored, or the command line is wrong.
With --write, repaired findings do not count.`,
		Example: `  toolguard-sqlite fix ~/.local/share/opencode/opencode.db
  toolguard-sqlite fix --write --unsafe --session ses_1 opencode.db
  toolguard-sqlite fix --undo opencode.db`,
		Args: databases,
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := newFix(a, f, cmd.Flags().Changed)
			if err != nil {
				return err
			}
			if f.undo {
				return x.undo(cmd.Context(), args)
			}
			return x.run(cmd.Context(), args)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVarP(&f.write, "write", "w", false, "make the repairs")
	flags.BoolVar(&f.undo, "undo", false, "undo the last repair of the database that is not undone")
	flags.BoolVar(&f.safeOnly, "safe-only", false, "make only safe repairs")
	flags.BoolVar(&f.unsafe, "unsafe", false, "also make unsafe repairs")
	flags.BoolVar(&f.stripReasoning, "strip-reasoning", false, "also remove all reasoning, signatures and encrypted content, so that another account, model or provider accepts the history")
	flags.StringSliceVar(&f.strategies, "strategy", nil, "choose how findings of a rule are repaired: `rule=name`; repeatable, or separated by commas")
	flags.StringVar(&f.placeholder, "placeholder", "", "use this `text` for inserted results; {tool} and {id} are replaced")
	f.define(cmd)
	return cmd
}

// A fix is one run of the command.
type fix struct {
	*check

	flags   *fixFlags
	summary report.FixSummary
	backups *backup.Run
	inUse   bool // what can be done is to close the agent
}

// newFix validates the flags and returns the fix that they ask for.
func newFix(a *app, f *fixFlags, changed func(string) bool) (*fix, error) {
	for _, pair := range [][2]string{{"safe-only", "unsafe"}, {"safe-only", "strip-reasoning"}, {"write", "undo"}} {
		if changed(pair[0]) && changed(pair[1]) {
			return nil, fmt.Errorf("--%s and --%s exclude each other: give only one", pair[0], pair[1])
		}
	}
	if changed("placeholder") && strings.TrimSpace(f.placeholder) == "" {
		return nil, errors.New("--placeholder: expected a text")
	}
	c, err := newCheck(a, &f.checkFlags, true)
	if err != nil {
		return nil, err
	}
	if c.options.Strategy, err = names.User.Strategies(f.strategies); err != nil {
		return nil, fmt.Errorf("--strategy: %w", err)
	}
	c.options.StripReasoning, c.options.Placeholder = f.stripReasoning, f.placeholder
	x := &fix{check: c, flags: f}
	c.summary = &x.summary.Summary
	x.backups = backup.NewRun(func() (string, error) { return backup.DatabaseDir(a.env, runtime.GOOS) }, started(a.env))
	x.summary.Noun, x.summary.Written, x.summary.SafeOnly, x.summary.Unsafe = "session", f.write, f.safeOnly, f.unsafe
	x.summary.Strategy = c.options.Strategy
	return x, nil
}

// started returns when the run began.
func started(env func(string) string) time.Time {
	if seconds, err := strconv.ParseInt(env("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(seconds, 0)
	}
	return time.Now()
}

// run repairs databases.
func (x *fix) run(ctx context.Context, paths []string) error {
	for _, path := range paths {
		err := x.database(ctx, path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	if err := cmp.Or(x.report.Close(x.check.summary), x.out.Flush(), x.backups.Close()); err != nil {
		return err
	}
	if x.format.Human {
		fmt.Fprintln(x.stderr, x.summary.String())
		if lines := x.instead(); len(lines) > 0 && !x.inUse {
			fmt.Fprintln(x.stderr, strings.Join(lines, "\n"))
		}
	}
	switch {
	case len(x.summary.Failed) > 0:
		return errReported
	case x.failing:
		return errFindings
	}
	return nil
}

// database repairs the sessions of a database. Its error ends the run.
func (x *fix) database(ctx context.Context, path string) error {
	l, err := openLibrary(ctx, path)
	if err != nil {
		x.fail(path, err)
		return nil
	}
	defer func() { l.Close() }()
	if err := l.choose(x.flags.sessions); err != nil {
		x.fail(path, err)
		return nil
	}
	var broken []*mend
	for _, s := range l.shelves {
		if s.torn != nil {
			x.fail(path, about(path, fmt.Errorf("the list of its sessions ends early: %w", s.torn)))
		}
		for i := range s.sessions {
			m := &mend{schema: s.Schema, id: s.sessions[i].ID, path: name(path, s.sessions[i].ID)}
			wanted, err := x.session(ctx, l, s, m)
			if err != nil {
				return err
			}
			if wanted {
				broken = append(broken, m)
			}
		}
	}
	if len(broken) == 0 {
		return nil
	}
	l.Close() // what follows is sure that nobody else has the database open
	l.db = nil
	return x.write(ctx, path, broken)
}

// A mend is the repair of one session.
type mend struct {
	schema *layout.Schema
	id     string
	path   string
	text   *layout.Text
	fixed  *engine.Fixed
	become *edit.Pieces // the text that the rows of the repaired session have
}

// session shows the repairs of a session, or reports whether they are to be made.
func (x *fix) session(ctx context.Context, l *library, s *shelf, m *mend) (wanted bool, err error) {
	if m.text, err = l.read(s, m.id, x.reading(m)); err != nil {
		x.fail(m.path, about(m.path, err))
		return false, ctx.Err()
	}
	defer m.text.Close()
	for _, b := range m.text.Bad {
		x.fail(m.path, about(m.path, b))
	}
	err = x.settle(ctx, m)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case m.fixed == nil:
		x.fail(m.path, about(m.path, err))
		return false, nil
	case err != nil: // it was checked, and must not be repaired
		x.refuse(m, err)
	case x.flags.write && (m.fixed.Changed() || len(m.text.Torn) > 0):
		return true, nil
	default:
		for _, b := range m.text.Torn {
			x.failing = true
			x.complain(fmt.Sprintf("%s; --write removes the row", about(m.path, b)))
		}
	}
	return false, x.take(ctx, m, false)
}

// reading returns how the text of a session is read. With --unsafe, it has no torn rows, which the agent would
// not read, nor the others.
func (x *fix) reading(m *mend) reading {
	if x.flags.unsafe && m.schema.Repaired != "" {
		return (*layout.Schema).ReadWhole
	}
	return (*layout.Schema).Read
}

// settle computes the repairs of a session.
func (x *fix) settle(ctx context.Context, m *mend) error {
	m.fixed = nil
	opts := engine.FixOptions{Options: x.of(m.schema, m.id), SafeOnly: x.flags.safeOnly, Unsafe: x.flags.unsafe}
	return contain.Do(func() (err error) {
		m.fixed, err = engine.Settle(ctx, m.source(), opts)
		return err
	})
}

// source returns the text of the session.
func (m *mend) source() *source.Source { return source.NewSource(m.path, m.text, m.text.Size()) }

// refuse prints why a session is not repaired.
func (x *fix) refuse(m *mend, err error) {
	err = about(m.path, err)
	x.summary.Refuse(m.path, err)
	_ = x.out.Flush()
	x.complain(err.Error())
	if m.fixed != nil {
		m.fixed = m.fixed.Unrepaired()
	}
	x.leave(m)
}

// leave prints that rows are torn and stay.
func (x *fix) leave(m *mend) {
	for _, b := range m.text.Torn {
		x.fail(m.path, about(m.path, b))
	}
	m.text.Torn = nil
}

// take reports the repairs of a session, and what is left. Its error ends the run.
func (x *fix) take(ctx context.Context, m *mend, written bool) error {
	f := m.fixed
	if f.Before.Skipped != "" {
		return nil // a session without messages
	}
	x.summary.AddFixed(f)
	x.judge(m.schema, f.After)
	if f.Changed() && !written {
		for found := range f.Before.Kinds() {
			x.failing = x.failing || found.Severity >= x.failOn
		}
	}
	rep, repairs := x.report.(report.FixReporter)
	switch {
	case f.Changed() && x.format.Human && !written:
		opts := report.Options{NoExcerpt: x.flags.noExcerpt, EachCall: x.flags.verbose}
		if err := opts.Outline(ctx, m.source(), f, x.of(m.schema, m.id)); err != nil {
			return err
		}
		if err := report.Preview(x.out, m.path, m.source(), f, opts); err != nil {
			return err
		}
	case f.Changed() && repairs:
		if err := rep.Fixed(f, written); err != nil {
			return err
		}
	}
	if x.format.Human && !x.flags.write {
		return x.out.Flush()
	}
	return cmp.Or(x.report.File(f.After), x.out.Flush())
}

// write makes the repairs of sessions of a database. Its error ends the run.
func (x *fix) write(ctx context.Context, path string, broken []*mend) error {
	err := database.Guard(func() error { return x.change(ctx, path, broken) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		_ = x.out.Flush()
		x.complain(about(path, err).Error())
		x.inUse = x.inUse || errors.Is(err, database.ErrInUse)
	}
	for _, m := range broken {
		if m.fixed == nil {
			continue // it could not be read again
		}
		if err != nil && m.fixed.Changed() {
			x.summary.Refuse(m.path, err)
			m.fixed = m.fixed.Unrepaired()
		}
		if err != nil {
			x.leave(m)
		}
		for _, b := range m.text.Torn {
			x.say(about(m.path, b).Error() + "; removed the row")
		}
		if err := x.take(ctx, m, err == nil); err != nil {
			return err
		}
	}
	return nil
}

// change makes the repairs of sessions in one transaction. If there is an error, nothing changes.
func (x *fix) change(ctx context.Context, path string, broken []*mend) error {
	root, err := backup.DatabaseDir(x.env, runtime.GOOS)
	if err != nil {
		return err
	}
	w, err := x.open(ctx, path)
	if err != nil {
		return err
	}
	defer w.Close()
	size, err := w.Size()
	if err != nil {
		return err
	}
	if err := database.Room(root, size+margin); err != nil {
		return err
	}
	defer func() {
		for _, m := range broken {
			m.text.Close()
		}
	}()
	var changes []rows.Change
	added := layout.Numbers{}
	for _, m := range broken {
		more, err := x.changes(ctx, w, m, added)
		if err != nil {
			return err
		}
		changes = append(changes, more...)
	}
	if len(changes) == 0 {
		return nil
	}
	need := int64(margin)
	for i := range changes {
		for _, v := range slices.Concat(changes[i].Before, changes[i].After) {
			need += 2 * int64(len(v.Bytes)) // in the log and in the database
		}
	}
	if err := database.Room(filepath.Dir(w.Path), need); err != nil {
		return err
	}
	kept, err := x.backups.KeepDatabase(ctx, w.Path, w.Info, fixedRules(broken), w.CopyTo)
	if err != nil {
		return fmt.Errorf("not copied to the state directory: %w", err)
	}
	if err = x.prove(ctx, w, changes, broken); err == nil {
		err = kept.RecordRows(func(to io.Writer) error { return rows.Encode(to, changes) })
	}
	if err != nil {
		kept.Withdraw()
		return err
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("%w; the database as it was is saved as %s", err, kept.Name())
	}
	if w.Exact { // otherwise, and if this fails, --undo restores the rows
		if is, err := describe(w); err == nil {
			_ = kept.RecordAfter(is)
		}
	}
	x.say(fmt.Sprintf("%s: changed %s; the database as it was is saved as %s", path, count(len(changes), "row"), kept.Name()))
	return nil
}

// open opens a database that is to be changed, which is intact.
func (x *fix) open(ctx context.Context, path string) (*database.Writing, error) {
	w, err := database.OpenForWriting(ctx, path, layout.FTS()...)
	if err != nil {
		return nil, err
	}
	if !w.Sure {
		x.say("warning: " + path + ": the system does not tell whether another program has the database open; make sure that its agent is closed")
	}
	if err := database.Guard(w.Intact); err != nil {
		_ = w.Close()
		return nil, err
	}
	return w, nil
}

// changes reads a session again, now that nobody can change it, and returns its repairs as changes of
// rows. If there are none, it says why.
func (x *fix) changes(ctx context.Context, w *database.Writing, m *mend, added layout.Numbers) (changes []rows.Change, err error) {
	text := m.text
	err = database.Guard(func() (err error) {
		m.text, err = x.reading(m)(m.schema, w.DB, m.id)
		return err
	})
	if err != nil {
		m.text, m.fixed = text, nil
		x.fail(m.path, about(m.path, err))
		return nil, ctx.Err()
	}
	if err = x.settle(ctx, m); err == nil {
		var become []edit.Edit
		if changes, become, err = m.text.Changes(w.DB, added, m.fixed.Edits()); err == nil {
			m.become, err = edit.Apply(m.source(), become)
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case m.fixed == nil:
		x.fail(m.path, about(m.path, err))
	case err != nil:
		x.refuse(m, err)
	}
	return changes, nil
}

// prove makes changes, and returns an error if the sessions then are not what their repairs say, or if
// anything else in the database is not as before.
func (x *fix) prove(ctx context.Context, w *database.Writing, changes []rows.Change, broken []*mend) error {
	if err := known(w, changes); err != nil {
		return err
	}
	before, err := w.Foreign()
	if err != nil {
		return err
	}
	for i := range changes {
		if err := changes[i].Apply(w.Conn); err != nil {
			return err
		}
	}
	for _, m := range broken {
		if m.fixed == nil || !m.fixed.Changed() && len(m.text.Torn) == 0 {
			continue
		}
		if err := x.same(ctx, w, m); err != nil {
			return fmt.Errorf("session %s: %w", m.id, err)
		}
	}
	after, err := w.Foreign()
	if err == nil && before != after {
		err = errors.New("the repair leaves rows without the row that they belong to")
	}
	return cmp.Or(err, database.Guard(w.Intact))
}

// known returns an error if changes have an effect that is not known.
func known(w *database.Writing, changes []rows.Change) error {
	seen := map[string]bool{}
	for i := range changes {
		table := changes[i].Table
		if seen[table] {
			continue
		}
		seen[table] = true
		all, err := w.Triggers(table)
		if err != nil {
			return err
		}
		for _, trigger := range all {
			if !layout.Idle(trigger) {
				return fmt.Errorf("its table %s has the trigger %s, whose effect is not known", table, trigger)
			}
		}
	}
	return nil
}

// same returns an error if a session in the database is not what its repair says.
func (x *fix) same(ctx context.Context, w *database.Writing, m *mend) error {
	text, err := m.schema.Read(w.DB, m.id)
	if err != nil {
		return err
	}
	defer text.Close()
	same, err := layout.Same(
		bufio.NewReader(io.NewSectionReader(m.become, 0, m.become.Size())),
		bufio.NewReader(io.NewSectionReader(text, 0, text.Size())),
	)
	if err != nil {
		return err
	}
	if !same {
		return errors.New("its rows would not become the repaired text")
	}
	var got *engine.Report
	err = contain.Do(func() (err error) {
		got, err = engine.Check(ctx, source.NewSource(m.path, text, text.Size()), x.of(m.schema, m.id))
		return err
	})
	if err != nil {
		return err
	}
	var now, want report.Summary
	now.Add(got)
	want.Add(m.fixed.After)
	if now.Problems() != want.Problems() || now.Findings() != want.Findings() {
		return fmt.Errorf("its rows would have %d findings, and the repaired text has %d", now.Findings(), want.Findings())
	}
	return nil
}

// fixedRules lists the rules of repairs.
func fixedRules(broken []*mend) []string {
	list := []string{}
	for _, m := range broken {
		if m.fixed != nil {
			for i := range m.fixed.Repairs {
				list = append(list, m.fixed.Repairs[i].Rule)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// say prints a line about a database.
func (x *fix) say(line string) {
	_ = x.out.Flush()
	fmt.Fprintln(x.stderr, report.Printable(line))
}
