package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/report"
	"github.com/toolguard/toolguard/internal/store"
	"github.com/toolguard/toolguard/internal/write"
)

// An answer is what a user types if doctor asks whether to repair a session.
type answer uint8

const (
	yes answer = iota
	no
	diff
	quit
)

// fix repairs sessions, and removes what killed runs left in their directories.
func (d *doctor) fix(ctx context.Context, sessions []*stored) error {
	err := d.repairAll(ctx, sessions)
	if ctx.Err() == nil && d.found != nil {
		d.sweep(d.found)
	}
	return err
}

// repairAll repairs sessions.
func (d *doctor) repairAll(ctx context.Context, sessions []*stored) error {
	run := backup.NewRun(func() (string, error) { return backup.Dir(d.env, runtime.GOOS) }, started(d.env))
	defer run.Close()
	in := newAnswers(d.stdin)
	for _, s := range sessions {
		if !d.flags.json {
			if err := d.printSession(s); err != nil {
				return err
			}
		}
		switch {
		case s.inUse != "" || s.repair.what == "":
			continue
		case s.repair.unsafe:
			if err := d.told(s, "needs --unsafe"); err != nil {
				return err
			}
			continue
		}
		if d.flags.interactive {
			reply, err := d.ask(ctx, in, s)
			if err != nil {
				return err
			}
			if reply == quit {
				break
			}
			if reply == no {
				continue
			}
		}
		if err := contain.Do(func() error { return d.repair(ctx, s, run) }); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			d.fail(s.target.path, err)
		}
	}
	return run.Close()
}

// ask asks whether to repair a session until the answer is yes, no or quit.
func (d *doctor) ask(ctx context.Context, in *answers, s *stored) (answer, error) {
	// Sessions of one project can have the same title.
	fmt.Fprintln(d.stderrReport, s.hang()+report.Printable(d.short(s.target.path)))
	for {
		fmt.Fprint(d.stderrReport, s.hang()+"Repair it? [y]es [n]o [d]iff [q]uit: ")
		line, err := in.next(ctx)
		switch {
		case ctx.Err() != nil:
			return quit, ctx.Err()
		case err != nil:
			fmt.Fprintln(d.stderrReport)
			return quit, nil
		}
		switch reply, known := parseAnswer(line); {
		case !known:
		case reply == diff:
			err := contain.Do(func() error { return d.preview(ctx, s) })
			if contain.From(err) == nil && err != nil {
				return quit, err
			}
			if err != nil {
				d.complain(d.described(s.target.path, err).Error(), s.target.path)
			}
		default:
			return reply, nil
		}
	}
}

// parseAnswer returns the answer that a line means.
func parseAnswer(line string) (a answer, known bool) {
	line = strings.ToLower(strings.TrimSpace(line))
	i := slices.IndexFunc([]string{"yes", "no", "diff", "quit"}, func(word string) bool {
		return line == word || line == word[:1]
	})
	return answer(max(i, 0)), i >= 0
}

// answers reads lines in the background, so that a signal ends the wait.
type answers struct {
	in    *bufio.Reader
	lines chan readLine
}

type readLine struct {
	text string
	err  error
}

func newAnswers(in io.Reader) *answers {
	return &answers{bufio.NewReader(in), make(chan readLine, 1)}
}

// next returns the next line.
func (a *answers) next(ctx context.Context) (string, error) {
	contain.Go(func() {
		text, err := a.in.ReadString('\n')
		if text != "" {
			err = nil
		}
		a.lines <- readLine{text, err}
	}, func(caught *contain.Error) { a.lines <- readLine{err: caught} })
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-a.lines:
		return l.text, l.err
	}
}

