package write

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// setList gives a file an access control list, as setfacl does.
func setList(t *testing.T, path, attribute string, acl []byte) {
	t.Helper()
	err := unix.Setxattr(path, attribute, acl, 0)
	if errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("the file system has no access control lists")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// listOf returns the access control list of a file, nil if it has none.
func listOf(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	acl, err := getACL(f)
	if err != nil {
		t.Fatal(err)
	}
	return acl
}

// named gives a user permissions that the group does not have.
var named = list(
	[3]uint32{aclUserObj, 6, nobodyID}, [3]uint32{aclUser, 6, 1000}, [3]uint32{aclGroupObj, 0, nobodyID},
	[3]uint32{aclMask, 6, nobodyID}, [3]uint32{aclOther, 0, nobodyID})

// TestKeepsACL: a file and its backup keep the access control list.
func TestKeepsACL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	makeFile(t, path, body(100), 0o600)
	setList(t, path, aclAttribute, named)
	if _, err := Replace(t.Context(), opened(t, path), Options{Backup: ".bak"}); err != nil {
		t.Fatal(err)
	}
	holds(t, path, repaired(body(100)))
	for _, name := range []string{path, path + ".bak"} {
		if got := listOf(t, name); !bytes.Equal(got, named) {
			t.Errorf("%s: %x, want %x", name, got, named)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o660 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

// TestMaskIsNotTheGroups: if the list cannot be kept, the group gets the permissions of its
// own entry, and not those of the mask.
func TestMaskIsNotTheGroups(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		list []byte
		want fs.FileMode
	}{
		{"a named user", named, 0o600},
		{"a group that may read", list(
			[3]uint32{aclUserObj, 6, nobodyID}, [3]uint32{aclUser, 6, 1000}, [3]uint32{aclGroupObj, 4, nobodyID},
			[3]uint32{aclMask, 6, nobodyID}, [3]uint32{aclOther, 0, nobodyID}), 0o640},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.jsonl")
			makeFile(t, path, body(100), 0o600)
			setList(t, path, aclAttribute, tt.list)
			sys := &recorder{before: func(_ int, what string) error {
				if strings.HasPrefix(what, "setacl ") {
					return syscall.EPERM
				}
				return nil
			}}
			if _, err := Replace(t.Context(), opened(t, path), Options{system: sys}); err != nil {
				t.Fatal(err)
			}
			holds(t, path, repaired(body(100)))
			// The file cannot lose a list either here, so the group gets nothing.
			if info, err := os.Stat(path); err != nil || info.Mode() != tt.want&^0o070 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if acl := listOf(t, path); acl != nil {
				t.Errorf("list %x", acl)
			}
		})
		t.Run(tt.name+", once", func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.jsonl")
			makeFile(t, path, body(100), 0o600)
			setList(t, path, aclAttribute, tt.list)
			failed := false
			sys := &recorder{before: func(_ int, what string) error {
				if strings.HasPrefix(what, "setacl ") && !failed {
					failed = true
					return syscall.EOPNOTSUPP
				}
				return nil
			}}
			if _, err := Replace(t.Context(), opened(t, path), Options{system: sys}); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != tt.want {
				t.Errorf("mode %v, %v, want %v", info.Mode(), err, tt.want)
			}
		})
	}
}

// TestNoACLFromDirectory: a file without a list does not get the default list of its
// directory.
func TestNoACLFromDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	makeFile(t, path, body(100), 0o640)
	setList(t, dir, "system.posix_acl_default", list(
		[3]uint32{aclUserObj, 7, nobodyID}, [3]uint32{aclUser, 7, 1000}, [3]uint32{aclGroupObj, 7, nobodyID},
		[3]uint32{aclMask, 7, nobodyID}, [3]uint32{aclOther, 7, nobodyID}))
	if _, err := Replace(t.Context(), opened(t, path), Options{}); err != nil {
		t.Fatal(err)
	}
	if acl := listOf(t, path); acl != nil {
		t.Errorf("list %x", acl)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestStrangersGroup: if a file cannot be given to its group, its new group gets no more
// permissions than the others, with a list and without.
func TestStrangersGroup(t *testing.T) {
	t.Parallel()
	acl := list(
		[3]uint32{aclUserObj, 6, nobodyID}, [3]uint32{aclUser, 6, 1000}, [3]uint32{aclGroupObj, 6, nobodyID},
		[3]uint32{aclMask, 6, nobodyID}, [3]uint32{aclOther, 4, nobodyID})
	narrowed := list(
		[3]uint32{aclUserObj, 6, nobodyID}, [3]uint32{aclUser, 6, 1000}, [3]uint32{aclGroupObj, 4, nobodyID},
		[3]uint32{aclMask, 6, nobodyID}, [3]uint32{aclOther, 4, nobodyID})
	for _, with := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		makeFile(t, path, body(100), 0o664)
		if with {
			setList(t, path, aclAttribute, acl)
		}
		sys := &recorder{before: func(_ int, what string) error {
			if strings.HasPrefix(what, "chown ") {
				return syscall.EPERM
			}
			return nil
		}}
		if _, err := Replace(t.Context(), opened(t, path), Options{system: sys}); err != nil {
			t.Fatal(err)
		}
		if got := listOf(t, path); with && !bytes.Equal(got, narrowed) || !with && got != nil {
			t.Errorf("list %x", got)
		}
		if info, err := os.Stat(path); err != nil || !with && info.Mode() != 0o644 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

// TestOutputKeepsACL: a report that replaces another one is not readable for more people.
func TestOutputKeepsACL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.json")
	makeFile(t, path, body(100), 0o600)
	setList(t, path, aclAttribute, named)
	o, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := listOf(t, path); !bytes.Equal(got, named) {
		t.Errorf("%x, want %x", got, named)
	}
}
