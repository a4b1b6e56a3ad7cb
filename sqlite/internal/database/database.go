// Package database opens SQLite databases of other programs for reading, and leaves nothing
// beside them. It does not know what is in them.
package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/toolguard/toolguard/internal/contain"
)

const (
	// attempts is how often a database is copied that a program writes to.
	attempts = 6
	// tick is longer than the interval in which file systems count times. A file that is older
	// than that gets another time when it is written to.
	tick = 20 * time.Millisecond
	// magic is how every database begins.
	magic = "SQLite format 3\x00"
	// headBytes is the size of the header of a database. That of a write-ahead log is shorter.
	headBytes = 100
	// writes is where the header says how it is written, and withLog that it has a write-ahead log.
	writes, withLog = 18, 2
)

// ErrChanged says that a program wrote to the database while it was read.
var ErrChanged = errors.New("another program writes to the database all the time; try again when it is idle")

// A DB is a database that is open for reading.
type DB struct {
	*sqlite3.Conn

	// Copied says that a copy is open, because the database has a journal or a write-ahead log.
	Copied bool
	// NoLog says that it is written with a write-ahead log, and has none now. A copy may lack it.
	NoLog bool

	path string
	seen files // when it was opened
	dir  string
}

// Open opens the database at path. A database without a write-ahead log and without a journal is
// opened as it is, as a file that does not change, because SQLite would otherwise create files
// beside it. All else is copied to a private directory first, and read there.
func Open(ctx context.Context, path string) (*DB, error) {
	// SQLite has its other files beside the file that a link leads to.
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return nil, plain(err)
	}
	for i := range attempts {
		if i > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(tick << i):
			}
		}
		seen, err := look(ctx, target)
		if errors.Is(err, ErrChanged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !seen.pending() {
			return open(ctx, target, seen)
		}
		db, err := openCopy(ctx, target, seen)
		if !errors.Is(err, ErrChanged) {
			return db, err
		}
	}
	return nil, ErrChanged
}

// Unchanged returns ErrChanged if the database changed since it was opened. What was read from it
// may then be torn. A copy does not change.
func (db *DB) Unchanged() error {
	if db.Copied {
		return nil
	}
	now, err := lookOnce(db.path)
	switch {
	case err != nil:
		return err
	case now != db.seen:
		return ErrChanged
	}
	return nil
}

// Close closes the database and removes its copy.
func (db *DB) Close() error {
	err := Guard(db.Conn.Close)
	if db.dir != "" {
		_ = os.RemoveAll(db.dir)
	}
	return err
}

// files is the state of the files of a database.
type files struct{ main, wal, journal state }

// A state is what tells whether a file was written to.
type state struct {
	exists   bool
	size     int64
	modified int64
	head     [headBytes]byte
}

// pending reports whether there is something that the database file itself does not hold.
func (f *files) pending() bool { return f.wal.size > 0 || f.journal.size > 0 }

// youngest returns when one of the files changed last.
func (f *files) youngest() time.Time {
	return time.Unix(0, max(f.main.modified, f.wal.modified, f.journal.modified))
}

// looks is how often the files are looked at until nothing has written to them for a moment.
const looks = 10

// look returns the state of the files, once they are older than the interval in which times count.
func look(ctx context.Context, path string) (seen files, err error) {
	for range looks {
		if seen, err = lookOnce(path); err != nil {
			return seen, err
		}
		// A time in the future is not that of a write.
		if age := time.Since(seen.youngest()); age < 0 || age >= tick {
			return seen, nil
		}
		select {
		case <-ctx.Done():
			return seen, ctx.Err()
		case <-time.After(tick):
		}
	}
	return seen, ErrChanged
}

func lookOnce(path string) (seen files, err error) {
	if seen.main, err = stateOf(path); err != nil {
		return seen, err
	}
	if !seen.main.exists {
		return seen, fs.ErrNotExist
	}
	switch head := seen.main.head[:]; {
	case seen.main.size == 0 && stateSize(path+"-wal") == 0:
		return seen, errors.New("is empty: it has no database yet")
	case seen.main.size > 0 && !bytes.HasPrefix(head, []byte(magic)):
		return seen, errors.New("is not an SQLite database, or an encrypted one")
	}
	if seen.wal, err = stateOf(path + "-wal"); err != nil {
		return seen, fmt.Errorf("its write-ahead log: %w", err)
	}
	if seen.journal, err = stateOf(path + "-journal"); err != nil {
		return seen, fmt.Errorf("its journal: %w", err)
	}
	return seen, nil
}

