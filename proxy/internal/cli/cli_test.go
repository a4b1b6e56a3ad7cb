package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/manpage"
	"github.com/toolguard/toolguard/internal/usage"
)

// run runs a command line that ends by itself.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	code = Run(ctx, args, "1.2.3", &out, &errs)
	if ctx.Err() != nil {
		t.Fatalf("%q did not end", args)
	}
	return code, out.String(), errs.String()
}

// TestMistakes: a wrong command line ends with 2 and says what was expected.
func TestMistakes(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ args, want string }{
		{"here", `unexpected argument "here"; toolguard proxy --help shows the usage`},
		{"--uptsream x", `unknown flag --uptsream; did you mean --upstream?`},
		{"--zzzzzzzz", `unknown flag --zzzzzzzz; toolguard proxy --help lists the flags`},
		{"-z", `unknown flag -z; toolguard proxy --help lists the flags`},
		{"--listen", `--listen needs a value: --listen address`},
		{"--listen 8787", `--listen: expected an address with a port, such as 127.0.0.1:8787, got "8787"`},
		{"--listen 8080", `--listen: expected an address with a port, such as 127.0.0.1:8080, got "8080"`},
		{"--metrics 9090", `--metrics: expected an address with a port, such as 127.0.0.1:9090, got "9090"`},
		{"--listen localhost", `--listen: expected an address with a port, such as 127.0.0.1:8787, got "localhost"`},
		{"--listen 127.0.0.1:65536", `--listen: expected a port of at most 65535, got "65536"`},
		{"--print-env --listen 127.0.0.1:99999999999999999999", `--listen: expected a port of at most 65535, got "99999999999999999999"`},
		{"--port 8080", "unknown flag --port; " + habitListen},
		{"-p 8080", "unknown flag -p; " + habitListen},
		{"-p8080", "unknown flag -p; " + habitListen},
		{"--api-key k", "unknown flag --api-key; " + habitKey},
		{"-v", "unknown flag -v; " + habitLog},
		{"--config x", "unknown flag --config; " + habitConfig},
		{"--cert x", "unknown flag --cert; " + habitTLS},
		{"--base-url https://gw.example", "unknown flag --base-url; " + habitUpstream},
		{"openai", `unexpected argument "openai"; did you mean --upstream openai?`},
		{"https://gw.example/v1", `unexpected argument "https://gw.example/v1"; did you mean --upstream https://gw.example/v1?`},
		{"--provider https://gw.example", `--provider: expected the name of a provider, got a URL; did you mean --upstream?`},
		{"--host 0.0.0.0", `--host: expected the name by which clients call the proxy, got "0.0.0.0"; --listen sets the address`},
		{"--host ::", `--host: expected the name by which clients call the proxy, got "::"; --listen sets the address`},
		{"--upstream claude", `--upstream: "claude": expected a URL or a preset; did you mean anthropic?`},
		{"--upstream api.openai.com", `--upstream: "api.openai.com": expected a URL or a preset; did you mean https://api.openai.com?`},
		{"--upstream gw.example:8443/v1", `--upstream: "gw.example:8443/v1": expected a URL or a preset; did you mean https://gw.example:8443/v1?`},
		{"--upstream /a=localhost:4000", `--upstream: "/a=localhost:4000": expected a URL or a preset; did you mean http://localhost:4000?`},
		{"--upstream 127.0.0.1:4000", `--upstream: "127.0.0.1:4000": expected a URL or a preset; did you mean http://127.0.0.1:4000?`},
		{"--upstream a=anthropic", `--upstream: "a=anthropic": expected a URL or a preset; did you mean /a=anthropic?`},
		{"--upstream openai,anthropic", `--upstream: behind the comma: expected provider=, followed by its name; for a second upstream, repeat --upstream`},
		{"--upstream https://gw.example,taget=openai", `--upstream: behind the comma: expected provider=, followed by its name; for a second upstream, repeat --upstream`},
		{"--upstream https://api.openai.com/v1/chat/completions", `--upstream: api.openai.com: expected the base URL of an API, without the path of one of its endpoints (chat)`},
		{"--upstream https://gw.example/v1/messages/", `--upstream: gw.example: expected the base URL of an API, without the path of one of its endpoints (messages)`},
		{"--listen 0.0.0.0:8787", `--listen: other machines can reach "0.0.0.0:8787": use 127.0.0.1, or --allow-remote`},
		{"--listen :8787", `--listen: other machines can reach ":8787": use 127.0.0.1, or --allow-remote`},
		{"--listen gw.example:8787", `--listen: other machines can reach "gw.example:8787": use 127.0.0.1, or --allow-remote`},
		{"--metrics 0.0.0.0:1", `--metrics: other machines can reach "0.0.0.0:1": use 127.0.0.1, or --allow-remote`},
		{"--upstream antropic", `--upstream: "antropic": unknown preset "antropic"; did you mean "anthropic"?`},
		{"--upstream /a", `--upstream: "/a": expected /a=, followed by a preset or a URL`},
		{"--upstream /a?b=openai", `--upstream: "/a?b=openai": expected a prefix such as /a, got "/a?b"`},
		{"--upstream /a/../b=openai", `--upstream: "/a/../b=openai": expected a prefix such as /a, got "/a/../b"`},
		{"--upstream ftp://x", `--upstream: expected a URL that begins with https:// or http:// and names a host, got the scheme "ftp" and the host "x"`},
		{"--upstream https://me:secret@gw.example", `--upstream: gw.example: expected a URL without a user or a password; clients send their own keys`},
		{"--upstream https://gw.example?key=secret", `--upstream: gw.example: expected a URL without ? and #`},
		{"--upstream http://gw.example/v1", `--upstream: gw.example: others can read what is sent over HTTP: use https://, or --allow-http`},
		{"--upstream https://gw.example,provider=opnai", `--upstream: gw.example: unknown provider "opnai"; did you mean "openai"?`},
		{"--upstream openai --upstream gemini", `--upstream: generativelanguage.googleapis.com: two upstreams without a prefix: write /name=gemini`},
		{"--upstream /a=openai --upstream /a/=gemini", `--upstream: generativelanguage.googleapis.com: two upstreams with the prefix /a`},
		{"--upstream http://localhost:8787", `--upstream: localhost:8787 is the address of the proxy itself`},
		{"--safe-only --unsafe", `--safe-only and --unsafe exclude each other: give only one`},
		{"--strip-reasoning --retry-without-reasoning", `--strip-reasoning leaves nothing for --retry-without-reasoning: give only one`},
		{"--strip-reasoning --safe-only", `--strip-reasoning and --safe-only exclude each other: give only one`},
		{"--strip-reasoning --ignore replayed-reasoning", `--strip-reasoning and --ignore replayed-reasoning exclude each other: give only one`},
		{"--safe-only=maybe", `--safe-only: expected true or false, got "maybe"`},
		{"--strategy orphan-tool-result", `--strategy: expected rule=name, got "orphan-tool-result"`},
		{"--strategy orphan-tool-result=dorp", `--strategy: unknown strategy "dorp"; did you mean "drop"? (known for orphan-tool-result: text, drop, relink, leave)`},
		{"--strategy orphan-tool-result=drop --strategy orphan-tool-result=text", `--strategy: orphan-tool-result cannot be both drop and text`},
		{"--select mising-tool-result", `--select: unknown rule or category "mising-tool-result"; did you mean "missing-tool-result"?`},
		{"--ignore mising-tool-result", `--ignore: unknown rule or category "mising-tool-result"; did you mean "missing-tool-result"?`},
		{"--provider opnai", `--provider: unknown provider "opnai"; did you mean "openai"?`},
		{"--on-error stop", `--on-error: expected pass or reject, got "stop"`},
		{"--on-unreadable stop", `--on-unreadable: expected pass or reject, got "stop"`},
		{"--max-body 0", `--max-body: expected a size, such as 64MiB, got "0"`},
		{"--max-unpacked 2TB", `--max-unpacked: expected a size of at most 1 TiB, got 2000000000000`},
		{"--repair-timeout 2", `--repair-timeout: expected a time, such as 2s or 500ms, got "2"`},
		{"--repair-timeout 0s", `--repair-timeout: expected a time above 0, got 0s`},
		{"--read-timeout 0s", `--read-timeout: expected a time above 0, got 0s`},
		{"--read-timeout -1s", `--read-timeout: expected a time above 0, got -1s`},
		{"--max-memory 0", `--max-memory: expected a size, such as 64MiB, got "0"`},
		{"--max-memory 8", `--max-memory: expected at least 2MiB, because each repair needs 1 MiB besides its body, got 8`},
		{"--max-memory 2097151", `--max-memory: expected at least 2MiB, because each repair needs 1 MiB besides its body, got 2097151`},
		{"--print-env --listen 127.0.0.1:0", `--print-env: expected --listen with the port of the proxy, got "127.0.0.1:0", for which the system chooses a port`},
		{"--print-env --listen [::1]:00", `--print-env: expected --listen with the port of the proxy, got "[::1]:00", for which the system chooses a port`},
		{"--max-memory 2TiB", `--max-memory: expected a size of at most 1 TiB, got 2097152MiB`},
		{"--host a:1", `--host: expected the name or the address of a host without a port, got "a:1"`},
		{"--allow-origin https://gw.example", `--allow-origin: expected the origin of a program, such as app://localhost, got "https://gw.example"; pages of other hosts need --host`},
		{"--allow-origin app", `--allow-origin: expected the origin of a program, such as app://localhost, got "app"`},
		{"--host a;b", `--host: expected the name or the address of a host without a port, got "a;b"`},
		{"--upstream https://gw.example:99999", `--upstream: gw.example:99999: expected a port from 1 to 65535 behind the colon`},
		{"--upstream https://gw.example:", `--upstream: gw.example:: expected a port from 1 to 65535 behind the colon`},
		{"--upstream /$(id)=openai", `--upstream: "/$(id)=openai": expected a prefix such as /a, got "/$(id)"`},
		{"--print-env --upstream /a;b=openai", `--upstream: "/a;b=openai": expected a prefix such as /a, got "/a;b"`},
		{"--print-env --allow-remote --listen a;b:80", `--listen: expected an address with a port, such as 127.0.0.1:8787, got "a;b:80"`},
		{"--print-env --listen 127.0.0.1:$(id)", `--listen: expected an address with a port, such as 127.0.0.1:8787, got "127.0.0.1:$(id)"`},
		{"--print-env --listen 0.0.0.0:80", `--listen: other machines can reach "0.0.0.0:80": use 127.0.0.1, or --allow-remote`},
		{"--allow-remote --listen 0.0.0.0:8787 --upstream http://127.0.0.1:8787", `--upstream: 127.0.0.1:8787 is the address of the proxy itself`},
		{"--allow-remote --listen :8787 --upstream http://localhost:8787", `--upstream: localhost:8787 is the address of the proxy itself`},
		{"--listen 127.0.0.1:80 --upstream http://localhost", `--upstream: localhost is the address of the proxy itself`},
		{"--listen 127.0.0.1:8787 --allow-http --upstream http://0.0.0.0:8787", `--upstream: 0.0.0.0:8787 is the address of the proxy itself`},
		{"\x1b[2J", "unexpected argument \"\\x1b[2J\"; toolguard proxy --help shows the usage"},
	}
	if runtime.GOOS != "windows" { // which has its own words
		tests = append(tests, []struct{ args, want string }{
			{"--listen " + busy.Addr().String(), `--listen: ` + busy.Addr().String() + `: address already in use`},
			{"--record " + file, `--record: mkdir ` + file + `: not a directory`},
		}...)
	}
	for _, tt := range tests {
		code, stdout, stderr := run(t, strings.Fields(tt.args)...)
		if want := "toolguard proxy: " + tt.want + "\n"; code != exitTrouble || stdout != "" || stderr != want {
			t.Errorf("%s: exit code %d, %q, (-want +got):\n%s", tt.args, code, stdout, cmp.Diff(want, stderr))
		}
	}
}

