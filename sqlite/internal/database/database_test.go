package database_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
)

// writerEnv names the database that a child process writes to.
const writerEnv = "TOOLGUARD_TEST_WRITES"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		if err := write(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1) //nolint:forbidigo // it is a process of its own
		}
		return
	}
	os.Exit(m.Run()) //nolint:forbidigo // it is the end of the tests
}

// write writes transactions to a database until the process is killed. In each, two tables get the
// same number of rows, and now and then the log is written back.
func write(path string) error {
	conn, err := sqlite3.Open(path)
	if err != nil {
		return err
	}
	if err := conn.BusyTimeout(time.Minute); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := conn.Exec("BEGIN; INSERT INTO a VALUES (hex(randomblob(3000))); INSERT INTO b VALUES (hex(randomblob(3000))); DELETE FROM a WHERE rowid = (SELECT min(rowid) FROM a) AND (SELECT count(*) FROM a) > 90; DELETE FROM b WHERE rowid = (SELECT min(rowid) FROM b) AND (SELECT count(*) FROM b) > 90; COMMIT"); err != nil {
			return err
		}
		if i%7 == 0 {
			if err := conn.Exec("PRAGMA wal_checkpoint(RESTART)"); err != nil {
				return err
			}
		}
		time.Sleep(time.Duration(i%40) * time.Millisecond)
	}
}

// number returns the number that a query selects.
func number(t *testing.T, db *sqlite3.Conn, query string) int {
	t.Helper()
	stmt, _, err := db.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if !stmt.Step() {
		t.Fatal(query, stmt.Err())
	}
	return stmt.ColumnInt(0)
}

// unchanged fails if a directory has other files, or others contents, than before.
func unchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, fixture.Files(t, dir)); diff != "" {
		t.Errorf("files changed: %s", diff[:min(len(diff), 500)])
	}
}

// reads opens a database and returns the number of rows in a.
func reads(t *testing.T, path string, copied bool) int {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if db.Copied != copied {
		t.Errorf("copied: %t", db.Copied)
	}
	if left := fixture.Files(t, temp); runtime.GOOS != "windows" && len(left) > 0 {
		t.Errorf("a killed process would leave %d files", len(left))
	}
	n := number(t, db.Conn, "SELECT count(*) FROM a")
	if err := db.Exec("INSERT INTO a VALUES (1)"); err == nil {
		t.Error("the database can be written to")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if left := fixture.Files(t, temp); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
	return n
}

// TestPlain: a database without a log is read in place, also in a directory in which nobody may
// write, through a link, and with a name that means something in a URI.
func TestPlain(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL", "TRUNCATE"} {
		dir := filepath.Join(t.TempDir(), "50% a?b#c")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "x y?.db")
		fixture.Exec(t, path, "PRAGMA journal_mode="+mode+"; CREATE TABLE a (x); INSERT INTO a VALUES (1), (2)")
		if err := errors.Join(os.Chmod(path, 0o400), os.Chmod(dir, 0o500)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		before := fixture.Files(t, dir)
		for _, p := range []string{path, link} {
			if n := reads(t, p, false); n != 2 {
				t.Errorf("%s: %d rows", mode, n)
			}
		}
		unchanged(t, dir, before)
	}
}

// TestLog: what only the write-ahead log holds is read, and the log stays as it is.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	conn := fixture.Open(t, path)
	defer conn.Close()
	if err := conn.Exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE a (x); INSERT INTO a VALUES (1), (2), (3)"); err != nil {
		t.Fatal(err)
	}
	before := fixture.Files(t, dir)
	if len(before) < 2 || len(before["x.db-wal"]) == 0 {
		t.Fatalf("%d files", len(before))
	}
	if n := reads(t, path, true); n != 3 {
		t.Errorf("%d rows", n)
	}
	unchanged(t, dir, before)
	// The program goes on.
	if err := conn.Exec("INSERT INTO a VALUES (4)"); err != nil {
		t.Error(err)
	}
	if n := reads(t, path, true); n != 4 {
		t.Errorf("%d rows", n)
	}
}

