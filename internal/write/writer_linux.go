package write

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// writerOf names a program that has a file open for writing, "" if none is visible. The
// program may have opened the file by its former name. It never fails: errors count as none.
func writerOf(name, former string) string {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	free, sure := patiently(f)
	if free {
		return ""
	}
	if who := holder(f, filepath.Base(name), filepath.Base(former)); who != "" || !sure {
		return who
	}
	return "another program"
}

// Writer names a program that has a file open for writing, "" if none is seen. sure reports whether
// the system tells of all programs.
func Writer(name string) (who string, sure bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	free, sure := patiently(f)
	if free {
		return "", true
	}
	if who = holder(f, filepath.Base(name)); who == "" && sure {
		who = "another program"
	}
	return who, sure
}

// patiently requests a lease again for a while: a program that appends a record has the file open only for
// a moment, and so does a forked process that has not started its program yet.
func patiently(f *os.File) (free, sure bool) {
	free, sure = leased(f)
	for wait := time.Millisecond; sure && !free && wait < patience; wait *= 2 {
		time.Sleep(wait)
		free, sure = leased(f)
	}
	return free, sure
}

// leased requests a read lease, which the kernel grants only if no process on any host has
// the file open for writing. That takes a microsecond; searching /proc takes milliseconds.
// Leases are only for the owner of a file and not for all file systems: sure says whether a
// refusal means that the file is open for writing.
func leased(f *os.File) (free, sure bool) {
	err := again(func() error {
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
		return err
	})
	if err == nil {
		// Closing the file would end the lease too.
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		return true, true
	}
	return false, errors.Is(err, unix.EAGAIN) && !remote(f)
}

// remoteFile reports whether a file is on a server, or may be.
func remoteFile(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer f.Close()
	return remote(f)
}

// remote reports whether a file is on a server. Such file systems refuse leases for other
// reasons too.
func remote(f *os.File) bool {
	var s unix.Statfs_t
	if again(func() error { return unix.Fstatfs(int(f.Fd()), &s) }) != nil {
		return true
	}
	switch uint32(s.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC, unix.V9FS_MAGIC:
		return true
	}
	return false
}

// holder searches the open files of all accessible processes for one that is open for writing
// under one of its names.
func holder(f *os.File, names ...string) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	for _, pid := range numbers("/proc") {
		dir := filepath.Join("/proc", pid, "fd")
		for _, fd := range numbers(dir) {
			// The name is checked first, because further checks may ask a server that does
			// not answer.
			link := filepath.Join(dir, fd)
			if to, err := os.Readlink(link); err != nil || !slices.Contains(names, filepath.Base(strings.TrimSuffix(to, " (deleted)"))) {
				continue
			}
			if now, err := os.Stat(link); err != nil || !os.SameFile(info, now) {
				continue
			}
			if writes(filepath.Join("/proc", pid, "fdinfo", fd)) {
				return describe(pid)
			}
		}
	}
	return ""
}

// numbers lists the names in a directory that are numbers.
func numbers(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // as far as they can be read
	var out []string
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			out = append(out, name)
		}
	}
	return out
}

// writes reports whether a file is open for writing, according to the line of its fdinfo with
// "flags:" and an octal number.
func writes(fdinfo string) bool {
	text, err := os.ReadFile(fdinfo)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			flags, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 8, 32)
			return err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return false
}

// describe names a process.
func describe(pid string) string {
	name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	if name = bytes.TrimSpace(name); err != nil || len(name) == 0 {
		return "process " + pid
	}
	return fmt.Sprintf("process %s (%s)", pid, name)
}
