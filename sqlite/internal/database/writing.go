package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/toolguard/toolguard/internal/write"
)

// A Writing is a database that this process alone has open, in a transaction. All of it becomes
// permanent with Commit, and nothing before.
type Writing struct {
	*DB

	// Path is the path of the file, without links, and Info what it was when it was opened.
	Path string
	Info fs.FileInfo
	// Sure reports whether the system tells which programs have the file open. If it does not, only
	// those are noticed that have locked the database.
	Sure bool
	// Exact is set by CopyTo if the copy has the bytes of the file. Commit clears it if the changes are not
	// in the file.
	Exact bool
}

// ErrInUse says that another program has the database open.
var ErrInUse = errors.New("another program uses the database: close it first")

// A heldError is ErrInUse by a program that the system names.
type heldError string

// Error implements error.
func (e heldError) Error() string { return string(e) + " has the database open: close it first" }

// Is implements errors.Is.
func (heldError) Is(target error) bool { return target == ErrInUse }

// OpenForWriting opens a database, if no other program has it open, and begins a transaction in
// which no other program can read or write. It can write the virtual tables of FTS5 if one of the names is
// a table of the database.
func OpenForWriting(ctx context.Context, path string, fts ...string) (*Writing, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return nil, plain(err)
	}
	if _, err := lookOnce(target); err != nil {
		return nil, err
	}
	w := &Writing{Path: target}
	if w.Info, err = os.Stat(target); err != nil {
		return nil, plain(err)
	}
	if w.Info.Mode().Perm()&0o200 == 0 {
		return nil, errors.New("is read-only")
	}
	// SQLite keeps the log of a database under the name by which it is opened.
	switch {
	case write.Links(w.Info) > 1:
		return nil, errors.New("has several names (hard links), so a part of it may be in a log beside another one")
	case mounted(target):
		return nil, errors.New("is mounted alone, so a part of it may be in a log that is not here: mount its directory")
	}
	who := ""
	if who, w.Sure = write.Writer(target); who != "" {
		return nil, heldError(who)
	}
	register()
	conn, err := sqlite3.OpenFlags(uri(target, "vfs="+besidesName), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI|sqlite3.OPEN_EXRESCODE)
	if err != nil {
		return nil, Plain(err)
	}
	conn.SetInterrupt(ctx)
	w.DB = &DB{Conn: conn, Copied: true, path: target} // nobody else changes it
	err = w.begin()
	for _, table := range fts {
		if err == nil {
			err = w.module(table)
		}
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return w, nil
}

// module makes a table of FTS5 known, if the database has it. What other virtual tables have is not looked at.
func (w *Writing) module(table string) error {
	found, err := w.word("SELECT 1 FROM sqlite_schema WHERE name = '" + table + "' AND sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'")
	if err != nil || found == "" {
		return err
	}
	return Plain(fts5.Register(w.Conn))
}

// begin locks the database. In the mode with a write-ahead log, each program that has the database
// open has a shared lock, so the exclusive one is only given if there is no other.
func (w *Writing) begin() error {
	// If nothing is written, what is in the log stays there.
	if _, err := w.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true); err != nil {
		return Plain(err)
	}
	err := w.Exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=FILE; PRAGMA mmap_size=0; " +
		"PRAGMA foreign_keys=OFF; PRAGMA recursive_triggers=OFF; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE")
	switch {
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return ErrInUse
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.CANTOPEN):
		return fmt.Errorf("cannot be written: %w", Plain(err))
	case err != nil:
		return Plain(err)
	}
	if ro, _ := w.ReadOnly("main"); ro {
		return errors.New("is read-only")
	}
	encoding, err := w.word("PRAGMA encoding")
	if err == nil && encoding != "UTF-8" {
		err = fmt.Errorf("its texts are in %s, expected UTF-8", encoding)
	}
	return err
}