// stateSize returns the size of a file, 0 if there is none.
func stateSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func stateOf(path string) (s state, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil && !info.Mode().IsRegular() { // a pipe would wait for ever
		err = errors.New("is not a regular file")
	}
	if err != nil {
		return s, plain(err)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, plain(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(s.head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return s, plain(err)
	}
	s.exists, s.size, s.modified = true, info.Size(), info.ModTime().UnixNano()
	return s, nil
}

// open opens a database as a file that does not change.
func open(ctx context.Context, path string, seen files) (*DB, error) {
	conn, err := sqlite3.OpenFlags(uri(path, "immutable=1"), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI|sqlite3.OPEN_EXRESCODE)
	if err != nil {
		return nil, Plain(err)
	}
	conn.SetInterrupt(ctx)
	// The schema is not ours: it must not run anything.
	if err := conn.Exec("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=FILE; PRAGMA mmap_size=0"); err != nil {
		conn.Close()
		return nil, Plain(err)
	}
	return &DB{Conn: conn, NoLog: seen.main.head[writes] == withLog && !seen.wal.exists, path: path, seen: seen}, nil
}

// openCopy copies the files of a database, lets SQLite take its log or journal into the copy, and
// opens that. It returns ErrChanged if a program wrote to one of the files meanwhile.
func openCopy(ctx context.Context, path string, seen files) (db *DB, err error) {
	dir, err := os.MkdirTemp("", "toolguard-sqlite-")
	if err != nil {
		return nil, fmt.Errorf("a directory for its copy: %w", err)
	}
	defer func() {
		if db == nil || db.dir == "" {
			_ = os.RemoveAll(dir)
		}
	}()
	copied := filepath.Join(dir, "copy.db")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		err := copyFile(ctx, copied+suffix, path+suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("copy: %w", plain(err))
		}
	}
	now, err := lookOnce(path)
	if err != nil {
		return nil, err
	}
	if now != seen {
		return nil, ErrChanged
	}
	conn, err := sqlite3.OpenFlags(uri(copied, ""), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI|sqlite3.OPEN_EXRESCODE)
	if err != nil {
		return nil, Plain(err)
	}
	conn.SetInterrupt(ctx)
	err = conn.Exec("PRAGMA trusted_schema=OFF; PRAGMA journal_mode=DELETE")
	if e := conn.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, Plain(err)
	}
	if db, err = open(ctx, copied, files{}); err != nil {
		return nil, err
	}
	db.Copied = true
	if runtime.GOOS == "windows" { // it does not remove an open file
		db.dir = dir
	}
	return db, nil
}

// copyFile copies a file.
func copyFile(ctx context.Context, to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, contextReader{ctx, in})
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// A contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// uri returns the URI of a file with some parameters.
func uri(path, query string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // the drive of Windows
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String()
}

// plain returns an error without the path, which whoever prints it knows.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Plain returns an error of SQLite in its own words, without the name of the library.
func Plain(err error) error {
	if err == nil {
		return nil
	}
	text, is := strings.CutPrefix(err.Error(), "sqlite3: ")
	text = strings.TrimPrefix(text, "SQL logic error: ")
	text = strings.TrimPrefix(text, "constraint failed: ")
	switch {
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return fmt.Errorf("%w: %s", ErrMalformed, text)
	case is && !errors.Is(err, sqlite3.INTERRUPT):
		return errors.New(text)
	}
	return err
}

// ErrMemory is the error for what needs more memory than SQLite has here.
var ErrMemory = errors.New("one of its rows is too large for the memory that SQLite has here")

// Guard calls f, which may panic. The library does so if SQLite has no memory left.
func Guard(f func() error) error {
	err := contain.Do(f)
	if caught := contain.From(err); caught != nil && caught.Panic == "sqlite3: out of memory" {
		return ErrMemory
	}
	return err
}

// ErrMalformed says that the bytes of the database are damaged.
var ErrMalformed = errors.New("the database is damaged")
