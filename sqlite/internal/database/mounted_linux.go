package database

import (
	"os"
	"strconv"
	"strings"
)

// mounted reports whether a file itself is mounted, and not a directory that it is in.
func mounted(path string) bool {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		// An id, that of the parent, the device, the root, and the mount point, in which some bytes are octal.
		if fields := strings.Fields(line); len(fields) > 4 {
			if at, err := strconv.Unquote(`"` + strings.ReplaceAll(fields[4], `"`, `\"`) + `"`); err == nil && at == path {
				return true
			}
		}
	}
	return false
}
