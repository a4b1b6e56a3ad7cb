//go:build unix

package small

import "syscall"

// nonBlocking keeps opening a named pipe from waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK
