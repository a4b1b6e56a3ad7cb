package toolguard_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard"
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
	if ran != 4 {
		t.Errorf("docs/api.md has %d programs, want 4", ran)
	}
}

// TestAPIBodies: the table of request bodies in docs/api.md has the fields that Request expects.
func TestAPIBodies(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("docs", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| dialect | messages | instead of messages |\n|---|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")
	if !found || !ended {
		t.Fatal("docs/api.md has no table of request bodies")
	}
	name, quoted := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile(`"([^"]+)"`)
	names := func(re *regexp.Regexp, text string) (out []string) {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out
	}
	said := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.SplitN(strings.TrimSpace(row), "|", 4)
		fields := names(name, cells[2]+cells[3])
		for _, d := range names(name, cells[1]) {
			said[d] = true
			_, err := toolguard.CheckBytes(t.Context(), []byte("{}"), toolguard.Dialect(d), toolguard.Request())
			if err == nil {
				t.Errorf("%s: {} is a request", d)
				continue
			}
			expected, _, _ := strings.Cut(err.Error(), ", but ")
			if got := names(quoted, expected); !slices.Equal(got, fields) ||
				strings.Contains(expected, "or a text in") != strings.Contains(cells[2], "or text") ||
				strings.Contains(expected, "or a message in") != strings.Contains(cells[2], "or one message") {
				t.Errorf("%s: docs/api.md has %q, and the error is %s", d, row, expected)
			}
		}
	}
	_, err = toolguard.CheckBytes(t.Context(), nil, toolguard.Request())
	_, list, _ := strings.Cut(message(err), "one of ")
	want := slices.Sorted(slices.Values(strings.Split(list, ", ")))
	if got := slices.Sorted(maps.Keys(said)); !slices.Equal(got, want) {
		t.Errorf("docs/api.md has the dialects %q, and the package %q", got, want)
	}
}
