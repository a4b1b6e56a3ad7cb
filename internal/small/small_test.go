package small

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("small", "text")
	write("empty", "")
	write("full", strings.Repeat("x", 1<<20))
	write("large", strings.Repeat("x", 1<<20+1))
	if err := os.Mkdir(at("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"small": 4, "empty": 0, "full": 1 << 20} {
		if text, err := File(at(name), 1<<20); err != nil || len(text) != n {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	refused := func(name, want string) {
		t.Helper()
		text, err := File(at(name), 1<<20)
		var pe *fs.PathError
		if text != nil || !errors.As(err, &pe) || pe.Path != at(name) || pe.Err.Error() != want {
			t.Errorf("%s: %d bytes, %v; want %s", name, len(text), err, want)
		}
	}
	refused("large", "is larger than 1 MiB")
	refused("dir", "is a directory")
	if _, err := File(at("none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if os.Symlink(os.DevNull, at("device")) == nil {
		refused("device", "is not a regular file")
	}
	if _, err := os.Stat("/dev/zero"); err == nil && os.Symlink("/dev/zero", at("endless")) == nil {
		refused("endless", "is not a regular file")
	}
	if exec.Command("mkfifo", at("pipe")).Run() == nil {
		refused("pipe", "is not a regular file")
	}
}
