package rows_test

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard/sqlite/internal/fixture"
	"github.com/toolguard/toolguard/sqlite/internal/rows"
)

// values are one of each kind, and odd ones.
func values() []rows.Value {
	return []rows.Value{
		{Kind: rows.Null},
		{Kind: rows.Int, Int: math.MinInt64},
		{Kind: rows.Float, Float: math.Float64bits(math.Inf(-1))},
		{Kind: rows.Float, Float: math.Float64bits(0.1)},
		rows.TextOf([]byte("é\x00b")),
		rows.TextOf([]byte("\xe2\x82 not UTF-8")),
		{Kind: rows.Text},
		{Kind: rows.Blob, Bytes: []byte("é\x00b")},
		{Kind: rows.Blob},
	}
}

// open makes a database with a row for each value, and one more.
func open(t *testing.T) (path string, conn *sqlite3.Conn) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	fixture.Exec(t, path, `CREATE TABLE "a b" (k TEXT PRIMARY KEY, v, "w x" COLLATE NOCASE); INSERT INTO "a b" VALUES ('other', 1, 2)`)
	conn = fixture.Open(t, path)
	t.Cleanup(func() { conn.Close() })
	for _, v := range values() {
		c := added(v)
		if err := c.Apply(conn); err != nil {
			t.Fatal(err)
		}
	}
	return path, conn
}

// added is the change that adds a row with a value, which is also in its id.
func added(v rows.Value) rows.Change {
	id := rows.TextOf(append([]byte(v.Kind), v.Bytes...))
	if v.Kind == rows.Float && v.Float == math.Float64bits(0.1) {
		id.Bytes = []byte("tenth")
	}
	return rows.Change{Table: `a b`, Key: "k", ID: id, Columns: []string{"k", "v", "w x"}, After: []rows.Value{id, v, rows.TextOf([]byte("A"))}}
}

// TestChanges: a change of any value to any other one is made, recognized, written, read and undone, byte by byte.
func TestChanges(t *testing.T) {
	t.Parallel()
	path, conn := open(t)
	before := fixture.Rows(t, path)
	if len(before) != len(values())+1 {
		t.Fatalf("%d rows", len(before))
	}
	for _, was := range values() {
		id := added(was).ID
		if got, err := rows.Read(conn, `a b`, "k", id, "v"); err != nil || !got.Equal(was) {
			t.Errorf("%v is read as %v, %v", was, got, err)
		}
		changes := []rows.Change{}
		for _, now := range values() {
			if !now.Equal(was) {
				changes = append(changes, rows.Update(`a b`, "k", id, "v", was, now))
			}
		}
		gone, err := rows.Remove(conn, `a b`, "k", id)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, gone)
		var text bytes.Buffer
		if err := rows.Encode(&text, changes); err != nil {
			t.Fatal(err)
		}
		read, err := rows.Decode(&text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(changes, read); diff != "" {
			t.Errorf("changes that were written and read:\n%s", diff)
		}
		for _, c := range read {
			for _, x := range []rows.Change{c, c.Reversed()} {
				expect(t, conn, &x, rows.Before)
				if err := x.Apply(conn); err != nil {
					t.Fatalf("%+v: %v", x, err)
				}
				expect(t, conn, &x, rows.After)
			}
			if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
				t.Fatalf("rows after %+v and its reverse:\n%s", c, diff)
			}
		}
	}
}

func expect(t *testing.T, conn *sqlite3.Conn, c *rows.Change, want rows.State) {
	t.Helper()
	if got, err := c.State(conn); err != nil || got != want {
		t.Fatalf("%+v: state %d, %v, want %d", c, got, err, want)
	}
}

