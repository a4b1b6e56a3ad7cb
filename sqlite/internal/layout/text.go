package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard/sqlite/internal/database"
)

const (
	// inMemory is the size up to which a text is kept in memory.
	inMemory = 32 << 20
	// mostUnpacked is the size up to which a compressed column is unpacked.
	mostUnpacked = 1 << 30
)

// A Text is the text of a session. It is what the rows hold, with the syntax of JSON around them.
type Text struct {
	Cells []Cell
	Bad   []Bad
	// Torn are rows that ReadWhole leaves out. Changes removes them.
	Torn []Bad
	Rows int

	of      *Schema
	id      string // of the session
	rows    []element
	holders []element

	held []byte   // the beginning
	file *os.File // the rest
	size int64
}

// A Cell is a part of the text that is the same bytes as a column, which hold JSON.
type Cell struct {
	Start, End int64
	Query      string
	ID         string // the first column of the row
	Column     string
	From       int // where the part begins in the column
}

// An element is a row, or the object in it whose fields are those of a column.
type element struct {
	span
	rows   *Rows
	id     string
	column string // of a holder
	cell   span   // what it has of the column
}

// A span is a part of the text.
type span struct{ start, end int64 }

// A Bad is a column that should be JSON and is not. It is a string in the text.
type Bad struct {
	Row, Column, Why string

	rows *Rows // of one that is left out
}

// Error implements error.
func (b Bad) Error() string { return fmt.Sprintf("row %s: %s: %s", b.Row, b.Column, b.Why) }

// Size returns the length of the text.
func (t *Text) Size() int64 { return t.size }

// Close frees what the text uses.
func (t *Text) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// ReadAt implements io.ReaderAt.
func (t *Text) ReadAt(p []byte, off int64) (n int, err error) {
	if off < int64(len(t.held)) {
		n = copy(p, t.held[off:])
	}
	if n == len(p) {
		return n, nil
	}
	if t.file == nil {
		return n, io.EOF
	}
	more, err := t.file.ReadAt(p[n:], off+int64(n)-int64(len(t.held)))
	return n + more, err
}

// Write implements io.Writer.
func (t *Text) Write(p []byte) (int, error) {
	if t.file == nil && len(t.held)+len(p) <= inMemory {
		t.held = append(t.held, p...)
		t.size += int64(len(p))
		return len(p), nil
	}
	if t.file == nil {
		f, err := os.CreateTemp("", "toolguard-sqlite-")
		if err != nil {
			return 0, err
		}
		_ = os.Remove(f.Name()) // nothing is left if the process is killed; Windows refuses
		t.file = f
	}
	n, err := t.file.Write(p)
	t.size += int64(n)
	return n, err
}

var errNoRow = errors.New("no row has its id")

// Read returns the text of a session.
func (s *Schema) Read(db *database.DB, id string) (*Text, error) { return s.read(db, id, false) }

// ReadWhole returns the text of a session without rows that should be JSON and are not, if no other rows
// belong to them. Rows of a log stay: they are torn records of it.
func (s *Schema) ReadWhole(db *database.DB, id string) (*Text, error) { return s.read(db, id, true) }

func (s *Schema) read(db *database.DB, id string, whole bool) (*Text, error) {
	w := &writer{db: db, text: &Text{of: s, id: id}, skips: whole && s.Text.Log == nil}
	defer w.close()
	if err := w.rows(&s.Text, id, 0); err != nil {
		w.text.Close()
		return nil, database.Plain(err)
	}
	if w.text.Rows == 0 && !s.Text.Lines { // the index of a damaged database is wrong, or the id is no text
		w.text.Close()
		return nil, errNoRow
	}
	if err := w.put("\n"); err != nil {
		w.text.Close()
		return nil, err
	}
	return w.text, nil
}

// A writer makes a text.
type writer struct {
	db    *database.DB
	text  *Text
	stmts []*sqlite3.Stmt // by depth
	names []map[string]int
	unzip unzipper
	skips bool // torn rows are left out
}

func (w *writer) close() {
	for _, s := range w.stmts {
		_ = database.Guard(s.Close) // SQLite reports the last error of a statement again
	}
	w.unzip.close()
}

func (w *writer) put(text string) error {
	_, err := w.text.Write([]byte(text))
	return err
}

// rows writes the rows of a query whose parameter is id.
func (w *writer) rows(r *Rows, id string, depth int) error {
	if len(w.stmts) == depth {
		stmt, _, err := w.db.Prepare(r.Query)
		if err != nil {
			return err
		}
		w.stmts = append(w.stmts, stmt)
		names := map[string]int{}
		for i := range stmt.ColumnCount() {
			names[stmt.ColumnName(i)] = i
		}
		w.names = append(w.names, names)
	}
	stmt := w.stmts[depth]
	if err := errors.Join(stmt.Reset(), stmt.BindText(1, id)); err != nil {
		return err
	}
	for first := true; stmt.Step(); {
		w.text.Rows++
		if w.skips && w.tears(r, stmt, depth) {
			continue
		}
		between := ",\n"
		switch {
		case first && (depth == 0):
			between = ""
		case first, r.Lines:
			between = "\n"
		}
		if err := w.put(between); err != nil {
			return err
		}
		if err := w.row(r, stmt, depth); err != nil {
			return err
		}
		first = false
	}
	return stmt.Err()
}

