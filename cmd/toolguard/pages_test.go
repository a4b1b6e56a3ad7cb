package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lib "github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/store"
)

// TestPages runs the commands on the pages, each page in its own directory. A code
// block with a name in its first line is a file, and a comment can name a file of
// the repository. A console block is a list of commands with their output.
func TestPages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the pages are written for a shell")
	}
	for _, name := range pageNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden.File(t, filepath.Join("..", "..", "docs", name), runPage(t, readPage(t, name), nil).out)
		})
	}
}

// pageNames returns the names of the pages in docs.
func pageNames(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(paths) < 9 {
		t.Fatalf("docs has the pages %q: %v", paths, err)
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = filepath.Base(path)
	}
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var (
	fileComment = regexp.MustCompile(`^<!-- (\S+) is (\S+) -->$`)
	fileBlock   = regexp.MustCompile("^```[a-z]+ (\\S+)$")
)

// A pageRun is a run of the commands of a page.
type pageRun struct {
	dir    string   // where the page begins
	out    string   // the page with the output of its commands
	bodies [][]byte // what the provider received
	cwd    string   // where the next command runs
	env    []string
	lost   []string // files that were not written, because a program is not installed
}

// runPage runs the commands of a page. instead replaces the contents of files.
func runPage(t *testing.T, text string, instead map[string][]byte) *pageRun {
	t.Helper()
	dir := t.TempDir()
	p := &pageRun{dir: dir, cwd: dir}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		p.bodies = append(p.bodies, body)
		provider(w, r, body)
	}))
	defer server.Close()
	p.env = append(os.Environ(), "CI=", "COLUMNS=", "HOME="+dir, "API="+server.URL, "GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null",
		// The name of a backup contains the time.
		"XDG_STATE_HOME=", "SOURCE_DATE_EPOCH=1767323045")
	// The stores of the user who runs the tests are no part of a page.
	for _, s := range store.All() {
		for _, path := range slices.Concat(s.Roots, s.Databases) {
			if name, ok := strings.CutPrefix(path, "$"); ok {
				name, _, _ = strings.Cut(name, "/")
				p.env = append(p.env, name+"=")
			}
		}
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
			p.write(t, m[1], raw, instead)
		}
		if m := fileBlock.FindStringSubmatch(line); m != nil {
			body, end := block(i + 1)
			p.write(t, m[1], []byte(body), instead)
			out.WriteString(body)
			i = end - 1
		}
		if line == "```console" {
			body, end := block(i + 1)
			out.WriteString(p.session(t, body))
			i = end - 1
		}
	}
	p.out = out.String()
	return p
}

// write writes a file of the page.
func (p *pageRun) write(t *testing.T, name string, text []byte, instead map[string][]byte) {
	t.Helper()
	if other, ok := instead[name]; ok {
		text = other
	}
	name = filepath.Join(p.dir, filepath.FromSlash(name))
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

// shell runs a command where the previous one ended, as in the shell of a reader
// who copies one command after the other.
func (p *pageRun) shell(t *testing.T, command string) string {
	t.Helper()
	place := filepath.Join(t.TempDir(), "pwd")
	cmd := exec.Command("sh", "-c", command+"\npwd >'"+place+"'")
	cmd.Dir = p.cwd
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	cwd, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	p.cwd = strings.TrimSuffix(string(cwd), "\n")
	return strings.ReplaceAll(string(out), p.dir, "/home/me")
}

// commandsOf returns the commands of a console block and the output below each.
func commandsOf(body string) (list, outputs []string) {
	for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
		command, rest, _ := strings.Cut(part, "\n")
		for strings.HasSuffix(command, "\\") {
			more, after, _ := strings.Cut(rest, "\n")
			command, rest = command+"\n"+more, after
		}
		list = append(list, command)
		outputs = append(outputs, rest)
	}
	return list, outputs
}

// session runs the commands of a console block and returns it with their output.
// It does not run commands whose programs are not installed, or that read what such
// a command writes.
func (p *pageRun) session(t *testing.T, body string) string {
	t.Helper()
	var out strings.Builder
	list, outputs := commandsOf(body)
	for i, command := range list {
		fmt.Fprintf(&out, "$ %s\n", command)
		missing := false
		for _, name := range []string{"curl", "python3", "node", "git", "make", "parallel", "duckdb", "jq"} {
			_, err := exec.LookPath(name)
			missing = missing || err != nil && regexp.MustCompile(`\b`+name+`\b`).MatchString(command)
		}
		for _, name := range p.lost {
			missing = missing || strings.Contains(command, name)
		}
		if !missing {
			out.WriteString(p.shell(t, command))
			continue
		}
		if m := regexp.MustCompile(`> (\S+)$`).FindStringSubmatch(command); m != nil {
			p.lost = append(p.lost, m[1])
		}
		out.WriteString(strings.TrimSuffix(outputs[i], "\n"))
		if outputs[i] != "" {
			out.WriteString("\n")
		}
	}
	return out.String()
}

