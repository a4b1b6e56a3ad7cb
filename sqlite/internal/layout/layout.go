// Package layout is a table of how agents keep sessions in SQLite databases, and makes of the rows
// of a session the text that the agent itself would export. It does not know what is right and
// wrong in a session.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolguard/toolguard/sqlite/internal/database"
)

// A Schema is how one agent keeps its sessions. It is data: a new agent is a row of All.
type Schema struct {
	// Agent is the name of the agent, and Others those of its forks with the same tables.
	Agent  string
	Others []string
	// Dialect is the format of the text, as toolguard names it.
	Dialect string
	// Tables are the tables that a database of the agent has, with the columns that are read.
	Tables map[string][]string
	// Sessions is a query for all sessions. Its columns are the id, the title, the directory, the
	// version of the agent, and the time of the last change, in seconds or milliseconds or as a
	// text. Each may be NULL, except for the id.
	Sessions string
	// Text is how the rows of a session become its text.
	Text Rows
	// Elsewhere is a query for a number: how many sessions are not in these tables. It is "" if
	// all are. Why says where they are.
	Elsewhere, Why string
	// Instead says what a user can do about a session with errors that is not repaired.
	Instead string
	// Left says the same of a session with errors that a repair leaves.
	Left string
	// Repaired says which version of the agent resumed sessions here whose rows were repaired. It is ""
	// if none did: then sessions are only checked.
	Repaired string
	// Tested is a query that returns nothing unless the tables are those that were repaired. It is "" if all
	// versions have the same ones. Find then sets Untested, and sessions are only checked.
	Tested   string
	Untested bool
	// Idle are triggers of the tables that do nothing when a repair changes rows.
	Idle []string
	// Source is where the tables are defined, and Tried says whether databases that the agent
	// itself wrote here were read.
	Source string
	Tried  string
}

// Rows are the rows of a query, each written as a JSON object.
type Rows struct {
	// Table and Key are the table whose rows they are, and the column that is the first of the query. They
	// are needed for a repair.
	Table, Key string
	// Query has one parameter: the id of the session, or the first column of the row around it.
	Query  string
	Fields []Field
	// List is the last field of each object: a list of the rows of Each.
	List string
	Each *Rows
	// Lines says that the text has a row on each line and nothing around them. A repair needs the Log.
	Lines bool
	Log   *Log
}

// A Field is what a column becomes in an object. A NULL is left out, unless Null is set.
type Field struct {
	Key    string
	Column string
	Is     Kind
	Null   bool
	Fields []Field // of Object
}

// A Kind is how a column is written.
type Kind uint8

const (
	// Value is a text as a JSON string, and a number as it is.
	Value Kind = iota
	// JSON is a text that is JSON: its bytes stay as they are.
	JSON
	// Members is a text that is a JSON object: its fields are those of the object around it.
	Members
	// Whole is a text that is JSON and the whole row. A blob is compressed with zstd.
	Whole
	// Marked is a text, or JSON after one of the marks that Hermes has for it.
	Marked
	// Packed is a text that is JSON, or a blob that is MessagePack, which becomes JSON.
	Packed
	// Object is an object of other columns.
	Object
)

// Find returns the schemas whose tables a database has.
func Find(db *database.DB) ([]*Schema, error) {
	// Virtual tables need modules that are not here.
	stmt, _, err := db.Prepare("SELECT c.name FROM sqlite_schema AS t JOIN pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND t.name = ? AND t.sql NOT LIKE 'CREATE VIRTUAL%'")
	if err != nil {
		return nil, database.Plain(err)
	}
	defer stmt.Close()
	has := map[string]map[string]bool{}
	for _, s := range All() {
		for table := range s.Tables {
			if has[table] != nil {
				continue
			}
			has[table] = map[string]bool{}
			if err := errors.Join(stmt.Reset(), stmt.BindText(1, table)); err != nil {
				return nil, database.Plain(err)
			}
			for stmt.Step() {
				has[table][stmt.ColumnText(0)] = true
			}
			if err := stmt.Err(); err != nil {
				return nil, database.Plain(err)
			}
		}
	}
	var found []*Schema
	for _, s := range All() {
		if s.in(has) {
			if s.Untested, err = s.untested(db); err != nil {
				return nil, err
			}
			found = append(found, s)
		}
	}
	return found, nil
}

// untested reports whether the tables are those of a version whose sessions were not repaired.
func (s *Schema) untested(db *database.DB) (bool, error) {
	if s.Tested == "" {
		return false, nil
	}
	stmt, _, err := db.Prepare(s.Tested)
	if err != nil { // it has other tables
		return true, nil //nolint:nilerr // as above
	}
	defer stmt.Close()
	return !stmt.Step(), database.Plain(stmt.Err())
}

// Idle reports whether a trigger does nothing when a repair changes rows.
func Idle(trigger string) bool {
	return slices.ContainsFunc(All(), func(s *Schema) bool { return slices.Contains(s.Idle, trigger) })
}

// FTS returns the names of the virtual tables that a repair changes.
func FTS() (names []string) {
	for _, s := range All() {
		if s.Text.Log != nil {
			names = append(names, s.Text.Log.Search.Table)
		}
	}
	return names
}

// in reports whether a database has the tables.
func (s *Schema) in(has map[string]map[string]bool) bool {
	for table, columns := range s.Tables {
		if slices.ContainsFunc(columns, func(c string) bool { return !has[table][c] }) {
			return false
		}
	}
	return true
}

// A Session is what a database says about a session.
type Session struct {
	ID, Title, Directory, Version string
	Modified                      time.Time // zero if it is not known
}

// List lists the sessions in a database, the newest first, and says how many others are elsewhere.
func (s *Schema) List(db *database.DB) (all []Session, elsewhere int, err error) {
	stmt, _, err := db.Prepare(s.Sessions)
	if err != nil {
		return nil, 0, database.Plain(err)
	}
	defer stmt.Close()
	for stmt.Step() {
		all = append(all, Session{
			ID: stmt.ColumnText(0), Title: stmt.ColumnText(1), Directory: stmt.ColumnText(2), Version: stmt.ColumnText(3),
			Modified: moment(stmt.ColumnText(4)),
		})
	}
	if err := stmt.Err(); err != nil {
		return all, 0, database.Plain(err)
	}
	slices.SortStableFunc(all, func(a, b Session) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.ID, b.ID))
	})
	if s.Elsewhere == "" {
		return all, 0, nil
	}
	other, _, err := db.Prepare(s.Elsewhere)
	if err != nil { // an older version of the agent has no such table
		return all, 0, nil
	}
	defer other.Close()
	if other.Step() {
		elsewhere = other.ColumnInt(0)
	}
	return all, elsewhere, nil
}

// milliseconds is a number of seconds that no session has: it is in the year 5138.
const milliseconds = 1e11

// moment returns a time that is written as seconds, milliseconds or a text in UTC.
func moment(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	var n float64
	if _, err := fmt.Sscan(text, &n); err != nil || !(n > 0 && n < 1e15) {
		return time.Time{}
	}
	if n < milliseconds {
		n *= 1000
	}
	return time.UnixMilli(int64(n)).UTC()
}
