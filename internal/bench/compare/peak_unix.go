//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the peak memory of a process and of the processes that it waited for, in
// bytes.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin" || runtime.GOOS == "ios":
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
