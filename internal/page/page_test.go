package page

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/session"
	"github.com/toolguard/toolguard/internal/source"
)

// read reads a session as pages need it.
func read(t testing.TB, src *source.Source) *session.Session {
	t.Helper()
	s, err := session.Read(context.Background(), src, session.Options{Texts: true, Elements: true, Rows: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixtures are all transcripts for tests.
func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/transcripts/*/*/*")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d transcripts: %v", len(paths), err)
	}
	return paths
}

func TestWrite(t *testing.T) {
	for _, path := range fixtures(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		src := source.FromBytes(path, text)
		s := read(t, src)
		var out bytes.Buffer
		if err := Write(&out, src, s, Options{Name: path, Command: func(*engine.Finding) string { return "toolguard fix" }}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
