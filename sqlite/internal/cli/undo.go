package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/toolguard/toolguard/internal/backup"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// undo restores the rows of the last repair of each database.
func (x *fix) undo(ctx context.Context, paths []string) error {
	failed := false
	for _, path := range paths {
		if err := database.Guard(func() error { return x.restore(ctx, path) }); err != nil {
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
		all = append(all, past{run.Name, run.CopyOf(e), changes})
	}
	return all, nil
}

// restore gives the rows of the last repair of a database that is not undone their former values.
func (x *fix) restore(ctx context.Context, path string) error {
	w, err := x.open(ctx, path)
	if err != nil {
		return err
	}
	defer w.Close()
	all, err := x.pasts(w.Path)
	if err != nil {
		return err
	}
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
		if err := x.reverse(w, made); err != nil {
			return err
		}
		if err := w.Commit(); err != nil {
			return err
		}
		x.say(fmt.Sprintf("%s: restored %s of the repair %s", path, count(len(made), "row"), p.run))
		return nil
	}
	return errors.New("no repair of it is left to undo")
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
	for _, c := range slices.Backward(made) {
		c = c.Reversed()
		if err := c.Apply(w.Conn); err != nil {
			return err
		}
	}
	return database.Guard(w.Intact)
}
