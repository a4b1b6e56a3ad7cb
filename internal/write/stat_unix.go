//go:build unix

package write

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonBlocking makes opening a pipe return without waiting for its reader.
const nonBlocking = syscall.O_NONBLOCK

// Links returns the number of names of a file.
func Links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// Owner returns who owns a file.
func Owner(info fs.FileInfo) (uid, gid int, ok bool) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid), true
	}
	return 0, 0, false
}

// touched returns when a file or its name changed last. Unlike the modification time, a program
// cannot set it.
func touched(name string, info fs.FileInfo) time.Time {
	var s unix.Stat_t
	if unix.Lstat(name, &s) == nil {
		if changed := time.Unix(s.Ctim.Unix()); changed.After(info.ModTime()) {
			return changed
		}
	}
	return info.ModTime()
}