// TestPrintEnv compares the settings of clients with a golden file.
func TestPrintEnv(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, args := range []string{
		"", "--upstream openai", "--upstream gemini --listen 127.0.0.1:9000", "--upstream deepseek --listen 0.0.0.0:80 --allow-remote",
		"--upstream /a=anthropic --upstream /o=https://gw.example/v1,provider=openai --upstream /o2=openai", "--upstream https://gw.example/llm",
	} {
		code, stdout, stderr := run(t, append(strings.Fields(args), "--print-env")...)
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit code %d, %s", args, code, stderr)
		}
		fmt.Fprintf(&b, "$ toolguard proxy %s\n%s\n", strings.TrimSpace(args+" --print-env"), stdout)
	}
	golden.File(t, filepath.Join("testdata", "env.golden"), b.String())
}

// TestMan compares the man page with the command.
func TestMan(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "toolguard"}
	cmd := New("1.2.3", nil, nil)
	delete(cmd.Annotations, cobra.CommandDisplayNameAnnotation)
	root.AddCommand(cmd)
	golden.File(t, filepath.Join("..", "..", "..", "docs", "man", "toolguard-proxy.1"), manpage.All(root)["toolguard-proxy.1"])
}

// TestQuarter: bodies get a quarter of the memory, which is the least that is known.
func TestQuarter(t *testing.T) {
	t.Parallel()
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for _, tt := range []struct {
		cgroup, system memlimit.Provider
		want           int64
	}{
		{memlimit.Limit(512 << 20), memlimit.Limit(16 << 30), 128 << 20},
		{memlimit.Limit(1 << 40), memlimit.Limit(16 << 30), 4 << 30},
		{none, memlimit.Limit(16 << 30), 4 << 30},
		{memlimit.Limit(512 << 20), none, 128 << 20},
		{memlimit.Limit(0), memlimit.Limit(math.MaxUint64), 256 << 20},
		{none, none, 256 << 20},
	} {
		if got := quarter(tt.cgroup, tt.system); got != tt.want {
			t.Errorf("%d, want %d", got, tt.want)
		}
	}
}

