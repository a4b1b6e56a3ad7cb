package small

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAbsent: no file has a name that its file system cannot hold.
func TestAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, want := range map[string]bool{
		"gone":                   true,
		strings.Repeat("n", 300): true,
		".":                      false, // a directory
	} {
		if _, err := File(filepath.Join(dir, name), Lock); err == nil || Absent(err) != want {
			t.Errorf("%.10s: %v, want absent %t", name, err, want)
		}
	}
}