// preview shows what the repair of a session changes.
func (d *doctor) preview(ctx context.Context, s *stored) error {
	src, err := d.open(ctx, s.target, d.flags.jobs)
	if err != nil {
		d.complain(err.Error(), s.target.path)
		return nil
	}
	defer src.Close()
	got, none, err := d.settle(ctx, s, src, d.flags.unsafe)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		d.complain(d.described(s.target.path, err).Error(), s.target.path)
		return nil
	case none != "" || !got.Changed():
		return d.told(s, "there is nothing to repair any more")
	}
	opts := report.Options{Color: d.colors, Width: d.reportWidth(d.rawStdout)}
	if err := opts.Outline(ctx, src, got, d.options(s.target)); err != nil {
		return err
	}
	err = report.Preview(d.stdout, d.short(s.target.path), src, got, opts)
	if err == nil && !d.mentioned {
		d.mentioned = d.mentionsShow(s.target.path, got, shellPath(s.target.path, d.home))
	}
	return err
}

// repair repairs a session.
func (d *doctor) repair(ctx context.Context, s *stored, run *backup.Run) error {
	path := s.target.path
	info, err := os.Stat(path)
	if err != nil {
		return pathError(path, err)
	}
	if why := d.inUse(s, info.ModTime()); why != "" {
		return fmt.Errorf("%s: not written: it is in use: %s", path, why)
	}
	src, err := d.open(ctx, s.target, d.flags.jobs)
	if err != nil {
		return err
	}
	defer src.Close()
	got, none, err := d.settle(ctx, s, src, d.flags.unsafe)
	switch {
	case err != nil:
		return err
	case none != "":
		return fmt.Errorf("%s: not written: %s", path, none)
	case !got.Changed():
		s.repaired = s.errorsLeft(got.After) == 0
		return nil
	}
	done, err := write.Replace(ctx,
		write.File{Path: path, Info: info, Original: src, Packed: src.Packed(), Text: got.Pieces},
		write.Options{
			Strict: true, Modified: info.ModTime(), Copies: copies(d.env), Known: written(d.env),
			Keeper: keeper{run, rulesOf(got.Repairs)},
			Ready: func() error {
				if why := d.inUse(s, info.ModTime()); why != "" {
					return errors.New("it is in use: " + why)
				}
				return nil
			},
		})
	d.warn(path, done.Note)
	if err != nil {
		return err
	}
	s.repaired = s.errorsLeft(got.After) == 0
	s.outcome, s.backup = report.Repaired(got), done.Backup
	return d.told(s, s.outcome+"; the original is saved as "+d.short(done.Backup))
}

// told prints what was done with a session below its lines.
func (d *doctor) told(s *stored, what string) error {
	if d.flags.json {
		return nil
	}
	width, _ := d.columns(d.rawStdout)
	out := report.NewSheet(d.colors)
	out.Fold(width, s.hang(), report.Piece{Text: s.hang() + what})
	return out.Flush(d.stdout)
}

// A jsonRun is a run that kept originals.
type jsonRun struct {
	Run     string        `json:"run"`
	Started *string       `json:"started"`
	Path    string        `json:"path"`
	RawPath []byte        `json:"raw_path,omitempty"`
	Files   []jsonRunFile `json:"files"`
}

type jsonRunFile struct {
	Path    string `json:"path"`
	RawPath []byte `json:"raw_path,omitempty"`
	Backup  string `json:"backup"`
	State   string `json:"state"`
}

// runs lists the runs that kept originals, the newest first.
func (d *doctor) runs() ([]*backup.Past, error) {
	root, err := backup.Dir(d.env, runtime.GOOS)
	if err != nil {
		return nil, err
	}
	runs, err := backup.Runs(root)
	if err != nil {
		return nil, pathError(root, err)
	}
	return runs, nil
}

// describeRun returns a run for the JSON document.
func describeRun(p *backup.Past, states []backup.State) jsonRun {
	out := jsonRun{Run: p.Name, Path: p.Dir, RawPath: rawPath(p.Dir), Files: []jsonRunFile{}}
	if !p.Started.IsZero() {
		out.Started = orNull(p.Started.UTC().Format("2006-01-02T15:04:05Z"))
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		out.Files = append(out.Files, jsonRunFile{e.File(), rawPath(e.File()), p.CopyOf(e), states[i].String()})
	}
	return out
}

// stateName says in a list what is at the path of a file.
func stateName(s backup.State) string {
	switch s {
	case backup.Repaired:
		return "repaired"
	case backup.Original:
		return "as before the repair"
	}
	return refusal(s)
}

