//go:build unix

package write

import (
	"io/fs"
	"syscall"
)

// nonBlocking makes opening a pipe return without waiting for its reader.
const nonBlocking = syscall.O_NONBLOCK

// links returns the number of names of a file.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// owner returns who owns a file.
func owner(info fs.FileInfo) (uid, gid int, ok bool) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid), true
	}
	return 0, 0, false
}
