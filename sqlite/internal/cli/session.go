package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolguard/toolguard/internal/contain"
	"github.com/toolguard/toolguard/internal/suggest"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

// retries is how often a session is read again from a database that changed meanwhile.
const retries = 5

// A library is a database with the sessions of one or more agents.
type library struct {
	ctx     context.Context
	path    string
	db      *database.DB
	shelves []*shelf
}

// A shelf is what one agent keeps in a database.
type shelf struct {
	*layout.Schema

	sessions  []layout.Session
	elsewhere int
	torn      error // why the list is not complete
}

// openLibrary opens a database and lists its sessions.
func openLibrary(ctx context.Context, path string) (*library, error) {
	for range retries {
		l := &library{ctx: ctx, path: path}
		err := database.Guard(l.open)
		if err == nil {
			return l, nil
		}
		l.Close()
		if !errors.Is(err, database.ErrChanged) {
			return nil, about(path, err)
		}
	}
	return nil, about(path, database.ErrChanged)
}

func (l *library) open() (err error) {
	if l.db, err = database.Open(l.ctx, l.path); err != nil {
		return err
	}
	found, err := layout.Find(l.db)
	if err = l.settled(err); err != nil {
		return err
	}
	if len(found) == 0 {
		var names []string
		for _, s := range layout.All() {
			names = append(names, s.Agent)
		}
		if l.db.NoLog {
			return fmt.Errorf("has no tables of a known agent (%s); if it is a copy, copy %s-wal too", strings.Join(names, ", "), filepath.Base(l.path))
		}
		return fmt.Errorf("has no tables of a known agent (%s)", strings.Join(names, ", "))
	}
	for _, s := range found {
		x := &shelf{Schema: s}
		x.sessions, x.elsewhere, x.torn = s.List(l.db)
		if errors.Is(l.settled(nil), database.ErrChanged) {
			return database.ErrChanged
		}
		if x.torn != nil && l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		l.shelves = append(l.shelves, x)
	}
	return nil
}

// settled returns the error of reading. If the database changed meanwhile, that is the error.
func (l *library) settled(err error) error {
	if e := l.db.Unchanged(); e != nil {
		return e
	}
	return err
}

// A reading is Read or ReadWhole of a schema.
type reading func(s *layout.Schema, db *database.DB, id string) (*layout.Text, error)

// read returns the text of a session.
func (l *library) read(s *shelf, id string, as reading) (*layout.Text, error) {
	for range retries {
		if l.db == nil { // it could not be opened again
			if err := l.reopen(); err != nil {
				return nil, err
			}
		}
		var text *layout.Text
		err := database.Guard(func() (err error) {
			text, err = as(s.Schema, l.db, id)
			return err
		})
		if contain.From(err) != nil || errors.Is(err, database.ErrMemory) { // the connection is not used again
			if e := l.reopen(); e != nil {
				return nil, e
			}
			return nil, err
		}
		if err = l.settled(err); err == nil {
			return text, nil
		}
		if text != nil {
			text.Close()
		}
		if !errors.Is(err, database.ErrChanged) {
			return nil, err
		}
		if err := l.reopen(); err != nil {
			return nil, err
		}
	}
	return nil, database.ErrChanged
}

// reopen opens the database again. If that fails, there is none until it succeeds.
func (l *library) reopen() (err error) {
	l.Close()
	l.db = nil
	db, err := database.Open(l.ctx, l.path)
	if err == nil {
		l.db = db
	}
	return err
}

// Close closes the database.
func (l *library) Close() {
	if l.db != nil {
		l.db.Close()
	}
}

// choose leaves only the sessions with these ids, and all if there are none.
func (l *library) choose(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var all []string
	for _, s := range l.shelves {
		for _, x := range s.sessions {
			all = append(all, x.ID)
		}
	}
	for _, id := range ids {
		if !slices.Contains(all, id) {
			return about(l.path, suggest.Unknown("session", id, all, program+" list names the sessions"))
		}
	}
	for _, s := range l.shelves {
		s.sessions = slices.DeleteFunc(s.sessions, func(x layout.Session) bool { return !slices.Contains(ids, x.ID) })
	}
	return nil
}

// name returns how a session in a database is named in reports.
func name(path, id string) string { return path + "#" + id }