// provider answers requests like a provider: it rejects histories in which calls
// and results do not match.
// A byte order mark does not bother it.
func provider(w http.ResponseWriter, r *http.Request, body []byte) {
	report, err := lib.Check(r.Context(), bytes.NewReader(body), lib.Send())
	var request struct {
		Messages []json.RawMessage `json:"messages"`
	}
	switch {
	case err != nil || json.Unmarshal(bytes.TrimPrefix(body, []byte(bom)), &request) != nil:
		http.Error(w, `{"error":"no request"}`, http.StatusBadRequest)
	case report.Worst() == lib.Error:
		http.Error(w, fmt.Sprintf(`{"error":%q}`, report.Findings[0].ProviderError), http.StatusBadRequest)
	default:
		fmt.Fprintf(w, "{\"messages\":%d,\"text\":\"hello\"}\n", len(request.Messages))
	}
}

const bom = "\ufeff"

// held lists the tests that hold blocks that TestPages does not run.
var held = []struct{ page, kind, test string }{
	{"api.md", "go", "TestAPIPage"}, // in the package at the root
	{"api.md", "text", "TestAPIPage"},
	{"proxy.md", "json", "TestPage"}, // in the module of the proxy
	{"proxy.md", "shell-session", "TestPage"},
	{"sqlite.md", "json", "TestPage"}, // in the module of toolguard-sqlite
	{"sqlite.md", "shell-session", "TestPage"},
	{"parquet.md", "shell-session", "TestPage"}, // in the module for Parquet
	{"python.md", "pycon", "test_page"},         // in the tests of the Python module
	{"javascript.md", "js", "page"},             // in those of the npm package
	{"javascript.md", "text", "page"},
	{"javascript.md", "ts", "opencode run goes on with a broken session if the plugin of the page is there"},
}

