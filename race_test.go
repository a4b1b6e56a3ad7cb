//go:build race

package toolguard_test

const raceDetector = true