// TestConfig: the flags and their defaults reach the server.
func TestConfig(t *testing.T) {
	t.Parallel()
	type values struct {
		Memory  int64
		Time    time.Duration
		Origins []string
	}
	for args, want := range map[string]values{
		"": {quarter(memlimit.FromCgroup, memlimit.FromSystem), 30 * time.Second, nil},
		"--max-memory 7MiB --read-timeout 5s --allow-origin APP://a --allow-origin tauri://localhost/": {7 << 20, 5 * time.Second, []string{"app://a", "tauri://localhost"}},
	} {
		f := &flags{maxBody: 1, maxUnpacked: 1}
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.define(set)
		if err := set.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		c, err := f.config(slog.New(slog.DiscardHandler))
		if diff := cmp.Diff(want, values{c.MaxMemory, c.ReadTimeout, c.Origins}); diff != "" || err != nil || c.MaxMemory < 1<<20 {
			t.Errorf("%s: %v (-want +got):\n%s", args, err, diff)
		}
	}
}

// TestVersion: the program says its version, by which toolguard knows that they belong together.
func TestVersion(t *testing.T) {
	t.Parallel()
	if code, stdout, stderr := run(t, "--version"); code != exitOK || stdout != "toolguard-proxy 1.2.3\n" || stderr != "" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	for linked, want := range map[string]string{"v1.2.3": "1.2.3", "1.2.3": "1.2.3", "dev": "dev"} {
		if got := Version(linked); got != want {
			t.Errorf("%s is %s, want %s", linked, got, want)
		}
	}
}

