package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestOrdinaryJSON: no file of another program is read as a transcript.
func TestOrdinaryJSON(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "ordinary")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 10 {
		t.Fatalf("only %d files", len(entries))
	}
	for _, e := range entries {
		src, err := source.Open(t.Context(), filepath.Join(dir, e.Name()), 0)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Check(context.Background(), src, Options{})
		_ = src.Close()
		if err != nil {
			t.Errorf("%s: %v", e.Name(), err)
			continue
		}
		if rep.Skipped == "" {
			t.Errorf("%s: read as %s, by %s", e.Name(), rep.File.Dialect, rep.File.Key)
		}
	}
}
