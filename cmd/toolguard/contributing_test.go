package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamedTestsExist checks that the tests in CONTRIBUTING.md and the Makefile exist
// in the packages that they name.
func TestNamedTestsExist(t *testing.T) {
	root := filepath.Join("..", "..")
	tests := map[string][]string{} // by folder
	defined := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, pattern := range []string{"cmd/*", "internal/*"} {
		folders, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range defined.FindAllSubmatch(text, -1) {
					tests["./"+filepath.ToSlash(name)] = append(tests["./"+filepath.ToSlash(name)], string(m[1]))
				}
			}
		}
	}
	// has reports whether a pattern selects a test of one of the packages, or of any
	// package if none is given.
	has := func(pattern string, packages ...string) bool {
		is := regexp.MustCompile(pattern)
		for folder, names := range tests {
			for _, name := range names {
				if is.MatchString(name) && (len(packages) == 0 || strings.Contains(" "+strings.Join(packages, " ")+" ", " "+folder+" ")) {
					return true
				}
			}
		}
		return false
	}
	command := regexp.MustCompile(`go test (\./\S+) -run '([^']+)'|GO\) test (\./\S+) -run '?([\w|]+)`)
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	golden := regexp.MustCompile(`(?m)^GOLDEN_TESTS = (.*)$`)
	packages := regexp.MustCompile(`(?m)^GOLDEN +=  ?(.*)$`)
	n := 0
	for _, page := range []string{"CONTRIBUTING.md", "Makefile"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		look := func(pattern string, packages ...string) {
			n++
			if !has(pattern, packages...) {
				t.Errorf("%s: no test %s in %v", page, pattern, packages)
			}
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			for pattern := range strings.SplitSeq(m[2]+m[4], "|") {
				look(pattern, m[1]+m[3])
			}
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			look("^" + m[1])
		}
		for _, m := range golden.FindAllStringSubmatch(string(text), -1) {
			for pattern := range strings.SplitSeq(m[1], "|") {
				look("^"+pattern+"$", strings.Fields(packages.FindStringSubmatch(string(text))[1])...)
			}
		}
	}
	if n < 30 {
		t.Errorf("%d tests are named", n)
	}
}

// TestFuzzModules checks that make fuzz knows each module that has fuzz targets.
func TestFuzzModules(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^FUZZ_MODULES = (.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("Makefile: expected a line that begins with FUZZ_MODULES")
	}
	got := strings.Fields(string(list[1]))
	slices.Sort(got)
	modules := map[string]bool{} // by folder: whether a test in it has a fuzz target
	var tests []string
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			modules[filepath.Dir(path)] = false
		case strings.HasSuffix(path, "_test.go"):
			tests = append(tests, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile(`(?m)^func Fuzz\w+\(\w+ \*testing\.F\)`)
	for _, path := range tests {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !target.Match(text) {
			continue
		}
		folder := filepath.Dir(path)
		for _, is := modules[folder]; !is; _, is = modules[folder] {
			folder = filepath.Dir(folder)
		}
		modules[folder] = true
	}
	var want []string
	for folder, fuzzes := range modules {
		if fuzzes {
			name, err := filepath.Rel(root, folder)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, filepath.ToSlash(name))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Makefile: FUZZ_MODULES (-want +got)\n%s", diff)
	}
}
