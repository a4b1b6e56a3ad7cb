//go:build !linux

package write

// writerOf returns none: the system does not show who has a file open.
func writerOf(string, string) string { return "" }

// remoteFile returns false: the system does not show where a file is.
func remoteFile(string) bool { return false }

// Writer names a program that has a file open for writing, "" if none is seen. sure reports whether
// the system tells of all programs, which it does not here.
func Writer(string) (who string, sure bool) { return "", false }
