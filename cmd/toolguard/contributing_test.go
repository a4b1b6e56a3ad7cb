package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamedTestsExist checks that the tests in CONTRIBUTING.md exist in the packages that it
// names.
func TestNamedTestsExist(t *testing.T) {
	root := filepath.Join("..", "..")
	tests := map[string][]string{} // by folder
	defined := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, pattern := range []string{"cmd/*", "scripts/*", "internal/*"} {
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
	command := regexp.MustCompile(`go test (\./\S+) -run '([^']+)'`)
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	n := 0
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	look := func(pattern string, packages ...string) {
		n++
		if !has(pattern, packages...) {
			t.Errorf("CONTRIBUTING.md: no test %s in %v", pattern, packages)
		}
	}
	for _, m := range command.FindAllStringSubmatch(string(text), -1) {
		for pattern := range strings.SplitSeq(m[2], "|") {
			look(pattern, m[1])
		}
	}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		look("^" + m[1])
	}
	if n < 30 {
		t.Errorf("%d tests are named", n)
	}
}

// TestGoldenTests checks that make golden and make docs run exactly the tests that write files
// with -update, and that there is one such flag.
func TestGoldenTests(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\t([\w/]+):(Test[\w,]+)`).FindAllSubmatch(makefile, -1) {
		for name := range strings.SplitSeq(string(m[2]), ",") {
			got = append(got, string(m[1])+":"+name)
		}
	}
	own := regexp.MustCompile(`flag\.\w+\((?:&\w+, )?"update"`)
	folders := map[string]map[string]*ast.FuncDecl{} // the functions of the tests that use internal/golden
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if own.Match(text) {
			t.Errorf("%s: expected no -update of its own; use internal/golden", path)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if folders[folder] == nil {
			folders[folder] = map[string]*ast.FuncDecl{}
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				folders[folder][f.Name.Name] = f
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for folder, funcs := range folders {
		for name := range funcs {
			if strings.HasPrefix(name, "Test") && uses(funcs, name, map[string]bool{}) {
				want = append(want, folder+":"+name)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Makefile: GOLDEN and DOCS must list the tests that use internal/golden (-want +got)\n%s", diff)
	}
}

// uses reports whether a function, or one that it mentions, uses internal/golden.
func uses(funcs map[string]*ast.FuncDecl, name string, seen map[string]bool) bool {
	if seen[name] || funcs[name] == nil {
		return false
	}
	seen[name] = true
	found := false
	ast.Inspect(funcs[name], func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && (id.Name == "golden" || uses(funcs, id.Name, seen))
		return !found
	})
	return found
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