// listRuns prints the runs that kept originals.
func (d *doctor) listRuns() error {
	runs, err := d.runs()
	if err != nil {
		return err
	}
	described := []jsonRun{}
	for i, p := range runs {
		if p.Err != nil {
			d.failRun(p)
			continue
		}
		all := backup.States(runs, i)
		described = append(described, describeRun(p, all))
		if d.flags.json {
			continue
		}
		out := report.NewSheet(d.colors)
		out.Line(report.Piece{Ink: report.Name, Text: p.Name}, report.Piece{Text: fmt.Sprintf("  %d %s", len(p.Entries), noun(len(p.Entries), "file"))})
		for i := range p.Entries {
			out.Line(report.Piece{Text: "  " + d.short(p.Entries[i].File()) + "  " + stateName(all[i])})
		}
		if err := out.Flush(d.stdout); err != nil {
			return err
		}
	}
	switch {
	case d.flags.json:
		err = d.printRuns(described)
	case len(runs) == 0:
		d.say("No run has saved originals.")
	}
	if err == nil && len(d.failed) > 0 {
		return errReported
	}
	return err
}

// printRuns prints runs, and what failed, as one document.
func (d *doctor) printRuns(runs []jsonRun) error {
	return d.printDocument(struct {
		Version int          `json:"version"`
		Runs    []jsonRun    `json:"runs"`
		Failed  []jsonFailed `json:"failed"`
	}{1, runs, d.describeFailed()})
}

// failRun says that the manifest of a run cannot be read. Other runs do not depend on it.
func (d *doctor) failRun(p *backup.Past) {
	name := filepath.Join(p.Dir, backup.Manifest)
	d.fail(name, pathError(name, p.Err))
}

// undo restores the files of a run, and removes what killed runs left beside sessions.
func (d *doctor) undo(ctx context.Context) error {
	runs, err := d.runs()
	if err != nil {
		return err
	}
	err = d.undoRun(ctx, runs)
	if ctx.Err() == nil {
		d.sweep(d.everywhere(runs))
	}
	return err
}

// everywhere returns the directories of all stores, and all files that a run has replaced.
func (d *doctor) everywhere(runs []*backup.Past) *targets {
	ts := &targets{}
	places, _ := d.finder.Dirs() // what cannot be read has nothing to restore
	for _, p := range places {
		if in, err := d.search.find([]string{p.Path}); err == nil {
			ts.dirs = append(ts.dirs, in.dirs...)
		}
	}
	for _, p := range runs {
		for i := range p.Entries {
			ts.files = append(ts.files, &target{path: p.Entries[i].File(), named: true})
		}
	}
	return ts
}

// undoRun restores the files of a run.
func (d *doctor) undoRun(ctx context.Context, runs []*backup.Past) error {
	var p *backup.Past
	var all []backup.State
	if d.flags.undo != lastRun {
		i := slices.IndexFunc(runs, func(p *backup.Past) bool { return p.Name == d.flags.undo })
		if i < 0 {
			return fmt.Errorf("--undo: no run is called %q; toolguard doctor --list lists the runs", d.flags.undo)
		}
		if p, all = runs[i], backup.States(runs, i); p.Err != nil {
			d.failRun(p)
			return errReported
		}
	}
	for i := 0; p == nil && i < len(runs); i++ {
		if runs[i].Err != nil {
			d.failRun(runs[i])
			continue
		}
		all = backup.States(runs, i)
		if slices.ContainsFunc(all, func(s backup.State) bool { return s != backup.Original }) {
			p = runs[i]
			break
		}
	}
	switch {
	case p == nil && !slices.ContainsFunc(runs, func(p *backup.Past) bool { return p.Err == nil }):
		return errors.New("--undo: there is no run to undo")
	case p == nil && len(d.failed) > 0:
		return errors.New("--undo: all other runs are undone; toolguard doctor --list shows them")
	case p == nil:
		return errors.New("--undo: all runs are undone; toolguard doctor --list shows them")
	}
	restored, already := 0, 0
	for i := range p.Entries {
		e := &p.Entries[i]
		if all[i] == backup.Original {
			already++
			continue
		}
		if all[i] != backup.Repaired {
			d.fail(e.File(), fmt.Errorf("%s: not restored: it %s; its original is %s", e.File(), refusal(all[i]), p.CopyOf(e)))
			continue
		}
		err := d.restore(ctx, p, e)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			d.fail(e.File(), fmt.Errorf("%w; its original is %s", err, p.CopyOf(e)))
			continue
		}
		all[i] = backup.Original
		restored++
		if !d.flags.json {
			if _, err := fmt.Fprintf(d.screen, "%s: restored\n", report.Printable(d.short(e.File()))); err != nil {
				return err
			}
		}
	}
	if d.flags.json {
		if err := d.printRuns([]jsonRun{describeRun(p, all)}); err != nil {
			return err
		}
	}
	said := fmt.Sprintf("Restored %d of %d %s of run %s.", restored, len(p.Entries), noun(len(p.Entries), "file"), p.Name)
	switch {
	case already == 1:
		said += " 1 is already as before the repair."
	case already > 1:
		said += fmt.Sprintf(" %d are already as before the repair.", already)
	}
	d.say(said)
	if len(d.failed) > 0 {
		return errReported
	}
	return nil
}

