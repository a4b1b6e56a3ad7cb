package toolguard_test

import (
	"go/version"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// mostModules is how many modules may be in the module graph, this one included. Every
// program that imports this module has them in its own graph.
const mostModules = 31

// oldestGo is the oldest version of Go that the code is written for.
const oldestGo = "1.25.0"

// TestModules checks that the go line of go.mod is the oldest that the dependencies allow,
// that the README says the same, and that the module graph stays small.
func TestModules(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Path}}{{if not .Main}} {{.GoVersion}}{{end}}", "all")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	modules := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(modules) > mostModules {
		t.Errorf("go list -m all has %d lines, want at most %d:\n%s", len(modules), mostModules, out)
	}

	file, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(file)
	if line == nil {
		t.Fatal("go.mod has no go line")
	}
	got, want, because := string(line[1]), oldestGo, "the code"
	for _, m := range modules {
		path, needs, _ := strings.Cut(m, " ") // needs is empty if the module has no go line
		if needs != "" && version.Compare("go"+needs, "go"+want) > 0 {
			want, because = needs, path
		}
	}
	if got != want {
		t.Errorf("the go line of go.mod is %q, want %q, which %s asks for", got, want, because)
	}

	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`\bGo (\d+\.\d+) or later`).FindAllSubmatch(readme, -1)
	if len(said) == 0 {
		t.Error("README.md does not say which version of Go is needed")
	}
	for _, m := range said {
		if lang := version.Lang("go" + got); "go"+string(m[1]) != lang {
			t.Errorf("README.md says %q, want %s", m[0], lang)
		}
	}
}