// TestPageBlocks: each code block of each page is run, or a file that is used, or is
// said not to be run right above it, or is held by another test.
func TestPageBlocks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	atRoot, err := filepath.Glob(filepath.Join("..", "..", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	inProxy, err := filepath.Glob(filepath.Join("..", "..", "proxy", "internal", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	inSQLite, err := filepath.Glob(filepath.Join("..", "..", "sqlite", "internal", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	inParquet, err := filepath.Glob(filepath.Join("..", "..", "parquet", "internal", "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	inPython, err := filepath.Glob(filepath.Join("..", "..", "python", "tests", "*.py"))
	if err != nil {
		t.Fatal(err)
	}
	inNPM, err := filepath.Glob(filepath.Join("..", "..", "npm", "test", "*.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	var tests []string
	for _, name := range slices.Concat(files, atRoot, inProxy, inSQLite, inParquet, inPython, inNPM) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, string(raw))
	}
	for i, h := range held {
		if !slices.ContainsFunc(tests, func(text string) bool {
			has := func(begin, end string) bool { return strings.Contains(text, begin+h.test+end) }
			return (has("\nfunc ", "(") || has("    def ", "(") || has("\ntest('", "'")) && strings.Contains(text, `"`+h.page+`"`)
		}) {
			t.Errorf("held[%d]: no %s reads %s", i, h.test, h.page)
		}
	}
	total := 0
	for _, name := range pageNames(t) {
		blocks := pageBlocks(t, name)
		total += len(blocks)
		for _, fault := range idle(name, blocks) {
			t.Errorf("docs/%s: %s", name, fault)
		}
	}
	if total < 100 {
		t.Errorf("the pages have %d blocks", total)
	}
}

// A pageBlock is a code block of a page.
type pageBlock struct {
	line  int
	kind  string // the first word behind the opening fence
	name  string // the file that it is
	above string // the paragraph above it
	body  string
}

func pageBlocks(t *testing.T, name string) []pageBlock {
	t.Helper()
	var blocks []pageBlock
	var above []string
	open, blank := false, false
	for i, line := range strings.Split(readPage(t, name), "\n") {
		switch {
		case open && line == "```":
			open, above = false, nil
		case open:
			blocks[len(blocks)-1].body += line + "\n"
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			kind, file, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "```"), " ")
			blocks = append(blocks, pageBlock{i + 1, kind, file, strings.Join(above, " "), ""})
			open = true
		case line == "":
			blank = true
		default:
			if blank {
				above = nil
			}
			above, blank = append(above, line), false
		}
	}
	if open {
		t.Fatalf("docs/%s: a code block has no end", name)
	}
	return blocks
}

// idle returns the faults of blocks that nothing runs or uses.
func idle(page string, blocks []pageBlock) (faults []string) {
	const notRun = "not run here"
	for i, b := range blocks {
		said := strings.Contains(strings.ToLower(b.above), notRun)
		used := func() bool {
			stem := strings.TrimSuffix(path.Base(b.name), path.Ext(b.name))
			word := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(strings.TrimSuffix(stem, "file")) + `\b`)
			if dir := path.Dir(b.name); dir != "." {
				word = regexp.MustCompile(word.String() + `|\b` + regexp.QuoteMeta(dir) + `\b`)
			}
			for j, other := range blocks {
				text := other.body
				switch {
				case j == i || other.kind != "console" && other.name == "":
					continue
				case other.kind == "console":
					list, _ := commandsOf(other.body)
					text = strings.Join(list, "\n")
				}
				if word.MatchString(text) {
					return true
				}
			}
			return false
		}
		byTest := false
		for _, h := range held {
			byTest = byTest || h.page == page && h.kind == b.kind
		}
		list, _ := commandsOf(b.body)
		switch {
		case b.kind == "console" && b.name == "" && said:
			faults = append(faults, fmt.Sprintf("the block in line %d is run, but the page says that it is not", b.line))
		case b.kind == "console" && b.name == "" && len(list) == 0:
			faults = append(faults, fmt.Sprintf("the console block in line %d has no command", b.line))
		case b.kind == "console" && b.name == "", said, byTest:
		case b.name == "":
			faults = append(faults, fmt.Sprintf("nothing runs the block in line %d, and the page does not say %q above it", b.line, notRun))
		case !used():
			faults = append(faults, fmt.Sprintf("no command uses the file %s in line %d", b.name, b.line))
		}
	}
	return faults
}

// TestIdleBlocks: idle finds blocks that nothing holds.
func TestIdleBlocks(t *testing.T) {
	t.Parallel()
	blocks := []pageBlock{
		{1, "sh", "", "Docker. Not run here:", "docker run\n"},
		{2, "sh", "", "Docker:", "docker run\n"},
		{3, "console", "", "Look:", "$ make all\nlost.json\n"},
		{4, "console", "", "Not run here:", "$ toolguard check a.json\n"},
		{5, "console", "", "Look:", "nothing\n"},
		{6, "make", "Makefile", "", "all:\n\ttoolguard check dir\n"},
		{7, "json", "a.json", "", "{}\n"},
		{8, "json", "dir/b.json", "", "{}\n"},
		{9, "json", "lost.json", "", "{}\n"},
		{10, "json", "", "", "{}\n"},
	}
	want := []string{
		`nothing runs the block in line 2, and the page does not say "not run here" above it`,
		"the block in line 4 is run, but the page says that it is not",
		"the console block in line 5 has no command",
		"no command uses the file lost.json in line 9",
		`nothing runs the block in line 10, and the page does not say "not run here" above it`,
	}
	if diff := cmp.Diff(want, idle("page.md", blocks)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	blocks[9].kind = "text"
	if got := idle("api.md", blocks[9:]); got != nil {
		t.Errorf("blocks that a test holds: %q", got)
	}
}

// maxWords is how many words the pages may have together, as wc counts them. A change that
// adds text takes as much away elsewhere. A new command may raise it by 700.
const maxWords = 26_328

var (
	markedPart  = regexp.MustCompile(`(?ms)^<!-- [a-z]+ -->\n.*?^<!-- /[a-z]+ -->\n`)
	markedTable = regexp.MustCompile(`(?m)^<!-- [a-z. -]+ -->\n(?:\|.*\n)+`)
)

// TestPageWords counts the words that people wrote: what is generated grows with the tables
// of the program, and performance.md is the record of a measurement.
func TestPageWords(t *testing.T) {
	t.Parallel()
	total := 0
	var counts strings.Builder
	for _, name := range pageNames(t) {
		if name == "profiles.md" || name == "performance.md" {
			continue
		}
		text := markedTable.ReplaceAllString(markedPart.ReplaceAllString(readPage(t, name), ""), "")
		n := len(strings.Fields(text))
		total += n
		fmt.Fprintf(&counts, "%6d %s\n", n, name)
	}
	if total > maxWords {
		t.Errorf("the pages have %d words, want at most %d\n%s", total, maxWords, counts.String())
	}
}

// TestIndex: docs/README.md leads to each page.
func TestIndex(t *testing.T) {
	t.Parallel()
	index := readPage(t, "README.md")
	for _, name := range pageNames(t) {
		if name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}
