package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard/internal/edit"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// A Log says how the rows are written that are the lines of a text, and what else in the database says
// what they say. Rows can be added to it. All of its tables have the column Session, and rows with numbers.
type Log struct {
	// Session is the column with the id of the session, and Number the one with the place of a row in it.
	Session, Number string
	// Body has the text of a row, or a blob that is the text compressed with zstd.
	Body []string
	// Written are the columns of a row with another text. A new row has Time too. Their SQL may name the text
	// as event, and Time of the row in front of it as earlier.
	Written []Column
	Time    Column
	// Index is a table with a row for each row of the log that has an id, which is the first of Indexed. The
	// others may be NULL. Both tables have Number and Time.
	Index   string
	Indexed []Column
	// Path is a table with the rows from the first one to the leaf.
	Path Path
	// Search is an index of the texts of the path.
	Search Search
	// Marked are the rows of the session in other tables that change with the log. Their SQL may name their own
	// columns; how many rows are in the path, and how many of them have a message, as events and messages; the
	// last Number as last; and the id of the leaf as leaf.
	Marked []Mark
}

// A Path says which rows of a log the agent reads. They are a tree: a row names the one in front of it.
type Path struct {
	// Table has a row for each row of the path, with its Number as Number, and Position, which counts from 0.
	Table, Number, Position string
	// Columns are the others. Their SQL may name the text as event, and as messages the number of messages in
	// front of it, which is NULL if it is none.
	Columns []Column
	// Kinds are the types of the rows that can be a leaf. Others are the types of rows that say where the leaf
	// is in another way; a log with them is not repaired.
	Kinds, Others []string
}

// A Search is a virtual table with the texts of rows, and a table that says whose texts they are. A row has the same
// number in both.
type Search struct {
	Table, Of string
	// ID is the column with the id of a row, in both.
	ID string
	// Columns are those of Table, the first of which is the text: a row without one is not in it. Their SQL may name
	// the text of the row as event, and its Time as earlier.
	Columns []Column
}

// A Column is a column and its value, as SQL.
type Column struct{ Name, SQL string }

// A Mark is what becomes of the row of a session in a table.
type Mark struct {
	Table   string
	Columns []Column
}

// A record is a row of a log after a repair.
type record struct {
	row  int    // which one it was, or -1 if it is new
	text []byte // what it becomes, nil if that is what it was
	gone bool
}

// logged returns what the edits of a text are as changes of the log that it was made of: rows get another
// text, are removed or are added, and those behind new ones get other numbers.
func (t *Text) logged(conn *sqlite3.Conn, added Numbers, edits []edit.Edit) ([]rows.Change, error) {
	records, err := t.records(edits)
	if err != nil {
		return nil, err
	}
	w := &logWriter{Log: t.of.Text.Log, conn: conn, newest: added, session: rows.TextOf([]byte(t.id)), table: t.of.Text.Table}
	defer w.unzip.close()
	return w.changes(t, records)
}

// records returns the rows of a log after edits of its text.
func (t *Text) records(edits []edit.Edit) (all []record, err error) {
	next := 0 // the first row that is not in records
	keep := func(to int) {
		for ; next < to; next++ {
			all = append(all, record{row: next})
		}
	}
	for len(edits) > 0 {
		first, last := t.touched(edits[0])
		n := 1
		for n < len(edits) {
			f, l := t.touched(edits[n])
			if f > last {
				break
			}
			last, n = max(last, l), n+1
		}
		keep(first)
		more, err := t.replaced(first, last, edits[:n])
		if err != nil {
			return nil, err
		}
		all, next, edits = append(all, more...), last+1, edits[n:]
	}
	keep(len(t.rows))
	return all, nil
}

// touched returns the rows that are not the same after an edit, as the first and the last of them. If the
// edit only adds rows, last is the one in front of first.
func (t *Text) touched(e edit.Edit) (first, last int) {
	at := func(offset int64) int {
		return sort.Search(len(t.rows), func(i int) bool { return t.rows[i].start > offset }) - 1
	}
	begins := func(offset int64) bool {
		i := at(offset)
		return i >= 0 && t.rows[i].start == offset || offset == t.size
	}
	whole := begins(e.Span.Start) && (len(e.Text) == 0 || e.Text[len(e.Text)-1] == '\n')
	if e.Span.Len() == 0 {
		first = at(e.Span.Start)
		if e.Span.Start == t.size {
			return len(t.rows), len(t.rows) - 1
		}
		if whole {
			return first, first - 1
		}
		return first, first
	}
	first, last = at(e.Span.Start), at(e.Span.End-1)
	if begins(e.Span.End) && !whole { // the end of the line is gone
		last = min(last+1, len(t.rows)-1)
	}
	return first, last
}