// tears leaves out the current row if it is torn, and reports whether it does.
func (w *writer) tears(r *Rows, stmt *sqlite3.Stmt, depth int) bool {
	if r.Table == "" || r.Each != nil {
		return false
	}
	for _, f := range r.Fields {
		if f.Is != Members {
			continue
		}
		if why := notObject(stmt.ColumnRawText(w.names[depth][f.Column])); why != "" {
			w.text.Torn = append(w.text.Torn, Bad{stmt.ColumnText(0), f.Column, why, r})
			return true
		}
	}
	return false
}

// notObject says why a text is not a JSON object, "" if it is.
func notObject(raw []byte) string {
	why := fault(raw)
	if why == "" && bytes.TrimSpace(raw)[0] != '{' {
		why = "expected a JSON object"
	}
	return why
}

// row writes the current row.
func (w *writer) row(r *Rows, stmt *sqlite3.Stmt, depth int) error {
	at := cellsOf{r.Query, stmt.ColumnText(0), w.names[depth]}
	if r.Table == "" {
		return w.write(r, at, stmt, depth)
	}
	n := len(w.text.rows)
	w.text.rows = append(w.text.rows, element{span: span{start: w.text.size}, rows: r, id: at.id})
	held := len(w.text.holders)
	if err := w.write(r, at, stmt, depth); err != nil {
		return err
	}
	w.text.rows[n].end = w.text.size
	for i := held; i < len(w.text.holders); i++ {
		if h := &w.text.holders[i]; h.rows == nil {
			h.rows, h.id = r, at.id
		}
	}
	return nil
}

// write writes a row.
func (w *writer) write(r *Rows, at cellsOf, stmt *sqlite3.Stmt, depth int) error {
	if r.Fields[0].Is == Whole {
		return w.whole(at, stmt, r.Fields[0].Column)
	}
	if err := w.object(at, stmt, r.Fields, r.Each != nil); err != nil || r.Each == nil {
		return err
	}
	if err := w.put(string(quoted(r.List)) + ":["); err != nil {
		return err
	}
	if err := w.rows(r.Each, at.id, depth+1); err != nil {
		return err
	}
	return w.put("]}")
}

// cellsOf says which row is written.
type cellsOf struct {
	query, id string
	columns   map[string]int
}

// any reports whether one of the fields has a value.
func (at cellsOf) any(stmt *sqlite3.Stmt, fields []Field) bool {
	return slices.ContainsFunc(fields, func(f Field) bool {
		if f.Is == Object {
			return at.any(stmt, f.Fields)
		}
		col, known := at.columns[f.Column]
		return f.Null || known && stmt.ColumnType(col) != sqlite3.NULL
	})
}

// object writes an object. If more follows, it is left open.
func (w *writer) object(at cellsOf, stmt *sqlite3.Stmt, fields []Field, more bool) error {
	holder, cells := element{span: span{start: w.text.size}}, len(w.text.Cells)
	if err := w.put("{"); err != nil {
		return err
	}
	between := ""
	for i := range fields {
		if fields[i].Is == Members && !more {
			holder.column = fields[i].Column
		}
		wrote, err := w.field(at, stmt, &fields[i], between)
		if err != nil {
			return err
		}
		if wrote {
			between = ","
		}
	}
	if more {
		return w.put(between)
	}
	if err := w.put("}"); err != nil || holder.column == "" {
		return err
	}
	holder.end = w.text.size
	holder.cell = span{holder.start + 1, holder.start + 1}
	if len(w.text.Cells) > cells {
		holder.cell = span{w.text.Cells[cells].Start, w.text.Cells[cells].End}
	}
	w.text.holders = append(w.text.holders, holder)
	return nil
}

