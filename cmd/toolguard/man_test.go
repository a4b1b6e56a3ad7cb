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
	if *update {
		old, err := filepath.Glob(filepath.Join(dir, "*.1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range old {
			if !ofProgram(filepath.Base(path)) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
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
	if want := len(pages) + len(programs()); len(committed) != want {
		t.Errorf("%d pages in %s, want %d", len(committed), dir, want)
	}
}

// ofProgram reports whether a page is that of a program.
func ofProgram(name string) bool {
	return slices.ContainsFunc(programs(), func(p program) bool { return name == "toolguard-"+p.name+".1" })
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