// replaced returns what becomes of some rows.
func (t *Text) replaced(first, last int, edits []edit.Edit) (all []record, err error) {
	area := span{t.size, t.size}
	if first < len(t.rows) {
		area = span{t.rows[first].start, t.rows[first].start}
	}
	var was [][]byte
	for i := first; i <= last; i++ {
		line, err := t.bytes(t.rows[i].span)
		if err != nil {
			return nil, err
		}
		was = append(was, line)
		area.end = t.size
		if i+1 < len(t.rows) {
			area.end = t.rows[i+1].start
		}
	}
	text, err := t.bytes(area)
	if err != nil {
		return nil, err
	}
	var now [][]byte
	for line := range bytes.SplitSeq(edit.Splice(text, area.start, edits), []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			now = append(now, line)
		}
	}
	for first <= last && len(now) > 0 && bytes.Equal(was[0], now[0]) {
		all = append(all, record{row: first})
		was, now, first = was[1:], now[1:], first+1
	}
	var behind []record
	for first <= last && len(now) > 0 && bytes.Equal(was[len(was)-1], now[len(now)-1]) {
		behind = append(behind, record{row: last})
		was, now, last = was[:len(was)-1], now[:len(now)-1], last-1
	}
	for i := range max(len(was), len(now)) {
		switch {
		case i >= len(was):
			all = append(all, record{row: -1, text: now[i]})
		case i >= len(now):
			all = append(all, record{row: first + i, gone: true})
		default:
			all = append(all, record{row: first + i, text: now[i]})
		}
	}
	slices.Reverse(behind)
	return append(all, behind...), nil
}

// Numbers are the highest numbers of rows, by table.
type Numbers map[string]int64

// A logWriter makes changes of a log.
type logWriter struct {
	*Log

	conn    *sqlite3.Conn
	session rows.Value
	table   string
	unzip   unzipper
	newest  Numbers

	removed, updated, shifted, added []rows.Change

	tree tree
}

// place is where a row is: its number in the table, and the columns Number and Time.
type place struct{ id, number, time rows.Value }

// changes returns the changes that make the rows of a log those of records, in an order in which no two
// rows ever have the same number.
func (w *logWriter) changes(t *Text, records []record) ([]rows.Change, error) {
	found, err := rows.Query(w.conn, fmt.Sprintf("SELECT rowid, %s, %s FROM %s WHERE %s = ? ORDER BY %[1]s", w.Number, w.Time.Name, w.table, w.Session), w.session)
	if err != nil {
		return nil, err
	}
	if len(found) != len(t.rows) {
		return nil, errUnmapped
	}
	w.tree.Path = w.Path
	earlier, number := rows.IntOf(0), int64(-1)
	for _, r := range records {
		var at place
		if r.row >= 0 {
			at = place{found[r.row][0], found[r.row][1], found[r.row][2]}
		}
		if !r.gone {
			number = max(number+1, at.number.Int)
		}
		switch {
		case r.gone:
			err = w.remove(t, r, at)
		case r.row < 0:
			at.number = rows.IntOf(number)
			err = w.add(r.text, at, earlier)
		default:
			earlier = at.time
			err = w.keep(t, r, at, rows.IntOf(number))
		}
		if err == nil && !r.gone {
			var text []byte
			if text, err = t.text(r); err == nil {
				err = w.tree.grow(node{number: number, time: earlier, record: r}, text)
			}
		}
		if err != nil {
			if r.row >= 0 {
				err = fmt.Errorf("row %s: %w", t.rows[r.row].id, err)
			}
			return nil, err
		}
	}
	nodes := w.tree.path()
	if len(nodes) == 0 {
		return nil, errUnmapped
	}
	left, came, messages, err := w.path(t, nodes)
	if err != nil {
		return nil, err
	}
	lost, gained, err := w.search(t, nodes)
	if err != nil {
		return nil, err
	}
	marked, err := w.marks(rows.IntOf(int64(len(nodes))), rows.IntOf(messages), rows.IntOf(number), rows.TextOf([]byte(w.tree.last)))
	slices.Reverse(w.shifted)
	return slices.Concat(lost, left, w.removed, w.updated, w.shifted, w.added, came, gained, marked), err
}

