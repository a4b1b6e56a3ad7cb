// Package rows changes rows of a database, each only if it is still as it was read, and writes the
// changes down so that they can be undone. It does not know what is in a row.
package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard/sqlite/internal/database"
)

// A Value is a value of a column. Text need not be UTF-8.
type Value struct {
	Kind Kind `json:"kind"`
	// Bytes are those of a text or a blob.
	Bytes []byte `json:"bytes,omitempty"`
	Int   int64  `json:"int,omitempty"`
	// Float has the bits of a number, because JSON has no infinite one.
	Float uint64 `json:"float,omitempty"`
}

// A Kind is the storage class of a value.
type Kind string

// The kinds.
const (
	Null  Kind = "null"
	Int   Kind = "integer"
	Float Kind = "real"
	Text  Kind = "text"
	Blob  Kind = "blob"
)

// TextOf returns a text as a value.
func TextOf(text []byte) Value { return Value{Kind: Text, Bytes: text} }

// Equal reports whether two values are the same bytes of the same kind.
func (v Value) Equal(w Value) bool {
	return v.Kind == w.Kind && bytes.Equal(v.Bytes, w.Bytes) && v.Int == w.Int && v.Float == w.Float
}

// column returns the value of a column of the current row.
func column(stmt *sqlite3.Stmt, i int) Value {
	switch stmt.ColumnType(i) {
	case sqlite3.INTEGER:
		return Value{Kind: Int, Int: stmt.ColumnInt64(i)}
	case sqlite3.FLOAT:
		return Value{Kind: Float, Float: math.Float64bits(stmt.ColumnFloat(i))}
	case sqlite3.TEXT:
		return Value{Kind: Text, Bytes: slices.Clone(stmt.ColumnRawText(i))}
	case sqlite3.BLOB:
		return Value{Kind: Blob, Bytes: slices.Clone(stmt.ColumnRawBlob(i))}
	}
	return Value{Kind: Null}
}

// bind sets a parameter.
func (v Value) bind(stmt *sqlite3.Stmt, i int) error {
	switch v.Kind {
	case Int:
		return stmt.BindInt64(i, v.Int)
	case Float:
		return stmt.BindFloat(i, math.Float64frombits(v.Float))
	case Text:
		if len(v.Bytes) == 0 { // a nil slice would be a NULL
			return stmt.BindText(i, "")
		}
		return stmt.BindRawText(i, v.Bytes)
	case Blob:
		if len(v.Bytes) == 0 {
			return stmt.BindZeroBlob(i, 0)
		}
		return stmt.BindBlob(i, v.Bytes)
	case Null:
		return stmt.BindNull(i)
	}
	return fmt.Errorf("expected a kind of value, got %q", v.Kind)
}

// A Change is what becomes of one row.
type Change struct {
	Table string `json:"table"`
	// Key is the column whose value ID tells which row it is.
	Key string `json:"key"`
	ID  Value  `json:"id"`
	// Columns are those that change. Of a row that is added or removed, they are all columns.
	Columns []string `json:"columns"`
	// Before and After are their values. A row that is added has none before, and one that is
	// removed has none after.
	Before []Value `json:"before"`
	After  []Value `json:"after"`
}

// Reversed returns the change that undoes c.
func (c Change) Reversed() Change {
	c.Before, c.After = c.After, c.Before
	return c
}

// Row names the row for people.
func (c *Change) Row() string {
	id := string(c.ID.Bytes)
	if c.ID.Kind == Int {
		id = strconv.FormatInt(c.ID.Int, 10)
	}
	return c.Table + " " + id
}

// name returns a name as SQL.
func name(n string) string { return `"` + strings.ReplaceAll(n, `"`, `""`) + `"` }

// ErrMoved says that a row is not what it was when it was read.
var ErrMoved = errors.New("the row is not as it was read")

// number is the column with which SQLite numbers rows. A row that is added again keeps its number, unless another
// row has got it.
const number = "rowid"

