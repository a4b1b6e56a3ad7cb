package cli

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

	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/internal/write"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// undo restores what the last repair of each database changed.
func (x *fix) undo(ctx context.Context, paths []string) error {
	failed := false
	for _, path := range paths {
		if err := database.Guard(func() error { return x.restore(ctx, path, true) }); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failed = true
			x.complain(about(path, err).Error())
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// A past is a repair of a database.
type past struct {
	run, copied string
	entry       *backup.Entry
	changes     []rows.Change
}

// pasts returns the repairs of a database, the last one first.
func (x *fix) pasts(path string) (all []past, err error) {
	root, err := backup.DatabaseDir(x.env, runtime.GOOS)
	if err != nil {
		return nil, err
	}
	for run, e := range backup.About(root, path) {
		if e.Rows == "" {
			continue
		}
		f, err := os.Open(run.RowsOf(e))
		if err != nil {
			return nil, err
		}
		changes, err := rows.Decode(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.RowsOf(e), err)
		}
		all = append(all, past{run.Name, run.CopyOf(e), e, changes})
	}
	return all, nil
}

// restore undoes the last repair of a database that is not undone. If the file is what the repair left, and
// whole is set, it gets back its former bytes. Otherwise the rows get back their former values.
func (x *fix) restore(ctx context.Context, path string, whole bool) error {
	w, err := x.open(ctx, path)
	if err != nil {
		return err
	}
	defer w.Close()
	all, err := x.pasts(w.Path)
	if err != nil {
		return err
	}
	x.sweep(w.Path)
	for i := range all {
		p := &all[i]
		made, moved, err := p.look(w, all[i+1:])
		switch {
		case err != nil:
			return err
		case moved != nil:
			return fmt.Errorf("row %s changed after the repair %s, so nothing is restored; the database as it was before is saved as %s", moved.Row(), p.run, p.copied)
		case len(made) == 0:
			continue // it is undone, or was not made
		}
		if whole && p.left(w) {
			if done, err := x.replace(ctx, w, path, p); done || ctx.Err() != nil {
				return err
			}
			_ = w.Close()
			return x.restore(ctx, path, false)
		}
		if err := x.reverse(w, made); err != nil {
			return fmt.Errorf("%w, so nothing is restored; the database as it was before the repair %s is saved as %s", err, p.run, p.copied)
		}
		if err := w.Commit(); err != nil {
			return err
		}
		x.say(fmt.Sprintf("%s: restored %s of the repair %s", path, count(len(made), "row"), p.run))
		return nil
	}
	return errors.New("no repair of it is left to undo")
}

// describe identifies the bytes of a database that is locked, if all of it is in its file.
func describe(w *database.Writing) (is backup.Content, err error) {
	f, err := w.Whole()
	if f == nil {
		return is, cmp.Or(err, errors.New("a part of it is in its log"))
	}
	defer f.Close()
	return backup.Describe(f)
}

// left reports whether the database is what the repair left.
func (p *past) left(w *database.Writing) bool {
	if p.entry.After == (backup.Content{}) {
		return false
	}
	is, err := describe(w)
	return err == nil && is == p.entry.After
}

// replace closes the database and replaces its file by the copy, and reports whether it did. Programs that open
// the database meanwhile are noticed as those that open any other file.
func (x *fix) replace(ctx context.Context, w *database.Writing, path string, p *past) (done bool, err error) {
	info, err := os.Stat(w.Path)
	if err != nil {
		return false, err
	}
	was, err := openText(w.Path)
	if err != nil {
		return false, err
	}
	defer was.Close()
	text, err := openText(p.copied)
	if err != nil {
		return false, err
	}
	defer text.Close()
	if is, err := backup.Describe(io.NewSectionReader(text, 0, text.size)); err != nil || is != p.entry.Before {
		return false, errors.New("the copy is not what the manifest describes")
	}
	if err := w.Close(); err != nil {
		return false, err
	}
	opts := x.keeps()
	opts.Modified, opts.Ready = p.entry.Modified, func() error {
		if !database.Alone(w.Path) {
			return database.ErrInUse
		}
		return nil
	}
	made, err := write.Replace(ctx, write.File{Path: w.Path, Info: info, Original: was, Text: text}, opts)
	if err == nil {
		x.say(fmt.Sprintf("%s: restored the database as it was before the repair %s", path, p.run))
	}
	return made.Written, err
}

// keeps are the options for replacing a database. What the copies have, and what a repair wrote, is not lost
// with what a killed run left.
func (x *fix) keeps() write.Options {
	root, err := backup.DatabaseDir(x.env, runtime.GOOS)
	if err != nil {
		return write.Options{Strict: true}
	}
	return write.Options{
		Strict: true,
		Copies: func(path string) []string { return backup.Copies(root, path) },
		Known:  func(path string, text io.Reader) bool { return backup.Wrote(root, path, text) },
	}
}

// sweep removes what killed runs left beside a database.
func (x *fix) sweep(path string) {
	is := func(other string) bool { return other == path }
	for _, n := range write.Sweep(filepath.Dir(path), is, func(string) write.Options { return x.keeps() }) {
		x.say("warning: " + n.Path + ": " + n.Text)
	}
}

// A text is an open file that is not changed.
type text struct {
	*os.File
	size int64
}

// Size implements write.Text.
func (t *text) Size() int64 { return t.size }

// openText opens a file.
func openText(path string) (*text, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &text{f, info.Size()}, nil
}

// look returns the changes that are in the database, or one whose row has changed since. A row that
// was restored further, to what it was before an earlier repair, has not.
func (p *past) look(w *database.Writing, earlier []past) (made []rows.Change, moved *rows.Change, err error) {
	for i := range p.changes {
		state, err := p.changes[i].State(w.Conn)
		for j := 0; err == nil && state == rows.Changed && j < len(earlier); j++ {
			for k := range earlier[j].changes {
				if old := &earlier[j].changes[k]; old.Table == p.changes[i].Table && old.ID.Equal(p.changes[i].ID) {
					state, err = old.State(w.Conn)
				}
			}
			if state == rows.After {
				state = rows.Changed
			}
		}
		if err != nil {
			return nil, nil, err
		}
		switch state {
		case rows.After:
			made = append(made, p.changes[i])
		case rows.Changed:
			moved = &p.changes[i]
		}
	}
	return made, moved, nil
}

// reverse undoes changes.
func (x *fix) reverse(w *database.Writing, made []rows.Change) error {
	if err := known(w, made); err != nil {
		return err
	}
	before, err := w.Foreign()
	if err != nil {
		return err
	}
	for _, c := range slices.Backward(made) {
		c = c.Reversed()
		if err := c.Apply(w.Conn); err != nil {
			return err
		}
	}
	if after, err := w.Foreign(); err != nil || after != before {
		return cmp.Or(err, errors.New("rows of the repair belong to a session or a message that does not exist any more"))
	}
	return database.Guard(w.Intact)
}