// holds returns an error unless a row still has a text.
func (w *logWriter) holds(t *Text, r record, at place) (text []byte, err error) {
	was, err := rows.Query(w.conn, fmt.Sprintf("SELECT %s FROM %s WHERE rowid = ?", strings.Join(w.Body, ", "), w.table), at.id)
	if err != nil {
		return nil, err
	}
	if text, err = t.bytes(t.rows[r.row].span); err != nil {
		return nil, err
	}
	for _, v := range was[0] {
		switch {
		case v.Kind == rows.Text && bytes.Equal(v.Bytes, text):
			return text, nil
		case v.Kind == rows.Blob:
			if raw, err := w.unzip.unpack(v.Bytes); err == nil && bytes.Equal(raw, text) {
				return text, nil
			}
		}
	}
	return nil, errUnmapped
}

// indexed returns the rows of the index with the number of a row.
func (w *logWriter) indexed(at place) ([]rows.Change, error) {
	found, err := rows.Removals(w.conn, w.Index, "rowid", fmt.Sprintf("%s = ? AND %s = ?", w.Session, w.Number), w.session, at.number)
	if err == nil && len(found) > 1 {
		err = errUnmapped
	}
	return found, err
}

// remove removes a row.
func (w *logWriter) remove(t *Text, r record, at place) error {
	if _, err := w.holds(t, r, at); err != nil {
		return err
	}
	index, err := w.indexed(at)
	if err != nil {
		return err
	}
	row, err := rows.Remove(w.conn, w.table, "rowid", at.id)
	w.removed = append(w.removed, append(index, row)...)
	return err
}

// add adds a row.
func (w *logWriter) add(text []byte, at place, earlier rows.Value) error {
	columns := append(slices.Clone(w.Written), w.Time)
	values, err := w.values(columns, text, earlier)
	if err != nil {
		return err
	}
	at.time = values[len(values)-1]
	index, err := w.values(w.Indexed, text, earlier)
	if err != nil {
		return err
	}
	row, err := w.insert(w.table, []string{w.Session, w.Number}, columns, append([]rows.Value{w.session, at.number}, values...))
	if err != nil {
		return err
	}
	w.added = append(w.added, row)
	return w.index(index, at)
}

// index adds a row to the index, if there is an id.
func (w *logWriter) index(values []rows.Value, at place) error {
	if values[0].Kind == rows.Null {
		return nil
	}
	row, err := w.insert(w.Index, []string{w.Session, w.Number, w.Time.Name}, w.Indexed, append([]rows.Value{w.session, at.number, at.time}, values...))
	w.added = append(w.added, row)
	return err
}

// insert returns the change that adds a row with the next number of its table.
func (w *logWriter) insert(table string, names []string, columns []Column, values []rows.Value) (c rows.Change, err error) {
	if _, known := w.newest[table]; !known {
		found, err := rows.Query(w.conn, "SELECT coalesce(max(rowid), 0) FROM "+table)
		if err != nil {
			return c, err
		}
		w.newest[table] = found[0][0].Int
	}
	w.newest[table]++
	id := rows.IntOf(w.newest[table])
	names = append([]string{"rowid"}, names...)
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return rows.Change{Table: table, Key: "rowid", ID: id, Columns: names, After: append([]rows.Value{id}, values...)}, nil
}

// keep gives a row another text, or another number, or both.
func (w *logWriter) keep(t *Text, r record, at place, number rows.Value) error {
	moves := !at.number.Equal(number)
	if r.text == nil && !moves {
		return nil
	}
	index, err := w.indexed(at)
	if err != nil {
		return err
	}
	if r.text != nil {
		was, err := w.holds(t, r, at)
		if err != nil {
			return err
		}
		if err := w.rewrite(r.text, at); err != nil {
			return err
		}
		if index, err = w.reindex(was, r.text, at, number, index); err != nil {
			return err
		}
	}
	if moves {
		for _, c := range index {
			w.shifted = append(w.shifted, w.shift(w.Index, c.ID, at.number, number))
		}
		w.shifted = append(w.shifted, w.shift(w.table, at.id, at.number, number))
	}
	return nil
}

