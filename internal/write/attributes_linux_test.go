package write

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// marked makes a file with extended attributes: one with a value, one without.
func marked(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	makeFile(t, path, body(100), 0o640)
	for name, value := range map[string]string{"user.comment": strings.Repeat("kept ", 200), "user.empty": ""} {
		err := unix.Setxattr(path, name, []byte(value), 0)
		if errors.Is(err, unix.EOPNOTSUPP) {
			t.Skip("the file system has no extended attributes")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestKeepsAttributes: a file and its backup keep the extended attributes, even if the file
// is read-only for its owner.
func TestKeepsAttributes(t *testing.T) {
	t.Parallel()
	path := marked(t)
	if _, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak"}); err != nil {
		t.Fatal(err)
	}
	holds(t, path, repaired(body(100)))
	for _, name := range []string{path, path + ".bak"} {
		for attr, want := range map[string]string{"user.comment": strings.Repeat("kept ", 200), "user.empty": ""} {
			value := make([]byte, 2000)
			if n, err := unix.Getxattr(name, attr, value); err != nil || string(value[:n]) != want {
				t.Errorf("%s of %s: %q, %v", attr, name, value[:max(n, 0)], err)
			}
		}
	}
}

// TestAttributeRefused: a file whose attribute would be lost is written only with Force, and
// with a note.
func TestAttributeRefused(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		path := marked(t)
		sys := &recorder{before: func(_ int, what string) error {
			if strings.HasPrefix(what, "setattribute ") {
				return syscall.ENOSPC
			}
			return nil
		}}
		done, err := Replace(t.Context(), opened(t, path), Options{system: sys, Force: force, Backup: ".bak"})
		if !force {
			want := path + ": not written: its extended attribute user.comment cannot be kept: no space left on device (--force drops the attribute)"
			if other := strings.Replace(want, "user.comment", "user.empty", 1); err == nil || err.Error() != want && err.Error() != other {
				t.Errorf("%v, want %s", err, want)
			}
			holds(t, path, body(100))
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		holds(t, path, repaired(body(100)))
		for _, name := range []string{"user.comment", "user.empty"} {
			if strings.Count(done.Note, "its extended attribute "+name+" could not be kept") != 1 {
				t.Errorf("%q", done.Note)
			}
		}
	}
}
