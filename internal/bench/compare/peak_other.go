//go:build !unix

package main

import "os"

// peak returns 0, because the system does not report the peak.
func peak(*os.ProcessState) int64 { return 0 }
