package toolguard_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPIPage runs the programs of docs/api.md and compares their output with the text behind
// them.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for rest := string(page); ; ran++ {
		_, after, found := strings.Cut(rest, "```go\n")
		if !found {
			break
		}
		program, after, closed := strings.Cut(after, "```\n\n```text\n")
		want, after, ended := strings.Cut(after, "```\n")
		if !closed || !ended {
			t.Fatalf("program %d has no output", ran+1)
		}
		rest = after
		name := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(name, []byte(program), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		cmd := exec.Command("go", "run", name)
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || out.String() != want {
			t.Errorf("program %d: %v\n%s\n got %s\nwant %s", ran+1, err, errs.String(), out.String(), want)
		}
	}
	if ran != 3 {
		t.Errorf("docs/api.md has %d programs, want 3", ran)
	}
}
