//go:build race

package pairing

const raceEnabled = true