// TestHelp: all flags are in the help, which fits 100 columns.
func TestHelp(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, "--help")
	if code != exitOK || stderr != "" || !strings.HasPrefix(stdout, "Repair requests on their way to a provider.\n\nUsage:\n  toolguard proxy [flags]\n") {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	for line := range strings.Lines(stdout) {
		if len(line) > 101 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	cmd := New("dev", io.Discard, io.Discard)
	for _, name := range usage.Visible(cmd) {
		if !strings.Contains(stdout, "--"+name) {
			t.Errorf("no --%s in\n%s", name, stdout)
		}
	}
	code, short, _ := run(t, "-h")
	if code != exitOK || !strings.HasSuffix(short, "\ntoolguard proxy --help explains the command with all flags.\n") || strings.Contains(short, "--max-body") {
		t.Errorf("-h: %d\n%s", code, short)
	}
	if cmd.Flags().Lookup("target") != cmd.Flags().Lookup("provider") {
		t.Error("--target is not --provider")
	}
	for _, name := range []string{"--upstream where", "--on-error what", "--record directory", "toolguard proxy [flags]"} {
		if !strings.Contains(stdout, name) {
			t.Errorf("no %s in\n%s", name, stdout)
		}
	}
}

// TestRun: the program serves until its context ends, and then exits with 0.
func TestRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	code := make(chan int)
	go func() {
		code <- Run(ctx, []string{"--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--upstream", "openai", "--upstream", "/a=anthropic", "--dry-run"}, "1", &out, write)
		write.Close()
	}()
	b := make([]byte, 1000)
	n, err := read.Read(b)
	if err != nil || !bytes.Contains(b[:n], []byte(`"level":"INFO","msg":"listening","address":"127.0.0.1:`)) ||
		!bytes.Contains(b[:n], []byte(`"upstreams":["/a/ -> https://api.anthropic.com","/ -> https://api.openai.com"],"metrics":`)) || !bytes.HasSuffix(b[:n], []byte(`,"dry_run":true}`+"\n")) || !bytes.Contains(b[:n], []byte(`,"metrics":"127.0.0.1:`)) {
		t.Errorf("%q, %v", b[:n], err)
	}
	cancel()
	if got := <-code; got != exitOK || out.Len() > 0 {
		t.Errorf("exit code %d, %q", got, &out)
	}
}

