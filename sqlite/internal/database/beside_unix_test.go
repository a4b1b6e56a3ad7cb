//go:build unix

package database_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolguard/toolguard/sqlite/internal/database"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
)

// TestBeside: what is written beside a database has its mode and its owner, from the start.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		suffix, mode string
		perm         os.FileMode
	}{{"-journal", "DELETE", 0o600}, {"-wal", "WAL", 0o600}, {"-journal", "DELETE", 0o640}, {"-wal", "WAL", 0o640}} {
		path := filepath.Join(t.TempDir(), "a.db")
		fixture.Exec(t, path, "CREATE TABLE a (x); INSERT INTO a VALUES (1); PRAGMA journal_mode="+c.mode)
		if err := os.Chmod(path, c.perm); err != nil {
			t.Fatal(err)
		}
		uid := os.Getuid()
		if uid == 0 {
			uid = 12345
			if err := os.Chown(path, uid, uid); err != nil {
				t.Fatal(err)
			}
		}
		w, err := database.OpenForWriting(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Exec("UPDATE a SET x = 2"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path + c.suffix)
		if err != nil {
			t.Fatal(err)
		}
		if owner := int(info.Sys().(*syscall.Stat_t).Uid); info.Mode().Perm() != c.perm || owner != uid {
			t.Errorf("%s has the mode %v and the owner %d, want %v and %d", c.suffix, info.Mode().Perm(), owner, c.perm, uid)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNames: a database with two names is not written, because its log may be beside the other one.
func TestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	fixture.Exec(t, path, "CREATE TABLE a (x)")
	if err := os.Link(path, path+"2"); err != nil {
		t.Skip(err)
	}
	const want = "has several names (hard links), so a part of it may be in a log beside another one"
	for _, name := range []string{path, path + "2"} {
		if _, err := database.OpenForWriting(t.Context(), name); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