// refusal says why a file is not restored, as a verb phrase.
func refusal(s backup.State) string {
	switch s {
	case backup.Gone:
		return "does not exist any more"
	case backup.Unreadable:
		return "cannot be read"
	}
	return "changed after the repair"
}

// restore replaces a repaired file by its original.
func (d *doctor) restore(ctx context.Context, p *backup.Past, e *backup.Entry) error {
	path := e.File()
	info, err := os.Stat(path)
	if err != nil {
		return pathError(path, err)
	}
	copied, err := openText(p.CopyOf(e))
	if err != nil {
		return fmt.Errorf("%s: not restored: %w", path, pathError(p.CopyOf(e), err))
	}
	defer copied.Close()
	if is, err := backup.Describe(io.NewSectionReader(copied, 0, copied.Size())); err != nil || is != e.Before {
		return fmt.Errorf("%s: not restored: the backup is not what the manifest describes", path)
	}
	now, err := openText(path)
	if err != nil {
		return pathError(path, err)
	}
	defer now.Close()
	if is, err := backup.Describe(io.NewSectionReader(now, 0, now.Size())); err != nil || is != e.After {
		return fmt.Errorf("%s: not restored: it changed after the repair", path)
	}
	// Its text shows that nobody has written it since the repair, so its age does not matter.
	s := d.sessionAt(path)
	if why := d.inUse(s, time.Time{}); why != "" {
		return fmt.Errorf("%s: not restored: it is in use: %s", path, why)
	}
	done, err := write.Replace(ctx, write.File{Path: path, Info: info, Original: now, Text: copied}, write.Options{
		Strict: true, Modified: e.Modified, Copies: copies(d.env), Known: written(d.env),
		Ready: func() error {
			if why := d.inUse(s, time.Time{}); why != "" {
				return errors.New("it is in use: " + why)
			}
			return nil
		},
	})
	d.warn(path, done.Note)
	return err
}

// sweep removes what killed runs left.
func (d *doctor) sweep(ts *targets) {
	opts := write.Options{Strict: true, Copies: copies(d.env), Known: written(d.env)}
	for _, n := range ts.sweep(func(string) write.Options { return opts }) {
		d.warn(n.Path, n.Text)
	}
}

// sessionAt returns the session at a path.
func (d *doctor) sessionAt(path string) *stored {
	s := &stored{in: &storeReport{}, target: &target{path: path}}
	if s.in.Store, s.in.Path = d.finder.At(path); s.in.Store == nil {
		s.in.Store, s.in.loose = &store.Store{Locks: store.AllLocks()}, true
	}
	return s
}

// A text is an open file that is not changed.
type text struct {
	*os.File
	size int64
}

// Size implements write.Text.
func (t *text) Size() int64 { return t.size }

// openText opens a regular file.
func openText(path string) (*text, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New(filepath.Base(path) + " is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, err
	}
	return &text{f, info.Size()}, nil
}
