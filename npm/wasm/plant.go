//go:build wasip1 && !planted

package main

import "github.com/toolguard/toolguard/internal/engine"

// plant adds what tests need, in their build.
func plant(*engine.FixOptions) {}
