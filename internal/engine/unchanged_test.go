package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolguard/toolguard/internal/source"
)

// TestWrittenOver: nothing is reported of a file that somebody has written over in the
// meantime.
func TestWrittenOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := []byte(`{"role":"user","content":"a"}` + "\n")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(context.Background(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := Check(context.Background(), src, Options{}); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if rep, err := Check(context.Background(), src, Options{}); err == nil || err.Error() != path+": changed while it was read" {
		t.Errorf("got %v, %v", rep, err)
	}
}
