package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
)

// TestFormatsPage compares docs/formats.md with the rows of the dialects.
func TestFormatsPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "formats.md")
	want := formatsPage()
	got, err := os.ReadFile(path)
	if err == nil && string(got) == want {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/formats.md is not what the rows say; go test ./cmd/toolguard -update writes it")
}

func formatsPage() string {
	var b strings.Builder
	b.WriteString("# Formats\n\nThese are the formats that toolguard reads. It detects the framing (JSON, JSON Lines, consecutive values) from the bytes and never from the file name, and the dialect from fields that only this dialect has. `toolguard detect -v FILE` shows how a format was detected, and `--dialect NAME` skips detection.\n\n")
	b.WriteString("| dialect | what it is | check | fix |\n|---|---|---|---|\n")
	for _, d := range dialect.All() {
		fix := "yes"
		if d.CheckOnly != "" {
			fix = "no"
		}
		fmt.Fprintf(&b, "| [`%[1]s`](#%[1]s) | %s | yes | %s |\n", d.Name, d.Title, fix)
	}
	b.WriteString("\n## Containers\n\n| container | what it is | example |\n|---|---|---|\n")
	for _, c := range containers() {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", c.Name, c.Summary, c.Example)
	}
	for _, d := range dialect.All() {
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\nFound in: %s. Containers: %s. Checked against the profile `%s`, unless `--target` or a [request](profiles.md#which-profile-a-request-gets) names another one.\n", d.Name, d.Title, d.Summary, escapeAngles(d.Where), strings.Join(containersOf(d), ", "), d.Provider)
		if d.CheckOnly != "" {
			fmt.Fprintf(&b, "\nOnly checked: %s.\n", strings.TrimSuffix(d.CheckOnly, "."))
		}
		fmt.Fprintf(&b, "\n```json\n%s\n```\n", d.Example)
	}
	return b.String()
}

func escapeAngles(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(s)
}

// TestHookVersions checks that every hook example in the Markdown files has the
// newest version in CHANGELOG.md.
func TestHookVersions(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	changes, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$`).FindSubmatch(changes)
	if newest == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	want := "v" + string(newest[1])
	rev := regexp.MustCompile(`(?m)^\s*rev: *(.*?)\s*$`)
	found := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "testdata"):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, m := range rev.FindAllSubmatch(text, -1) {
			found[name] = true
			if got := string(m[1]); got != want {
				t.Errorf("%s has %q, want %s, the newest version in CHANGELOG.md", name, strings.TrimSpace(string(m[0])), want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "docs/ci.md"} {
		if !found[name] {
			t.Errorf("%s has no hook", name)
		}
	}
}
