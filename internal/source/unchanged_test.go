package source

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestUnchanged checks that overwriting a file is reported, and that appending to it is
// not.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Second) // file systems may have coarse timestamps
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	write("{\"a\":1}\n")
	src, err := Open(context.Background(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := src.Unchanged(); err != nil {
		t.Error(err)
	}
	write("{\"a\":1}\n{\"a\":2}\n")
	if err := src.Unchanged(); err != nil {
		t.Error(err)
	}
	write("{\"a\":2}\n")
	if err := src.Unchanged(); err == nil || err.Error() != path+": changed while it was read" {
		t.Errorf("got %v", err)
	}
	if err := FromBytes("s", nil).Unchanged(); err != nil {
		t.Error(err)
	}
}
