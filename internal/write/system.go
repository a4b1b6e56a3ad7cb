package write

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const isWindows = runtime.GOOS == "windows"

// patience is how long a file must stay locked, or open for writing, to count as in use.
const patience = 100 * time.Millisecond

// grace is how long an old file is kept after its name refers to another file. A program may
// have looked up the name before that and open the old file only afterwards. This takes
// microseconds, unless the system stops the program in between. If the system does not tell
// who has a file open, the program must also have written by then.
const grace = 20 * time.Millisecond

// errLocked is the error of a file that another program has locked.
var errLocked = errors.New("locked by another program")

// A fileSystem has the operations of the system that a write uses.
type fileSystem interface {
	EvalSymlinks(name string) (string, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Open(name string, flag int, mode fs.FileMode) (file, error)
	// Lock locks a file until the lock is closed. The error is errLocked if another program
	// has locked the file, and errors.ErrUnsupported if the file system has no locks.
	Lock(name string) (io.Closer, error)
	// Remote reports whether a file is on a server. Other hosts may not see its locks.
	Remote(name string) bool
	// Writer names a program that has a file open for writing, "" if none is visible. The
	// program may have opened the file by its former name.
	Writer(name, former string) string
	// Wait waits until programs that have already looked up a name have opened the file.
	Wait()
	Chtimes(name string, modified time.Time) error
	Link(from, to string) error
	Rename(from, to string) error
	// Exchange swaps the names of two files atomically. The error is errors.ErrUnsupported if
	// the system cannot do that.
	Exchange(a, b string) error
	Remove(name string) error
	SyncDir(name string) error
}

// A file is an open file.
type file interface {
	io.ReadWriteCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// ACL returns the access control list, nil if there is none.
	ACL() ([]byte, error)
	// SetACL sets the access control list; nil removes it.
	SetACL(acl []byte) error
	// Attributes returns the extended attributes.
	Attributes() ([]attribute, error)
	// SetAttribute sets an extended attribute.
	SetAttribute(a attribute) error
	Sync() error
}

// realFiles is the file system of the process.
type realFiles struct{}

func (realFiles) EvalSymlinks(name string) (string, error) { return filepath.EvalSymlinks(name) }
func (realFiles) Stat(name string) (fs.FileInfo, error)    { return os.Stat(name) }
func (realFiles) Lstat(name string) (fs.FileInfo, error)   { return os.Lstat(name) }
func (realFiles) Remote(name string) bool                  { return remoteFile(name) }
func (realFiles) Writer(name, former string) string        { return writerOf(name, former) }
func (realFiles) Wait()                                    { time.Sleep(grace) }
func (realFiles) Link(from, to string) error               { return os.Link(from, to) }
func (realFiles) Rename(from, to string) error             { return os.Rename(from, to) }
func (realFiles) Exchange(a, b string) error               { return exchange(a, b) }
func (realFiles) Remove(name string) error                 { return os.Remove(name) }

func (realFiles) Chtimes(name string, modified time.Time) error {
	return os.Chtimes(name, time.Time{}, modified)
}

func (realFiles) Open(name string, flag int, mode fs.FileMode) (file, error) {
	f, err := os.OpenFile(name, flag, mode)
	if err != nil {
		return nil, err // a nil interface, not a nil *os.File
	}
	return realFile{f}, nil
}

func (realFiles) Lock(name string) (io.Closer, error) {
	f, err := lockFile(name)
	if err != nil {
		return nil, err // a nil interface, not a nil *os.File
	}
	return f, nil
}

// SyncDir makes new names in a directory durable, if the system supports it.
func (realFiles) SyncDir(name string) error {
	if isWindows {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return nil //nolint:nilerr // a directory that may be written and not read is not synced
	}
	defer d.Close()
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// A realFile is a file of the process.
type realFile struct{ *os.File }

func (f realFile) ACL() ([]byte, error)    { return getACL(f.File) }
func (f realFile) SetACL(acl []byte) error { return setACL(f.File, acl) }

func (f realFile) Attributes() ([]attribute, error) { return getAttributes(f.File) }
func (f realFile) SetAttribute(a attribute) error   { return setAttribute(f.File, a) }
