//go:build !unix

package store

import "os"

// Alive reports whether there is a process with an id. Windows opens the process to find it.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