// shift returns the change of the number of a row.
func (w *logWriter) shift(table string, id, before, after rows.Value) rows.Change {
	return rows.Change{Table: table, Key: "rowid", ID: id, Columns: []string{w.Session, w.Number}, Before: []rows.Value{w.session, before}, After: []rows.Value{w.session, after}}
}

// rewrite gives a row another text.
func (w *logWriter) rewrite(text []byte, at place) error {
	names := make([]string, len(w.Written))
	for i, c := range w.Written {
		names[i] = c.Name
	}
	before, err := rows.Query(w.conn, fmt.Sprintf("SELECT %s FROM %s WHERE rowid = ?", strings.Join(names, ", "), w.table), at.id)
	if err != nil {
		return err
	}
	after, err := w.values(w.Written, text, at.time)
	if err != nil {
		return err
	}
	w.updated = append(w.updated, rows.Change{Table: w.table, Key: "rowid", ID: at.id, Columns: names, Before: before[0], After: after})
	return nil
}

// reindex changes the columns of the index that another text of its row changes. It returns the row of the index
// if that stays.
func (w *logWriter) reindex(was, now []byte, at place, number rows.Value, index []rows.Change) ([]rows.Change, error) {
	after, err := w.values(w.Indexed, now, at.time)
	if err != nil {
		return nil, err
	}
	before := make([]rows.Value, len(after))
	for i := range before {
		before[i].Kind = rows.Null
	}
	if isObject(was) {
		if before, err = w.values(w.Indexed, was, at.time); err != nil {
			return nil, err
		}
	}
	switch {
	case len(index) == 0 && before[0].Kind == rows.Null:
		at.number = number
		return nil, w.index(after, at)
	case len(index) == 0:
		return nil, nil // the agent has left it out
	case after[0].Kind == rows.Null:
		w.removed = append(w.removed, index...)
		return nil, nil
	}
	c := rows.Change{Table: w.Index, Key: "rowid", ID: index[0].ID}
	for i, column := range w.Indexed {
		if before[i].Equal(after[i]) {
			continue
		}
		c.Columns = append(c.Columns, column.Name)
		c.Before = append(c.Before, index[0].Before[slices.Index(index[0].Columns, column.Name)])
		c.After = append(c.After, after[i])
	}
	if len(c.Columns) > 0 {
		w.updated = append(w.updated, c)
	}
	return index, nil
}

