//go:build !linux

package write

// writerOf returns none: the system does not show who has a file open.
func writerOf(string, string) string { return "" }

// remoteFile returns false: the system does not show where a file is.
func remoteFile(string) bool { return false }
