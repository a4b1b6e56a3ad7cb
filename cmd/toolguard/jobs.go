package main

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/spf13/pflag"
)

// defineJobs defines --jobs for a command that does something to files.
func defineJobs(flags *pflag.FlagSet, jobs *int, does string) {
	flags.IntVarP(jobs, "jobs", "j", 0, does+" `n` files at a time; 0, the default, means all processors; at most 16, or 4 per processor")
}

// atATime returns how many files --jobs asks for at a time.
func atATime(jobs int) (int, error) {
	if jobs < 0 {
		return 0, fmt.Errorf("--jobs: expected a number of files, got %d", jobs)
	}
	all := runtime.GOMAXPROCS(0)
	// More jobs would take memory and save no time.
	return min(cmp.Or(jobs, all), max(16, 4*all)), nil
}
