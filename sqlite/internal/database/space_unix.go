//go:build unix && !netbsd && !openbsd && !solaris

package database

import "golang.org/x/sys/unix"

// free returns how many bytes can be written to the file system of a directory.
func free(dir string) (n uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:gosec,unconvert // the types differ between systems
}