// word returns the first column of the first row of a query, "" if there is none.
func (w *Writing) word(sql string) (text string, err error) {
	stmt, _, err := w.Prepare(sql)
	if err != nil {
		return "", Plain(err)
	}
	defer stmt.Close()
	if stmt.Step() {
		text = stmt.ColumnText(0)
	}
	return text, Plain(stmt.Err())
}

// Intact returns an error if the database is damaged.
func (w *Writing) Intact() error {
	found, err := w.word("PRAGMA integrity_check(1)")
	if err == nil && found != "ok" {
		err = fmt.Errorf("%w: %s", ErrMalformed, found)
	}
	return err
}

// Foreign returns how many rows name a row of another table that does not exist.
func (w *Writing) Foreign() (string, error) {
	return w.word("SELECT count(*) FROM pragma_foreign_key_check")
}

// Triggers returns the names of the triggers of a table.
func (w *Writing) Triggers(table string) (all []string, err error) {
	stmt, _, err := w.Prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE ORDER BY name")
	if err != nil {
		return nil, Plain(err)
	}
	defer stmt.Close()
	if err := stmt.BindText(1, table); err != nil {
		return nil, Plain(err)
	}
	for stmt.Step() {
		all = append(all, stmt.ColumnText(0))
	}
	return all, Plain(stmt.Err())
}

// Size returns the size of the database with all that is in its log.
func (w *Writing) Size() (int64, error) {
	stmt, _, err := w.Prepare("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	if err != nil {
		return 0, Plain(err)
	}
	defer stmt.Close()
	n := int64(0)
	if stmt.Step() {
		n = stmt.ColumnInt64(0)
	}
	return n, Plain(stmt.Err())
}

// CopyTo copies the database, with all that is in its log, to an empty file. Nothing may have been changed
// yet. The lock stays.
func (w *Writing) CopyTo(path string) error {
	from, err := w.Whole()
	if err != nil {
		return err
	}
	if from == nil {
		return w.copyPages(path)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w.Exact = true
	_, err = io.Copy(to, from)
	return cmp.Or(err, to.Close())
}

// Alone reports whether all of a database is in its file: nothing is in a write-ahead log, and nothing is to be
// rolled back. SQLite ends a transaction by a zero at the start of its journal, if it keeps that.
func Alone(path string) bool {
	for _, suffix := range []string{"-wal", "-journal"} {
		head := make([]byte, 1)
		f, err := os.Open(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false
		}
		n, err := f.Read(head)
		f.Close()
		if n == 1 && (suffix == "-wal" || head[0] != 0) || n == 0 && !errors.Is(err, io.EOF) {
			return false
		}
	}
	return true
}

// Whole opens the file, if all of the database is in it. It is nil if not. Nobody can change it as long as
// it is locked.
func (w *Writing) Whole() (*os.File, error) {
	if !w.Sure || !Alone(w.Path) {
		return nil, nil
	}
	f, err := os.Open(w.Path)
	return f, plain(err)
}

// copyPages copies the database page by page: SQLite does so only outside of a transaction. The lock
// stays, because it is that of the connection.
func (w *Writing) copyPages(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	before, err := w.word("PRAGMA data_version")
	if err != nil {
		return err
	}
	err = Guard(func() error {
		if err := w.Exec("COMMIT"); err != nil {
			return err
		}
		err := w.Backup("main", uri(abs, ""))
		return errors.Join(err, w.Exec("BEGIN EXCLUSIVE"))
	})
	if err != nil {
		return Plain(err)
	}
	after, err := w.word("PRAGMA data_version")
	if err == nil && after != before {
		err = ErrInUse
	}
	return err
}

// Commit makes all changes permanent, and moves them from the log to the database.
func (w *Writing) Commit() error {
	if err := Guard(func() error { return w.Exec("COMMIT") }); err != nil {
		return Plain(err)
	}
	if err := Guard(func() error { return w.Exec("PRAGMA wal_checkpoint(TRUNCATE)") }); err != nil {
		w.Exact = false // the changes are in the log
	}
	_, err := w.Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, false)
	return Plain(err)
}