// unnumbered returns an added row without its number if another row has that.
func (c *Change) unnumbered(conn *sqlite3.Conn) (*Change, error) {
	i := slices.Index(c.Columns, number)
	if i < 0 || c.Key == number {
		return c, nil
	}
	taken, err := Query(conn, fmt.Sprintf("SELECT 1 FROM %s WHERE %s = ?", name(c.Table), number), c.After[i])
	if err != nil || len(taken) == 0 {
		return c, err
	}
	out := *c
	out.Columns, out.After = slices.Delete(slices.Clone(c.Columns), i, i+1), slices.Delete(slices.Clone(c.After), i, i+1)
	return &out, nil
}

// Apply makes a change inside of a transaction. Exactly one row changes, which is as it was before,
// or there is an error. A virtual table changes rows of its own tables, too.
func (c *Change) Apply(conn *sqlite3.Conn) error {
	if c.Before == nil {
		var err error
		if c, err = c.unnumbered(conn); err != nil {
			return fmt.Errorf("row %s: %w", c.Row(), err)
		}
	}
	var sql strings.Builder
	var args []Value
	list := func(format, between string, values []Value) {
		for i, column := range c.Columns {
			if i > 0 {
				sql.WriteString(between)
			}
			fmt.Fprintf(&sql, format, name(column))
		}
		args = append(args, values...)
	}
	switch {
	case c.Before == nil:
		fmt.Fprintf(&sql, "INSERT INTO %s (", name(c.Table))
		list("%s", ", ", c.After)
		fmt.Fprintf(&sql, ") VALUES (?%s)", strings.Repeat(", ?", len(c.Columns)-1))
	case c.After == nil:
		fmt.Fprintf(&sql, "DELETE FROM %s WHERE ", name(c.Table))
	default:
		fmt.Fprintf(&sql, "UPDATE %s SET ", name(c.Table))
		list("%s = ?", ", ", c.After)
		sql.WriteString(" WHERE ")
	}
	if c.Before != nil {
		fmt.Fprintf(&sql, "%s = ? AND ", name(c.Key))
		args = append(args, c.ID)
		list("%s COLLATE BINARY IS ?", " AND ", c.Before)
	}
	total := conn.TotalChanges()
	if err := run(conn, sql.String(), args, nil); err != nil {
		return fmt.Errorf("row %s: %w", c.Row(), database.Plain(err))
	}
	one := conn.Changes() == 1
	if n := conn.TotalChanges() - total; one && n > 1 {
		virtual, err := Query(conn, "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual' AND name = ?", TextOf([]byte(c.Table)))
		if err != nil {
			return err
		}
		if one = len(virtual) > 0; one { // what it has not written yet is no part of the next change
			if err := conn.Exec("SAVEPOINT virtual; RELEASE virtual"); err != nil {
				return fmt.Errorf("row %s: %w", c.Row(), database.Plain(err))
			}
		}
	}
	if !one || conn.TotalChanges() == total {
		return fmt.Errorf("row %s: %w", c.Row(), ErrMoved)
	}
	return nil
}

// run runs a statement, and calls each for its rows.
func run(conn *sqlite3.Conn, sql string, args []Value, each func(stmt *sqlite3.Stmt)) error {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, v := range args {
		if err := v.bind(stmt, i+1); err != nil {
			return err
		}
	}
	for stmt.Step() {
		if each != nil {
			each(stmt)
		}
	}
	return stmt.Err()
}

// A State says what a row is, compared with a change.
type State uint8

// The states.
const (
	// Changed is a row that is neither as before nor as after the change.
	Changed State = iota
	// Before is a row as it was before the change.
	Before
	// After is a row as the change made it.
	After
)

