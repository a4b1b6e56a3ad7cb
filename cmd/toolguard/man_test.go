package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/manpage"
)

// manPages returns the man pages of toolguard by their names. The page of a program is made from
// its own flags, by its own tests.
func manPages() map[string]string {
	pages := manpage.All(newRootCmd(&app{env: noEnv}, nil))
	for _, p := range programs() {
		delete(pages, "toolguard-"+p.name+".1")
	}
	return pages
}

// TestMan compares the man pages with the commands.
func TestMan(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "man")
	pages := manPages()
	names := slices.Sorted(maps.Keys(pages))
	for _, name := range names {
		if strings.Contains(pages[name], "`") {
			t.Errorf("%s has a mark of the flags' help", name)
		}
	}
	for _, name := range []string{"toolguard.1", "toolguard-check.1", "toolguard-fix.1", "toolguard-config-init.1"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s, only %s", name, strings.Join(names, ", "))
		}
	}
	for _, p := range programs() { // its own tests compare its pages
		own, err := filepath.Glob(filepath.Join(dir, "toolguard-"+p.name+"*.1"))
		if err != nil || !slices.Contains(own, filepath.Join(dir, "toolguard-"+p.name+".1")) {
			t.Fatalf("%s has no page: %v", p.name, err)
		}
		for _, path := range own {
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pages[filepath.Base(path)] = string(page)
		}
	}
	golden.Folder(t, dir, pages)
}

// TestManLint: mandoc finds nothing wrong with the man pages, where it is installed.
func TestManLint(t *testing.T) {
	t.Parallel()
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	args := []string{"-T", "lint"}
	for name, page := range manPages() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	cmd := exec.Command(mandoc, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
