package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/proxy/internal/endpoint"
	"github.com/toolguard/toolguard/proxy/internal/metrics"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// page is the page about the proxy.
const page = "proxy.md"

// TestMain runs the program if the test is called by its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "toolguard-proxy" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		context.AfterFunc(ctx, stop)
		os.Exit(Run(ctx, os.Args[1:], "1.2.3", os.Stdout, os.Stderr)) //nolint:forbidigo // it is the program
	}
	os.Exit(m.Run()) //nolint:forbidigo // it is the end of the tests
}

// TestPage runs the commands of docs/proxy.md, and makes its tables.
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
	text := string(raw)
	for name, table := range map[string]string{"presets": presetTable(), "endpoints": endpointTable(), "metrics": metricTable(t)} {
		text = between(t, text, name, table)
	}
	api := httptest.NewServer(http.HandlerFunc(provider))
	defer api.Close()
	w := newShell(t, api.URL)
	text = regexp.MustCompile("(?s)```json (\\S+)\n(.*?)```\n").ReplaceAllStringFunc(text, func(block string) string {
		head, body, _ := strings.Cut(block, "\n")
		name := strings.TrimPrefix(head, "```json ")
		body = strings.TrimSuffix(body, "```\n")
		if name != "request.json" {
			body = w.shown(name)
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return head + "\n" + body + "```\n"
	})
	text = regexp.MustCompile("(?s)```shell-session\n(.*?)```\n").ReplaceAllStringFunc(text, func(block string) string {
		body := strings.TrimSuffix(strings.TrimPrefix(block, "```shell-session\n"), "```\n")
		return "```shell-session\n" + w.session(body) + "```\n"
	})
	golden.File(t, path, text)
}

// between replaces what is between two marks.
func between(t *testing.T, text, name, body string) string {
	t.Helper()
	open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(text, open)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("docs/%s has no marks for %s", page, name)
	}
	return before + open + body + end + after
}

func presetTable() string {
	var b strings.Builder
	b.WriteString("| preset | URL | provider | Anthropic clients | OpenAI clients | Gemini clients |\n|---|---|---|---|---|---|\n")
	cell := func(path string) string {
		switch path {
		case "-":
			return ""
		case "":
			return "`/`"
		}
		return "`" + path + "`"
	}
	for _, p := range upstream.Presets() {
		profile := p.Profile
		if profile == "" {
			profile = "by host or model"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s |\n", p.Name, p.URL, profile, cell(p.Anthropic), cell(p.OpenAI), cell(p.Gemini))
	}
	return b.String()
}

func endpointTable() string {
	var b strings.Builder
	b.WriteString("| endpoint | paths | messages |\n|---|---|---|\n")
	for _, e := range endpoint.All() {
		var paths []string
		for _, p := range e.Paths {
			paths = append(paths, "`/"+p+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", e.Name, strings.Join(paths, ", "), e.Dialect)
	}
	return b.String()
}

// metricTable lists the metrics that the proxy has itself.
func metricTable(t *testing.T) string {
	t.Helper()
	m := metrics.New()
	m.Request("", "", "")
	m.Repairs("", 1)
	m.Passed("")
	m.Rejected("")
	m.Retried("")
	m.Failure("", "")
	m.Checked("", 0)
	rec := httptest.NewRecorder()
	m.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	helps := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^# HELP (toolguard_\S+) (.*)$`).FindAllStringSubmatch(rec.Body.String(), -1) {
		helps[match[1]] = match[2]
	}
	if len(helps) != 9 {
		t.Errorf("%d metrics: %v", len(helps), helps)
	}
	var b strings.Builder
	b.WriteString("| metric | meaning |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(helps)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, helps[name])
	}
	return b.String()
}

// provider answers requests like the API of Anthropic.
func provider(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	report, checkErr := toolguard.CheckBytes(r.Context(), body, toolguard.Dialect("anthropic"), toolguard.Request(), toolguard.Send())
	if err != nil || checkErr != nil || report.Worst() == toolguard.Error || r.Header.Get("X-Api-Key") == "" {
		http.Error(w, `{"type":"error"}`, http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, `{"type":"message","role":"assistant","content":[{"type":"text","text":"I do not know: the tool gave no result."}]}`)
}

// A shell runs the commands of the page.
type shell struct {
	t              *testing.T
	dir, api, port string
}

// newShell returns a shell in which toolguard proxy listens at another port and sends requests to api.
func newShell(t *testing.T, api string) *shell {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := &shell{t, t.TempDir(), api, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(s.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "toolguard-proxy")); err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
[ "$1" = proxy ] || exit 9
shift
case "$*" in
*--print-env*) exec toolguard-proxy "$@" ;;
*) exec toolguard-proxy --listen 127.0.0.1:` + s.port + ` --upstream ` + api + ` "$@" ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "toolguard"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// session returns a block with the output of its commands. Without curl it stays as it is.
func (s *shell) session(block string) string {
	if _, err := exec.LookPath("curl"); err != nil && strings.Contains(block, "curl") {
		return block
	}
	var script strings.Builder
	script.WriteString("trap '[ -z \"$!\" ] || kill $!' EXIT\n")
	var commands []string
	for line := range strings.Lines(block) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		commands = append(commands, command)
		script.WriteString("echo 'command:'\n" + strings.ReplaceAll(command, "127.0.0.1:8787", "127.0.0.1:"+s.port))
		if strings.HasSuffix(command, "&\n") {
			script.WriteString("until grep -qs listening proxy.log; do sleep 0.02; done\n")
		}
	}
	cmd := exec.Command("sh", "-c", script.String())
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"), "KEY=k", "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("%v\n%s\n%s", err, script.String(), out)
	}
	text := string(out)
	for _, change := range []struct{ pattern, by string }{
		{`"time":"[^"]*"`, `"time":"2026-01-02T03:04:05Z"`},
		{`"ms":\d+`, `"ms":1`},
		{regexp.QuoteMeta(strings.TrimPrefix(s.api, "http://")), "api.anthropic.com"},
	} {
		text = regexp.MustCompile(change.pattern).ReplaceAllString(text, change.by)
	}
	parts := strings.Split(text, "command:\n")[1:]
	var b strings.Builder
	for i, command := range commands {
		b.WriteString("$ " + command)
		if i < len(parts) {
			b.WriteString(parts[i])
		}
	}
	return b.String()
}