// State compares the row of a change with what it was and became.
func (c *Change) State(conn *sqlite3.Conn) (State, error) {
	columns := make([]string, len(c.Columns))
	for i, n := range c.Columns {
		columns[i] = name(n)
	}
	is, err := Query(conn, fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", strings.Join(columns, ", "), name(c.Table), name(c.Key)), c.ID)
	holds := func(want []Value) bool {
		if want == nil {
			return len(is) == 0
		}
		if len(is) != 1 || len(is[0]) != len(want) {
			return false
		}
		for i := range want {
			if !want[i].Equal(is[0][i]) && (c.Columns[i] != number || c.Key == number) {
				return false
			}
		}
		return true
	}
	switch {
	case err != nil:
		return Changed, err
	case holds(c.After):
		return After, nil
	case holds(c.Before):
		return Before, nil
	}
	return Changed, nil
}

// IntOf returns a number as a value.
func IntOf(n int64) Value { return Value{Kind: Int, Int: n} }

// Update returns the change of a column of the row with an id, which has the value before.
func Update(table, key string, id Value, col string, before, after Value) Change {
	return Change{table, key, id, []string{col}, []Value{before}, []Value{after}}
}

// Read returns the value of a column of the one row with an id.
func Read(conn *sqlite3.Conn, table, key string, id Value, col string) (v Value, err error) {
	all, err := Query(conn, fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", name(col), name(table), name(key)), id)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d rows of %s have the id %s, expected one", len(all), table, id.Bytes)
	}
	if err != nil {
		return v, err
	}
	return all[0][0], nil
}

// Remove returns the change that removes the one row with an id.
func Remove(conn *sqlite3.Conn, table, key string, id Value) (Change, error) {
	all, err := Removals(conn, table, key, name(key)+" = ?", id)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d rows of %s have the id %s, expected one", len(all), table, id.Bytes)
	}
	if err != nil {
		return Change{Table: table, Key: key, ID: id}, err
	}
	return all[0], nil
}

// Removals returns the changes that remove all rows for which a condition of SQL is true.
func Removals(conn *sqlite3.Conn, table, key, where string, args ...Value) (changes []Change, err error) {
	var columns []string
	err = run(conn, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", []Value{TextOf([]byte(table))}, func(stmt *sqlite3.Stmt) {
		columns = append(columns, stmt.ColumnText(0))
	})
	if err != nil {
		return nil, database.Plain(err)
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("no such table: %s", table)
	}
	// A row that is added again keeps its number, if the table has numbers and a name for them.
	if !slices.ContainsFunc(columns, func(n string) bool { return strings.EqualFold(n, number) }) {
		if run(conn, fmt.Sprintf("SELECT %s FROM %s LIMIT 0", number, name(table)), nil, nil) == nil {
			columns = append([]string{number}, columns...)
		}
	}
	list := make([]string, len(columns))
	for i, n := range columns {
		list[i] = name(n)
	}
	at := slices.Index(columns, key)
	if at < 0 {
		return nil, fmt.Errorf("the table %s has no column %s", table, key)
	}
	all, err := Query(conn, fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(list, ", "), name(table), where), args...)
	for _, row := range all {
		changes = append(changes, Change{Table: table, Key: key, ID: row[at], Columns: columns, Before: row})
	}
	return changes, err
}

// Query returns the rows of a query.
func Query(conn *sqlite3.Conn, sql string, args ...Value) (all [][]Value, err error) {
	err = run(conn, sql, args, func(stmt *sqlite3.Stmt) {
		row := make([]Value, stmt.ColumnCount())
		for i := range row {
			row[i] = column(stmt, i)
		}
		all = append(all, row)
	})
	return all, database.Plain(err)
}

// Encode writes changes, one a line.
func Encode(w io.Writer, changes []Change) error {
	enc := json.NewEncoder(w)
	for i := range changes {
		if err := enc.Encode(&changes[i]); err != nil {
			return err
		}
	}
	return nil
}

// Decode reads changes.
func Decode(r io.Reader) (changes []Change, err error) {
	dec := json.NewDecoder(r)
	for {
		var c Change
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			return changes, nil
		} else if err != nil {
			return nil, err
		}
		if wide := len(c.Columns); wide == 0 || c.Before == nil && c.After == nil || c.Before != nil && len(c.Before) != wide || c.After != nil && len(c.After) != wide {
			return nil, fmt.Errorf("row %s: expected a value of each column", c.Row())
		}
		changes = append(changes, c)
	}
}
