package main

import (
	"runtime"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
)

// TestPicture holds the committed pictures to what toolguard prints now.
func TestPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	t.Chdir("../..")
	for _, p := range pictures() {
		if p.path == "docs/doctor.svg" && runtime.GOOS == "windows" {
			continue // the paths of sessions have other separators
		}
		got, err := p.draw()
		if err != nil {
			t.Fatal(err)
		}
		golden.File(t, p.path, got)
	}
}
