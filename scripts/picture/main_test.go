package main

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
)

// TestPicture holds the committed picture to what toolguard prints now.
func TestPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	t.Chdir("../..")
	var got strings.Builder
	if err := picture(&got); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "docs/toolguard.svg", got.String())
}
