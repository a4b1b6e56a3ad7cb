package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/sqlite/internal/fixture"
	"github.com/toolguard/toolguard/sqlite/internal/layout"
)

// page is the page about the program.
const page = "sqlite.md"

// TestPage runs the commands of docs/sqlite.md, and makes its table.
func TestPage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the page is written for a shell")
	}
	path := filepath.Join("..", "..", "..", "docs", page)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := agentTable(t, string(raw))
	dir := t.TempDir()
	bin := install(t, dir)
	fixture.Make(t, dir, "opencode")
	fixture.Make(t, dir, "hermes")
	shell := func(command string) string {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC", "LC_ALL=C.UTF-8", "SOURCE_DATE_EPOCH=1780000000"}
		out, _ := cmd.CombinedOutput() // errors are shown
		return strings.ReplaceAll(string(out), dir, "~")
	}
	text = regexp.MustCompile("(?s)```shell-session\n(.*?)```\n").ReplaceAllStringFunc(text, func(block string) string {
		var b strings.Builder
		for line := range strings.Lines(block) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				b.WriteString(line + shell(command))
			}
		}
		return "```shell-session\n" + b.String() + "```\n"
	})
	text = regexp.MustCompile("(?s)```json list.json\n.*?```\n").ReplaceAllLiteralString(text, "```json list.json\n"+shell("toolguard sqlite list --json hermes.db")+"```\n")
	golden.File(t, path, text)
}

// install puts both programs into a directory below dir, which it returns.
func install(t *testing.T, dir string) string {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=1.2.3", "-o", bin+"/", "./cmd/toolguard")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A link is where the link is, but its name is that of the program.
	if err := os.Symlink(self, filepath.Join(bin, program)); err != nil {
		t.Fatal(err)
	}
	return bin
}

// TestDoctor: toolguard doctor reads databases with this program, and leaves nothing beside them.
func TestDoctor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its paths look different")
	}
	home := t.TempDir()
	bin := install(t, t.TempDir())
	for name, path := range map[string]string{
		"opencode": ".local/share/opencode/opencode.db", "goose": ".local/share/goose/sessions/sessions.db",
		"hermes": ".hermes/state.db", "openclaw": ".openclaw/agents/main/agent/openclaw-agent.sqlite",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(fixture.Make(t, filepath.Dir(path), name), path); err != nil {
			t.Fatal(err)
		}
		before := fixture.Files(t, filepath.Dir(path))
		t.Cleanup(func() {
			if diff := gocmp.Diff(before, fixture.Files(t, filepath.Dir(path))); diff != "" {
				t.Errorf("%s: files changed", name)
			}
		})
	}
	cmd := exec.Command(filepath.Join(bin, "toolguard"), "doctor")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	want := `opencode           2 sessions  none broken, 1 that opencode repairs itself
OpenClaw database  1 session   1 broken
goose              1 session   1 broken
Hermes             1 session   1 broken
`
	if diff := gocmp.Diff(want, string(out)); diff != "" || cmd.ProcessState.ExitCode() != exitFindings {
		t.Errorf("exit code %d, %s\n%s", cmd.ProcessState.ExitCode(), stderr.String(), diff)
	}
	for agent, says := range map[string]string{
		"OpenClaw database": "; close the agent, and repair it: toolguard sqlite fix", "goose": ", which toolguard does not repair; what else helps: toolguard sqlite check",
		"Hermes": ", which toolguard does not repair; what else helps: toolguard sqlite check",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stderr.String()), " "), agent+": 1 broken session in a database"+says) {
			t.Errorf("%s: %s", agent, stderr.String())
		}
	}
}

// agentTable returns the page with a table of the agents.
func agentTable(t *testing.T, text string) string {
	t.Helper()
	const open, end = "<!-- agents -->\n", "<!-- /agents -->"
	before, rest, ok := strings.Cut(text, open)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("docs/%s has no marks for the table", page)
	}
	var b strings.Builder
	b.WriteString("| agent | format | tables | tried | repaired | source |\n|---|---|---|---|---|---|\n")
	for _, s := range layout.All() {
		agent := s.Agent
		if len(s.Others) > 0 {
			agent += ", " + strings.Join(s.Others, ", ")
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | [source](%s) |\n", agent, s.Dialect, strings.Join(tableNames(s), ", "), cmp.Or(s.Tried, "no"), cmp.Or(s.Repaired, "no"), s.Source)
	}
	return before + open + b.String() + end + after
}

// tableNames lists the tables of an agent.
func tableNames(s *layout.Schema) []string {
	var names []string
	for name := range s.Tables {
		names = append(names, "`"+name+"`")
	}
	slices.Sort(names)
	return names
}
