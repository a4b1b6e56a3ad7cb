//go:build wasip1 && !planted

package main

// plant does something only in a build for tests.
func plant([]byte) {}
