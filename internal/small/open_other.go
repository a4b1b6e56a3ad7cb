//go:build !unix

package small

// nonBlocking is for systems with named pipes among their files.
const nonBlocking = 0
