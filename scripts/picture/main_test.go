package main

import (
	"os"
	"strings"
	"testing"
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
	want, err := os.ReadFile("docs/toolguard.svg")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Error("docs/toolguard.svg is not what toolguard prints; make docs writes it")
	}
}
