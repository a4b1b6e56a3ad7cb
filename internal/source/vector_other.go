//go:build !amd64 || purego

package source

// NewScanner returns the fastest scanner for this machine.
func NewScanner() Scanner { return new(portable) }
