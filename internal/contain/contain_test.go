package contain

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestDo(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	if err := Do(func() error { return plain }); !errors.Is(err, plain) || From(err) != nil {
		t.Errorf("got %v, want the error of the function", err)
	}
	if err := Do(func() error { return nil }); err != nil || From(err) != nil {
		t.Errorf("got %v, want nil", err)
	}
	var object map[string]int
	for want, f := range map[string]func(){
		"planted":                          func() { panic("planted") },
		"plain":                            func() { panic(plain) },
		"assignment to entry in nil map":   func() { object["a"] = 1 },
		new(runtime.PanicNilError).Error(): func() { panic(nil) },
	} {
		err := Do(func() error { f(); return nil })
		caught := From(fmt.Errorf("a.jsonl: %w", err))
		if caught == nil || caught.Panic != want || !strings.Contains(string(caught.Stack), "contain.TestDo") {
			t.Errorf("got %v, want the panic %q with its stack", err, want)
		}
		if err.Error() != "internal error" {
			t.Errorf("the message is %q", err)
		}
	}
}

func TestGo(t *testing.T) {
	t.Parallel()
	ended := make(chan *Error, 1)
	Go(func() { ended <- nil }, func(caught *Error) { ended <- caught })
	if caught := <-ended; caught != nil {
		t.Errorf("caught %+v", caught)
	}
	Go(func() { panic("planted") }, func(caught *Error) { ended <- caught })
	if caught := <-ended; caught == nil || caught.Panic != "planted" || !strings.Contains(string(caught.Stack), "contain.TestGo") {
		t.Errorf("caught %+v", caught)
	}
}

// TestOnlyGo: nothing but Go starts a goroutine in the packages of the command and of the module's
// root. A panic on any other goroutine would end the program.
func TestOnlyGo(t *testing.T) {
	t.Parallel()
	_, self, _, _ := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(filepath.Dir(self)))
	found := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "proxy" || rel == "sqlite" || rel == "scripts" || rel == "npm/test" || rel == "tools" || rel == "internal/bench" || strings.HasPrefix(d.Name(), ".") && rel != "."):
			return filepath.SkipDir // other programs
		case d.IsDir(), !strings.HasSuffix(rel, ".go"), strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if g, is := n.(*ast.GoStmt); is {
				if found++; rel != "internal/contain/contain.go" {
					t.Errorf("%s:%d starts a goroutine without contain.Go", rel, files.Position(g.Pos()).Line)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no goroutine was found")
	}
}