// TestCutLog: a log that ends in the middle of a transaction holds those before it.
func TestCutLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	conn := fixture.Open(t, path)
	defer conn.Close()
	if err := conn.Exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE a (x); INSERT INTO a VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	whole := len(fixture.Files(t, dir)["x.db-wal"])
	if err := conn.Exec("INSERT INTO a VALUES (2)"); err != nil {
		t.Fatal(err)
	}
	files := fixture.Files(t, dir)
	for cut := whole; cut <= len(files["x.db-wal"]); cut += 97 {
		killed := t.TempDir()
		for name, text := range map[string]string{"x.db": files["x.db"], "x.db-wal": files["x.db-wal"][:cut]} {
			if err := os.WriteFile(filepath.Join(killed, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n := reads(t, filepath.Join(killed, "x.db"), true); n != 1 {
			t.Errorf("cut at %d: %d rows", cut, n)
		}
	}
}

// TestJournal: a transaction that a killed program began is not read.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	conn := fixture.Open(t, path)
	defer conn.Close()
	if err := conn.Exec(`PRAGMA cache_size=2; CREATE TABLE a (x); WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO a SELECT hex(zeroblob(500)) FROM n;
		BEGIN; UPDATE a SET x = 'new'; DELETE FROM a WHERE rowid > 5`); err != nil {
		t.Fatal(err)
	}
	files := fixture.Files(t, dir)
	if len(files["x.db-journal"]) == 0 {
		t.Fatal("no journal")
	}
	killed := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(killed, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := reads(t, filepath.Join(killed, "x.db"), true); n != 200 {
		t.Errorf("%d rows", n)
	}
	unchanged(t, killed, files)
}

// TestWriter: what is read while another process writes is one state of the database.
func TestWriter(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	fixture.Exec(t, path, "PRAGMA journal_mode=WAL; CREATE TABLE a (x); CREATE TABLE b (x)")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), writerEnv+"="+path)
	var stderr strings.Builder
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
		if stderr.Len() > 0 {
			t.Error(stderr.String())
		}
	}()
	opened, changed, rows := 0, 0, 0
	for i := 0; opened < sample.Size(200, 25, 10) && i < 2000; i++ {
		db, err := database.Open(t.Context(), path)
		if errors.Is(err, database.ErrChanged) {
			changed++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		opened++
		a, b := number(t, db.Conn, "SELECT count(*) FROM a"), number(t, db.Conn, "SELECT count(*) FROM b")
		rows = max(rows, a)
		bad := number(t, db.Conn, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
		if db.Unchanged() == nil && (a != b || bad > 0) {
			t.Errorf("%d and %d rows, %d faults", a, b, bad)
		}
		db.Close()
	}
	if opened < 10 || rows == 0 {
		t.Errorf("opened %d times, %d times changed, %d rows", opened, changed, rows)
	}
	t.Logf("opened %d times, %d times changed", opened, changed)
}

// TestUnchanged: a write to a database that is read in place is noticed.
func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fixture.Exec(t, path, "CREATE TABLE a (x); INSERT INTO a VALUES (1)")
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Unchanged(); err != nil {
		t.Error(err)
	}
	fixture.Exec(t, path, "UPDATE a SET x = 2")
	if err := db.Unchanged(); !errors.Is(err, database.ErrChanged) {
		t.Error(err)
	}
}

// TestRefused: what is no database is named.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "x.db")
	fixture.Exec(t, pipe, "CREATE TABLE a (x)")
	if err := os.Mkdir(pipe+"-wal", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		put("empty", ""):                   "is empty: it has no database yet",
		put("text", "hello"):               "is not an SQLite database, or an encrypted one",
		dir:                                "is not a regular file",
		pipe:                               "its write-ahead log: is not a regular file",
		put("head", "SQLite format 3\x00"): "the database is damaged: file is not a database",
		put("cut", "SQLite format 3\x00\x10\x00"): "the database is damaged: file is not a database",
	} {
		db, err := database.Open(t.Context(), path)
		if err == nil {
			err = db.Exec("SELECT * FROM sqlite_schema")
			err = database.Plain(err)
			db.Close()
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := database.Open(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestNoRoom: without a directory for the copy nothing is read.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	conn := fixture.Open(t, path)
	defer conn.Close()
	if err := conn.Exec("PRAGMA journal_mode=WAL; CREATE TABLE a (x)"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if _, err := database.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "a directory for its copy: ") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	t.Setenv("TMPDIR", t.TempDir())
	if _, err := database.Open(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
