// Package golden compares what tests make with files of the repository, and writes these files
// if tests run with -update. It does not know what is in them.
//
// Makefile lists the tests that use it: make golden writes what only tests read, keywords.txt and
// words.txt, make docs writes the pages. A test of the command compares the lists with the tests.
package golden

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

// Update reports whether tests write files instead of comparing with them.
func Update() bool { return *update }

// File compares a text with a file, or writes it.
func File(t testing.TB, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err == nil && string(want) == got {
		return
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is out of date: run make %s and read the changes (-want +got)\n%s", path, target(t, path), cmp.Diff(lines(string(want)), lines(got)))
}

// Folder compares texts with all files in a folder by their names, or writes them and removes all
// others.
func Folder(t testing.TB, dir string, got map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		File(t, filepath.Join(dir, name), got[name])
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if _, ok := got[e.Name()]; ok {
			continue
		}
		if !*update {
			t.Errorf("%s is made from nothing: run make %s to remove it", path, target(t, path))
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// target returns the target of the Makefile that writes a file.
func target(t testing.TB, path string) string {
	t.Helper()
	whole, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(path) == "README.md" || strings.Contains(filepath.ToSlash(whole), "/docs/") {
		return "docs"
	}
	return "golden"
}

// lines makes the differences of long texts short.
func lines(s string) []string { return strings.SplitAfter(s, "\n") }