// values returns what columns become for a text, which must be a JSON object.
func (w *logWriter) values(columns []Column, text []byte, earlier rows.Value) ([]rows.Value, error) {
	if !isObject(text) {
		return nil, errUnmapped
	}
	found, err := rows.Query(w.conn, "WITH x(event, earlier) AS (SELECT ?, ?) SELECT "+list(columns)+" FROM x", rows.TextOf(text), earlier)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// text returns what the text of a row becomes.
func (t *Text) text(r record) ([]byte, error) {
	if r.text != nil {
		return r.text, nil
	}
	return t.bytes(t.rows[r.row].span)
}

// path returns the changes of the path, and how many messages are in it. Rows up to the first one that is not as
// it should be stay.
func (w *logWriter) path(t *Text, nodes []node) (left, came []rows.Change, messages int64, err error) {
	p := &w.Path
	left, err = rows.Removals(w.conn, p.Table, "rowid", w.Session+" = ? ORDER BY "+p.Position, w.session)
	if err != nil {
		return nil, nil, 0, err
	}
	sql := "WITH x(event, messages) AS (SELECT ?, ?) SELECT " + list(p.Columns) + " FROM x"
	same := true
	for i, n := range nodes {
		text, err := t.text(n.record)
		if err != nil {
			return nil, nil, 0, err
		}
		at := rows.Value{Kind: rows.Null}
		if n.message {
			at = rows.IntOf(messages)
			messages++
		}
		values, err := rows.Query(w.conn, sql, rows.TextOf(text), at)
		if err != nil {
			return nil, nil, 0, err
		}
		c, err := w.insert(p.Table, []string{w.Session, p.Position, p.Number}, p.Columns, append([]rows.Value{w.session, rows.IntOf(int64(i)), rows.IntOf(n.number)}, values[0]...))
		if err != nil {
			return nil, nil, 0, err
		}
		if same = same && len(left) > 0 && holds(&left[0], c.Columns[1:], c.After[1:]); same {
			left = left[1:]
			w.newest[p.Table]--
			continue
		}
		came = append(came, c)
	}
	return left, came, messages, nil
}

// search returns the changes of the index of texts. What it has of rows that did not change stays.
func (w *logWriter) search(t *Text, nodes []node) (lost, gained []rows.Change, err error) {
	s := &w.Search
	whose, err := rows.Removals(w.conn, s.Of, "rowid", w.Session+" = ? ORDER BY rowid", w.session)
	if err != nil {
		return nil, nil, err
	}
	has := map[string]bool{}
	drop := func(id string) error {
		for _, c := range whose {
			if string(c.Before[slices.Index(c.Columns, s.ID)].Bytes) != id {
				continue
			}
			entry, err := rows.Remove(w.conn, s.Table, "rowid", c.ID)
			if err != nil {
				return err
			}
			lost = append(lost, entry, c)
		}
		return nil
	}
	for _, c := range whose {
		has[string(c.Before[slices.Index(c.Columns, s.ID)].Bytes)] = true
	}
	stays := map[string]bool{}
	for _, n := range nodes {
		stays[n.id] = true
		if has[n.id] && n.record.text == nil {
			continue
		}
		text, err := t.text(n.record)
		if err != nil {
			return nil, nil, err
		}
		values, err := w.values(s.Columns, text, n.time)
		if err != nil {
			return nil, nil, err
		}
		if has[n.id] {
			was, err := w.had(t, n)
			if err != nil {
				return nil, nil, err
			}
			if slices.EqualFunc(was, values, rows.Value.Equal) {
				continue
			}
			if err := drop(n.id); err != nil {
				return nil, nil, err
			}
		}
		if values[0].Kind == rows.Null {
			continue
		}
		id := rows.TextOf([]byte(n.id))
		row, err := w.insert(s.Of, []string{w.Session, s.ID}, nil, []rows.Value{w.session, id})
		if err != nil {
			return nil, nil, err
		}
		entry := rows.Change{Table: s.Table, Key: "rowid", ID: row.ID, Columns: []string{"rowid", w.Session, s.ID}, After: append([]rows.Value{row.ID, w.session, id}, values...)}
		for _, c := range s.Columns {
			entry.Columns = append(entry.Columns, c.Name)
		}
		gained = append(gained, row, entry)
	}
	for _, id := range slices.Sorted(maps.Keys(has)) {
		if !stays[id] {
			if err := drop(id); err != nil {
				return nil, nil, err
			}
		}
	}
	return lost, gained, nil
}

// had returns the values of the index of texts for a row before its change.
func (w *logWriter) had(t *Text, n node) ([]rows.Value, error) {
	if n.record.row < 0 {
		return nil, nil
	}
	was, err := t.bytes(t.rows[n.record.row].span)
	if err != nil || !isObject(was) {
		return nil, err
	}
	return w.values(w.Search.Columns, was, n.time)
}

// list returns what columns become, as SQL.
func list(columns []Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.SQL)
	}
	return strings.Join(all, ", ")
}

// holds reports whether a row that would be removed has values.
func holds(c *rows.Change, names []string, values []rows.Value) bool {
	for i, n := range names {
		if at := slices.Index(c.Columns, n); at < 0 || !c.Before[at].Equal(values[i]) {
			return false
		}
	}
	return true
}

// isObject reports whether a text is a JSON object.
func isObject(text []byte) bool { return json.Valid(text) && bytes.TrimSpace(text)[0] == '{' }

// marks returns the changes of the rows of the session in other tables.
func (w *logWriter) marks(is ...rows.Value) (changes []rows.Change, err error) {
	for _, m := range w.Marked {
		list := []string{"rowid"}
		var names []string
		for _, c := range m.Columns {
			list, names = append(list, c.Name, c.SQL), append(names, c.Name)
		}
		found, err := rows.Query(w.conn, fmt.Sprintf("WITH x(events, messages, last, leaf) AS (SELECT ?, ?, ?, ?) SELECT m.%s FROM %s AS m, x WHERE m.%s = ?", strings.Join(list, ", "), m.Table, w.Session), append(is, w.session)...)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			c := rows.Change{Table: m.Table, Key: "rowid", ID: row[0], Columns: names}
			for i := 1; i < len(row); i += 2 {
				c.Before, c.After = append(c.Before, row[i]), append(c.After, row[i+1])
			}
			if !slices.EqualFunc(c.Before, c.After, rows.Value.Equal) {
				changes = append(changes, c)
			}
		}
	}
	return changes, nil
}
