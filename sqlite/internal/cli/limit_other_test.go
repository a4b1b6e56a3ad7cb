//go:build !linux

package cli

// limitFiles limits nothing: the tests that need it are for Linux.
func limitFiles() {}
