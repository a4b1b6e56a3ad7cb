//go:build !unix

package small

// nonBlocking is 0 on systems whose file systems have no named pipes.
const nonBlocking = 0