// TestMoved: a row that is not as it was read does not change, nor does more than one.
func TestMoved(t *testing.T) {
	t.Parallel()
	path, conn := open(t)
	before := fixture.Rows(t, path)
	text := rows.TextOf([]byte("A"))
	gone, err := rows.Remove(conn, `a b`, "k", rows.TextOf([]byte("other")))
	if err != nil {
		t.Fatal(err)
	}
	gone.Before[len(gone.Before)-1].Int++
	for _, c := range []rows.Change{
		rows.Update(`a b`, "k", rows.TextOf([]byte("null")), "v", rows.Value{Kind: rows.Int}, text),
		rows.Update(`a b`, "k", rows.TextOf([]byte("none")), "v", rows.Value{Kind: rows.Null}, text),
		// The column compares without regard to case, and the guard does not.
		rows.Update(`a b`, "k", rows.TextOf([]byte("null")), "w x", rows.TextOf([]byte("a")), rows.TextOf([]byte("b"))),
		gone,
	} {
		if err := c.Apply(conn); !errors.Is(err, rows.ErrMoved) || err.Error() != "row "+c.Row()+": the row is not as it was read" {
			t.Errorf("%+v: %v", c, err)
		}
		expect(t, conn, &c, rows.Changed)
	}
	if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
		t.Error(diff)
	}
	same := added(rows.Value{Kind: rows.Null})
	if err := same.Apply(conn); err == nil || err.Error() != `row a b null: UNIQUE constraint failed: a b.k` {
		t.Error(err)
	}
	fixture.Exec(t, path+"2", "CREATE TABLE t (k, v); INSERT INTO t VALUES ('a', 1), ('a', 1)")
	two := fixture.Open(t, path+"2")
	defer two.Close()
	c := rows.Update("t", "k", rows.TextOf([]byte("a")), "v", rows.Value{Kind: rows.Int, Int: 1}, text)
	if err := c.Apply(two); !errors.Is(err, rows.ErrMoved) {
		t.Error(err)
	}
	if _, err := rows.Read(two, "t", "k", c.ID, "v"); err == nil || err.Error() != "2 rows of t have the id a, expected one" {
		t.Error(err)
	}
	if _, err := rows.Remove(two, "t", "k", c.ID); err == nil || err.Error() != "2 rows of t have the id a, expected one" {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{"table":"t"}`: "row t : expected a value of each column",
		`{"table":"t","columns":["a","b"],"before":[{"kind":"null"}]}`: "row t : expected a value of each column",
		`{`: "unexpected EOF",
	} {
		if _, err := rows.Decode(bytes.NewBufferString(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestVirtual: a row of a virtual table is changed as one of another table, although the virtual table changes more
// rows of its own.
func TestVirtual(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	fixture.Exec(t, path, "CREATE VIRTUAL TABLE v_fts USING fts5(text, n UNINDEXED); INSERT INTO v_fts (rowid, text, n) VALUES (7, 'a b', 1.0); CREATE TABLE t (k); INSERT INTO t VALUES (1); CREATE TRIGGER d AFTER DELETE ON t BEGIN DELETE FROM v_fts WHERE rowid = 9; END")
	conn := fixture.Open(t, path)
	defer conn.Close()
	before := fixture.Rows(t, path)
	gone, err := rows.Remove(conn, "v_fts", "rowid", rows.IntOf(7))
	if err != nil {
		t.Fatal(err)
	}
	other, err := rows.Remove(conn, "t", "k", rows.IntOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	back, again := gone.Reversed(), other.Reversed()
	for _, c := range []*rows.Change{&gone, &other, &again, &back} {
		if err := c.Apply(conn); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		expect(t, conn, c, rows.After)
	}
	if err := conn.Exec("INSERT INTO v_fts (v_fts) VALUES ('integrity-check'); COMMIT"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, fixture.Rows(t, path)); diff != "" {
		t.Errorf("rows after all (-want +got):\n%s", diff)
	}
	gone.Before[1] = rows.TextOf([]byte("b"))
	if err := gone.Apply(conn); !errors.Is(err, rows.ErrMoved) {
		t.Error(err)
	}
	if _, err := rows.Removals(conn, "none", "k", "1"); err == nil || err.Error() != "no such table: none" {
		t.Error(err)
	}
	if _, err := rows.Removals(conn, "t", "none", "1"); err == nil || err.Error() != "the table t has no column none" {
		t.Error(err)
	}
}