// TestForeignLog: what an upstream sends unasked, such as the end of an answer that is longer than it
// said, does not reach the log, whoever writes it.
func TestForeignLog(t *testing.T) {
	var foreign bytes.Buffer
	log.SetOutput(&foreign)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	closed := make(chan error, 1)
	go func() {
		c, err := listener.Accept()
		if err != nil {
			closed <- err
			return
		}
		defer c.Close()
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			closed <- err
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokCANARY")
		_, err = io.Copy(io.Discard, c) // the proxy closes the connection
		closed <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	code := make(chan int, 1)
	go func() {
		code <- Run(ctx, []string{"--listen", "127.0.0.1:0", "--upstream", "http://" + listener.Addr().String()}, "1", io.Discard, write)
		write.Close()
	}()
	lines := bufio.NewReader(read)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var started struct{ Address string }
	if err := json.Unmarshal([]byte(line), &started); err != nil {
		t.Fatal(err)
	}
	res, err := http.Get("http://" + started.Address + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "ok" {
		t.Errorf("%q, %v", text, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	cancel()
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Error(err)
	}
	if got := <-code; got != exitOK || strings.Contains(string(rest), "CANARY") || foreign.Len() > 0 {
		t.Errorf("exit code %d, log %q, the log of the library %q", got, rest, &foreign)
	}
}