// field writes a field, if it has a value.
func (w *writer) field(at cellsOf, stmt *sqlite3.Stmt, f *Field, between string) (wrote bool, err error) {
	if f.Is == Object {
		if !at.any(stmt, f.Fields) {
			return false, nil
		}
		if err := w.put(between + string(quoted(f.Key)) + ":"); err != nil {
			return false, err
		}
		return true, w.object(at, stmt, f.Fields, false)
	}
	col, known := at.columns[f.Column]
	kind := sqlite3.NULL
	if known {
		kind = stmt.ColumnType(col)
	}
	if kind == sqlite3.NULL && !f.Null {
		return false, nil
	}
	if f.Is == Members {
		return w.members(at, stmt.ColumnRawText(col), f.Column, between)
	}
	if err := w.put(between + string(quoted(f.Key)) + ":"); err != nil {
		return false, err
	}
	switch kind {
	case sqlite3.NULL:
		return true, w.put("null")
	case sqlite3.INTEGER:
		return true, w.put(strconv.FormatInt(stmt.ColumnInt64(col), 10))
	case sqlite3.FLOAT:
		number, err := json.Marshal(stmt.ColumnFloat(col))
		if err != nil { // it is infinite
			number = []byte("null")
		}
		return true, w.put(string(number))
	}
	if f.Is == Packed && kind == sqlite3.BLOB {
		raw, err := unpacked(stmt.ColumnRawBlob(col))
		if err != nil {
			w.text.Bad = append(w.text.Bad, Bad{Row: at.id, Column: f.Column, Why: err.Error()})
			raw = []byte("null")
		}
		return true, w.put(string(raw))
	}
	raw := stmt.ColumnRawText(col)
	if f.Is == Marked {
		for _, mark := range []string{"\x00json:", "\x01json:"} {
			if text, is := bytes.CutPrefix(raw, []byte(mark)); is {
				return true, w.cell(at, f.Column, text, len(mark))
			}
		}
	}
	if f.Is == JSON || f.Is == Packed {
		return true, w.cell(at, f.Column, raw, 0)
	}
	_, err = w.text.Write(quoted(string(raw)))
	return true, err
}

// cell writes JSON as it is, or as a string if it is none.
func (w *writer) cell(at cellsOf, column string, raw []byte, from int) error {
	if why := fault(raw); why != "" {
		w.text.Bad = append(w.text.Bad, Bad{Row: at.id, Column: column, Why: why})
		_, err := w.text.Write(quoted(string(raw)))
		return err
	}
	start := w.text.size
	_, err := w.text.Write(raw)
	w.text.Cells = append(w.text.Cells, Cell{start, w.text.size, at.query, at.id, column, from})
	return err
}

// members writes the inside of an object.
func (w *writer) members(at cellsOf, raw []byte, column, between string) (bool, error) {
	if why := notObject(raw); why != "" {
		w.text.Bad = append(w.text.Bad, Bad{Row: at.id, Column: column, Why: why})
		return true, w.put(between + string(quoted(column)) + ":" + string(quoted(string(raw))))
	}
	from := bytes.IndexByte(raw, '{') + 1
	inside := raw[from:bytes.LastIndexByte(raw, '}')]
	if len(bytes.TrimSpace(inside)) == 0 {
		return false, nil
	}
	if err := w.put(between); err != nil {
		return false, err
	}
	start := w.text.size
	_, err := w.text.Write(inside)
	w.text.Cells = append(w.text.Cells, Cell{start, w.text.size, at.query, at.id, column, from})
	return true, err
}

// whole writes a column that is a whole line. In JSON, the end of a line is only white space.
func (w *writer) whole(at cellsOf, stmt *sqlite3.Stmt, column string) error {
	col := at.columns[column]
	var raw []byte
	switch stmt.ColumnType(col) {
	case sqlite3.BLOB:
		var err error
		if raw, err = w.unzip.unpack(stmt.ColumnRawBlob(col)); err != nil {
			w.text.Bad = append(w.text.Bad, Bad{Row: at.id, Column: column, Why: err.Error()})
			return w.put("null")
		}
	case sqlite3.NULL:
		w.text.Bad = append(w.text.Bad, Bad{Row: at.id, Column: column, Why: "has no value"})
		return w.put("null")
	default:
		raw = slices.Clone(stmt.ColumnRawText(col))
	}
	for i, c := range raw {
		if c == '\n' || c == '\r' {
			raw[i] = ' '
		}
	}
	start := w.text.size
	if why := fault(raw); why != "" {
		w.text.Bad = append(w.text.Bad, Bad{Row: at.id, Column: column, Why: why})
	}
	_, err := w.text.Write(raw)
	w.text.Cells = append(w.text.Cells, Cell{start, w.text.size, at.query, at.id, column, 0})
	return err
}

// An unzipper unpacks zstd.
type unzipper struct{ decoder *zstd.Decoder }

func (u *unzipper) unpack(packed []byte) ([]byte, error) {
	if u.decoder == nil {
		var err error
		if u.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostUnpacked)); err != nil {
			return nil, err
		}
	}
	raw, err := u.decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("its zstd cannot be unpacked: %w", err)
	}
	return raw, nil
}

func (u *unzipper) close() {
	if u.decoder != nil {
		u.decoder.Close()
	}
}

// fault says why a text is not JSON, "" if it is.
func fault(raw []byte) string {
	if json.Valid(raw) {
		return ""
	}
	var v any
	var at *json.SyntaxError
	switch err := json.Unmarshal(raw, &v); {
	case len(bytes.TrimSpace(raw)) == 0:
		return "is empty, expected JSON"
	case errors.As(err, &at):
		return fmt.Sprintf("invalid JSON at byte %d: %s", at.Offset, at.Error())
	}
	return "invalid JSON"
}

// quoted returns a text as a JSON string.
func quoted(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil { // a string can always be encoded
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
