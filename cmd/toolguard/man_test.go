package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra/doc"
)

// TestMan compares the man pages with the commands.
func TestMan(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "man")
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	temp := t.TempDir()
	root := newRootCmd(&app{env: noEnv}, nil)
	root.DisableAutoGenTag = true
	date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	header := &doc.GenManHeader{Section: "1", Source: "toolguard", Manual: "toolguard manual", Date: &date}
	if err := doc.GenManTree(root, header, temp); err != nil {
		t.Fatal(err)
	}
	pages, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, page := range pages {
		names = append(names, page.Name())
		got, err := os.ReadFile(filepath.Join(temp, page.Name()))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, page.Name())
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what the commands say; make docs writes it (-want +got):\n%s", path, diff)
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