// shown returns what the page shows of the proxy itself: a refusal, and a part of a record.
func (s *shell) shown(name string) string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	read, write := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Run(ctx, []string{"--listen", "127.0.0.1:0", "--upstream", s.api, "--on-error", "reject", "--record", filepath.Join(s.dir, name+".d")}, "1", io.Discard, write)
	}()
	var started struct{ Address string }
	if err := json.NewDecoder(read).Decode(&started); err != nil {
		s.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	call := func(body []byte) string {
		res, err := http.Post("http://"+started.Address+"/v1/messages", "application/json", bytes.NewReader(body))
		if err != nil {
			s.t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	}
	defer func() {
		cancel()
		if code := <-done; code != exitOK {
			s.t.Errorf("exit code %d", code)
		}
	}()
	if name == "refusal.json" {
		return call([]byte(`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t1","content":"b"}]}]}`)) + "\n"
	}
	request, err := os.ReadFile(filepath.Join(s.dir, "request.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	call(request)
	record, err := os.ReadFile(filepath.Join(s.dir, name+".d", "request-001.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var kept struct {
		Request struct{ Messages []json.RawMessage }
	}
	if err := json.Unmarshal(record, &kept); err != nil {
		s.t.Fatal(err)
	}
	line := strings.Join(strings.Fields(string(kept.Request.Messages[1])), " ")
	line = strings.NewReplacer("[ ", "[", " ]", "]", "{ ", "{", " }", "}").Replace(line)
	hashes := []string{"<91127be32dee>", "<50c85d05f042>"}
	return regexp.MustCompile(`<[0-9a-f]{12}>`).ReplaceAllStringFunc(line, func(string) string {
		h := hashes[0]
		hashes = hashes[1:]
		return h
	}) + "\n"
}

// TestPresets: each preset can be given, and its profile is known.
func TestPresets(t *testing.T) {
	t.Parallel()
	for _, p := range upstream.Presets() {
		u, err := upstream.Parse(p.Name)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if diff := cmp.Diff(p.URL, u.URL.String()); diff != "" || !u.Encrypted() || u.URL.Path != "" {
			t.Errorf("%s: %s", p.Name, diff)
		}
		if p.Profile != "" {
			if got, err := toolguard.ProfileFor(p.Profile, "openai-chat"); got == "" || err != nil {
				t.Errorf("%s: %q, %v", p.Name, got, err)
			}
		}
	}
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "[::1]": true, "a.localhost": true, "LocalHost.": true,
		"10.0.0.1": false, "localhost.example": false, "127.0.0.1.example": false, "": false, "0.0.0.0": false, "::": false,
	} {
		if got := upstream.Loopback(host); got != want {
			t.Errorf("%q is this machine: %t", host, got)
		}
	}
}
