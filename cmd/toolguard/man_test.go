package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMan compares the man pages with the commands.
func TestMan(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "man")
	pages := manPages(newRootCmd(&app{env: noEnv}, nil))
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	names := slices.Sorted(maps.Keys(pages))
	for _, name := range names {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, []byte(pages[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), pages[name]); diff != "" {
			t.Errorf("%s is not what the commands say; make docs writes it (-want +got):\n%s", path, diff)
		}
		if strings.Contains(pages[name], "`") {
			t.Errorf("%s has a mark of the flags' help", name)
		}
	}
	for _, name := range []string{"toolguard.1", "toolguard-check.1", "toolguard-fix.1", "toolguard-config-init.1"} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s, only %s", name, strings.Join(names, ", "))
		}
	}
	committed, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(committed) != len(pages) {
		t.Errorf("%d pages in %s, want %d", len(committed), dir, len(pages))
	}
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
	for name, page := range manPages(newRootCmd(&app{env: noEnv}, nil)) {
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
