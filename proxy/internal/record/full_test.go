//go:build unix

package record

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestNoSpace: an outline that cannot be written leaves no file behind, and the next one takes its
// place. The test runs itself as a process that may not write.
func TestNoSpace(t *testing.T) {
	const variable = "TOOLGUARD_RECORD_DIR"
	entry := Entry{Endpoint: "messages"}
	if path := os.Getenv(variable); path != "" {
		dir, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		signal.Ignore(syscall.SIGXFSZ)
		var before syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: before.Max}); err != nil {
			t.Fatal(err)
		}
		for range Most + 1 {
			if _, err := dir.Add(entry, []byte(`{}`)); !errors.Is(err, syscall.EFBIG) {
				t.Fatalf("written without space: %v", err)
			}
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		if _, err := dir.Add(entry, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	path := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoSpace$")
	cmd.Env = append(os.Environ(), variable+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != "request-001.json" {
		t.Errorf("files: %q, %v", files, err)
	}
}
