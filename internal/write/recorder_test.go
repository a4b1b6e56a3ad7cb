package write

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
)

// A recorder is the real file system with a hook before each step. It does not wait for the
// disk: a killed process loses nothing that it wrote.
type recorder struct {
	real   realFiles
	steps  []string
	before func(n int, what string) error
	// half is called in the middle of each write.
	half func(n int)
	// swap is the way in which the file system swaps files.
	swap swapping
	// unlockable marks a file system without locks.
	unlockable bool
	// remote marks one on a server.
	remote bool
	opened []file
	locks  []io.Closer
	// writer names the program that has a file open, instead of the system.
	writer func(name string) string
	// wait waits for programs that open a file, instead of the system. If it is nil, there are
	// none.
	wait func()
}

// A swapping is a way in which a file system lets a file be replaced.
type swapping string

const (
	byExchange swapping = "exchange" // names are exchanged
	byLink     swapping = "link"     // the old file gets a second name
	byRename   swapping = "rename"   // nothing but renaming
)

// swappings are those that tests can use on this system.
func swappings() []swapping {
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		return []swapping{byExchange, byLink, byRename}
	}
	return []swapping{byLink, byRename}
}

func (r *recorder) step(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	r.steps = append(r.steps, what)
	if r.before == nil {
		return nil
	}
	return r.before(len(r.steps)-1, what)
}

func (r *recorder) EvalSymlinks(name string) (string, error) {
	if err := r.step("resolve %s", name); err != nil {
		return "", err
	}
	return r.real.EvalSymlinks(name)
}

func (r *recorder) Stat(name string) (fs.FileInfo, error) {
	if err := r.step("stat %s", name); err != nil {
		return nil, err
	}
	return r.real.Stat(name)
}

func (r *recorder) Lstat(name string) (fs.FileInfo, error) {
	if err := r.step("lstat %s", name); err != nil {
		return nil, err
	}
	return r.real.Lstat(name)
}

func (r *recorder) Open(name string, flag int, mode fs.FileMode) (file, error) {
	if err := r.step("open %s", name); err != nil {
		return nil, err
	}
	f, err := r.real.Open(name, flag, mode)
	if err != nil {
		return nil, err
	}
	r.opened = append(r.opened, f)
	return &recordedFile{f, r, name}, nil
}

func (r *recorder) Chtimes(name string, modified time.Time) error {
	if err := r.step("chtimes %s", name); err != nil {
		return err
	}
	return r.real.Chtimes(name, modified)
}

func (r *recorder) Link(from, to string) error {
	if err := r.step("link %s %s", from, to); err != nil {
		return err
	}
	if r.swap == byRename {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
	}
	return r.real.Link(from, to)
}

func (r *recorder) Rename(from, to string) error {
	if err := r.step("rename %s %s", from, to); err != nil {
		return err
	}
	return r.real.Rename(from, to)
}

func (r *recorder) Remove(name string) error {
	if err := r.step("remove %s", name); err != nil {
		return err
	}
	return r.real.Remove(name)
}

func (r *recorder) SyncDir(name string) error {
	if err := r.step("syncdir %s", name); err != nil {
		return err
	}
	return nil
}

func (r *recorder) Lock(name string) (io.Closer, error) {
	if err := r.step("lock %s", name); err != nil {
		return nil, err
	}
	if r.unlockable {
		return nil, errors.ErrUnsupported
	}
	l, err := r.real.Lock(name)
	if err == nil {
		r.locks = append(r.locks, l)
	}
	return l, err
}

func (r *recorder) Remote(string) bool { return r.remote }

func (r *recorder) Writer(name, former string) string {
	_ = r.step("writer %s", name) // it never fails
	if r.writer != nil {
		return r.writer(name)
	}
	// A child that another test starts has the files of this process open until it runs its program.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return r.real.Writer(name, former)
}

func (r *recorder) Wait() {
	_ = r.step("wait") // it never fails
	if r.wait != nil {
		r.wait()
	}
}

func (r *recorder) Exchange(a, b string) error {
	if err := r.step("exchange %s %s", a, b); err != nil {
		return err
	}
	if r.swap == byLink || r.swap == byRename {
		return errors.ErrUnsupported
	}
	return r.real.Exchange(a, b)
}

type recordedFile struct {
	file
	r    *recorder
	name string
}

func (f *recordedFile) Read(b []byte) (int, error) {
	if err := f.r.step("read %s", f.name); err != nil {
		return 0, err
	}
	return f.file.Read(b)
}

func (f *recordedFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.r.step("read %s", f.name); err != nil {
		return 0, err
	}
	return f.file.ReadAt(b, off)
}

func (f *recordedFile) Write(b []byte) (int, error) {
	if err := f.r.step("write %s", f.name); err != nil {
		n, _ := f.file.Write(b[:len(b)/2]) // a disk that is full takes a part
		return n, err
	}
	if f.r.half != nil {
		n, err := f.file.Write(b[:len(b)/2])
		if err != nil {
			return n, err
		}
		f.r.half(len(f.r.steps) - 1)
		m, err := f.file.Write(b[n:])
		return n + m, err
	}
	return f.file.Write(b)
}

func (f *recordedFile) Chmod(mode fs.FileMode) error {
	if err := f.r.step("chmod %s", f.name); err != nil {
		return err
	}
	return f.file.Chmod(mode)
}

func (f *recordedFile) Chown(uid, gid int) error {
	if err := f.r.step("chown %s", f.name); err != nil {
		return err
	}
	return f.file.Chown(uid, gid)
}

func (f *recordedFile) Sync() error {
	if err := f.r.step("sync %s", f.name); err != nil {
		return err
	}
	return nil
}

func (f *recordedFile) Close() error {
	if err := f.r.step("close %s", f.name); err != nil {
		f.file.Close()
		return err
	}
	return f.file.Close()
}

func (f *recordedFile) Stat() (fs.FileInfo, error) {
	if err := f.r.step("fstat %s", f.name); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f *recordedFile) ACL() ([]byte, error) {
	if err := f.r.step("getacl %s", f.name); err != nil {
		return nil, err
	}
	return f.file.ACL()
}

func (f *recordedFile) SetACL(acl []byte) error {
	if err := f.r.step("setacl %s", f.name); err != nil {
		return err
	}
	return f.file.SetACL(acl)
}

func (f *recordedFile) Attributes() ([]attribute, error) {
	if err := f.r.step("getattributes %s", f.name); err != nil {
		return nil, err
	}
	return f.file.Attributes()
}

func (f *recordedFile) SetAttribute(a attribute) error {
	if err := f.r.step("setattribute %s", f.name); err != nil {
		return err
	}
	return f.file.SetAttribute(a)
}
