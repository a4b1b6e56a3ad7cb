package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	lib "github.com/toolguard/toolguard"
)

// TestPages runs the commands on the pages, each page in its own directory. A code
// block with a name in its first line is a file, and a comment can name a file of
// the repository. A console block is a list of commands with their output.
func TestPages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the pages are written for a shell")
	}
	for _, name := range []string{"ci.md", "config.md", "dialects.md", "json.md", "recipes.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", "docs", name)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := page(t, string(raw))
			switch {
			case want == string(raw):
			case *update:
				if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("docs/%s is not what the program prints; go test ./cmd/toolguard -update writes it. It would be\n%s", name, want)
			}
		})
	}
}

var (
	fileComment = regexp.MustCompile(`^<!-- (\S+) is (\S+) -->$`)
	fileBlock   = regexp.MustCompile("^```[a-z]+ (\\S+)$")
)

// page runs the commands of a page and returns the page with their output.
func page(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	server := httptest.NewServer(http.HandlerFunc(provider))
	defer server.Close()
	write := func(name string, text []byte) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		// A recent file would seem to be in use by an agent.
		before := time.Now().Add(-time.Hour)
		if err := os.Chtimes(name, before, before); err != nil {
			t.Fatal(err)
		}
	}
	shell := func(command string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CI=", "COLUMNS=", "HOME="+dir, "API="+server.URL, "GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null",
			// The name of a backup contains the time.
			"XDG_STATE_HOME=", "SOURCE_DATE_EPOCH=1767323045")
		out, err := cmd.CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(out), dir, "/home/me")
	}

	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	block := func(i int) (body string, end int) {
		end = i
		for end < len(lines) && lines[end] != "```\n" {
			end++
		}
		return strings.Join(lines[i:end], ""), end
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		out.WriteString(lines[i])
		if m := fileComment.FindStringSubmatch(line); m != nil {
			raw, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m[2])))
			if err != nil {
				t.Fatal(err)
			}
			write(m[1], raw)
		}
		if m := fileBlock.FindStringSubmatch(line); m != nil {
			body, end := block(i + 1)
			write(m[1], []byte(body))
			out.WriteString(body)
			i = end - 1
		}
		if line == "```console" {
			body, end := block(i + 1)
			out.WriteString(session(t, body, shell))
			i = end - 1
		}
	}
	return out.String()
}

// session runs the commands of a console block and returns it with their output.
// It does not run commands whose programs are not installed.
func session(t *testing.T, body string, shell func(string) string) string {
	t.Helper()
	var out strings.Builder
	for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
		command, rest, _ := strings.Cut(part, "\n")
		for strings.HasSuffix(command, "\\") {
			more, after, _ := strings.Cut(rest, "\n")
			command, rest = command+"\n"+more, after
		}
		fmt.Fprintf(&out, "$ %s\n", command)
		missing := false
		for _, name := range []string{"curl", "python3", "node", "git", "jq"} {
			_, err := exec.LookPath(name)
			missing = missing || err != nil && regexp.MustCompile(`\b`+name+`\b`).MatchString(command)
		}
		if missing {
			out.WriteString(strings.TrimSuffix(rest, "\n"))
			if rest != "" {
				out.WriteString("\n")
			}
			continue
		}
		out.WriteString(shell(command))
	}
	return out.String()
}

// provider answers requests like a provider: it rejects histories in which calls
// and results do not match.
func provider(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	report, err := lib.Check(r.Context(), bytes.NewReader(body), lib.Send())
	var request struct {
		Messages []json.RawMessage `json:"messages"`
	}
	switch {
	case err != nil || json.Unmarshal(body, &request) != nil:
		http.Error(w, `{"error":"no request"}`, http.StatusBadRequest)
	case report.Worst() == lib.Error:
		http.Error(w, fmt.Sprintf(`{"error":%q}`, report.Findings[0].ProviderError), http.StatusBadRequest)
	default:
		fmt.Fprintf(w, "{\"messages\":%d,\"text\":\"hello\"}\n", len(request.Messages))
	}
}
