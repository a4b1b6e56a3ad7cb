//go:build unix

package write

import (
	"io/fs"
	"syscall"
)

// nonBlocking keeps the opening of a pipe from waiting for its reader.
const nonBlocking = syscall.O_NONBLOCK

// links returns how many names a file has.
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
