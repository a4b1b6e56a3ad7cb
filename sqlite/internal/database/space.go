package database

import (
	"fmt"
	"os"
	"path/filepath"
)

// Room returns an error if a directory, which need not exist yet, has no room for a number of bytes.
// It returns none if the system does not tell.
func Room(dir string, need int64) error {
	at := dir
	for {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	if has, known := free(at); known && has < uint64(max(0, need)) {
		return fmt.Errorf("%s: has room for %d bytes, and the copy needs %d", dir, has, need)
	}
	return nil
}
