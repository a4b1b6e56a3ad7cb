package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/provider"
)

// calls returns what each client can do with a history, as driver.mjs does it.
func calls(api string) []string {
	switch api {
	case "anthropic":
		return []string{"create", "create, streamed", "stream", "beta create", "countTokens"}
	case "openai-responses":
		return []string{"create", "create, streamed", "stream", "compact", "countTokens"}
	case "gemini", "gemini-3":
		return []string{"generateContent", "generateContentStream", "countTokens", "chat"}
	}
	return []string{"create", "create, streamed", "stream"}
}

// client returns the client of an API.
func client(api string) string {
	switch api {
	case "kimi":
		return "openai-chat"
	case "gemini-3":
		return "gemini"
	}
	return api
}

// target returns the profile of an API.
func target(api string) string {
	if api == "openai-chat" {
		return "openai"
	}
	return api
}

// itself returns the error with which a client refuses a history before it sends it, or "".
func itself(call string, h provider.History) string {
	if call == "chat" && strings.HasPrefix(h.Name, "the role of another provider") {
		return "Role must be user or model, but got assistant."
	}
	return ""
}

// refusal returns why an API refuses what a client sends of a history.
func refusal(call string, h provider.History) string {
	// The chat of @google/genai leaves out contents of the model with an empty part, and so
	// parts the response in the next content from its call.
	if call == "chat" && h.Name == "an empty part" {
		return "Please ensure that function response turn comes immediately after a function call turn."
	}
	return h.Refusal
}

// A job is a request to driver.mjs.
type job struct {
	ID     int             `json:"id"`
	Client string          `json:"client"`
	Call   string          `json:"call"`
	Base   string          `json:"base"`
	Body   json.RawMessage `json:"body"`
	Pack   string          `json:"pack,omitempty"`
}

// An outcome is what a client got.
type outcome struct {
	ID    int
	Bytes int
	Done  bool

	Requests int
	Status   int
	Headers  map[string]string
	Raw      []byte          // the answer as it came
	Value    json.RawMessage // what the client made of it
	Error    *struct {
		Name, Message string
		Status        int
	}
}

// A bench has all that a test needs: the SDKs in a process of node, an upstream, and proxies.
type bench struct {
	proxy    string // the program
	in       io.Writer
	out      *bufio.Scanner
	jobs     int
	bytes    atomic.Int64
	upstream *upstream
	// zstd says that this version of node packs with zstd.
	zstd bool
}

// newBench starts the clients. Without them, the test is skipped.
func newBench(t *testing.T) *bench {
	t.Helper()
	dir, proxy := os.Getenv("TOOLGUARD_CLIENTS"), os.Getenv("TOOLGUARD_PROXY")
	if dir == "" || proxy == "" {
		t.Skip("TOOLGUARD_CLIENTS is not set to a directory with the SDKs, or TOOLGUARD_PROXY not to toolguard-proxy: test.sh sets both")
	}
	b := &bench{proxy: proxy}
	b.upstream = newUpstream(t, func() int { return int(b.bytes.Load()) })
	node := "node"
	if own, err := filepath.Glob(filepath.Join(dir, "node_modules", "node-linux-*", "bin", "node")); err == nil && len(own) == 1 {
		node = own[0]
	}
	out, err := exec.Command(node, "-p", "typeof require('zlib').zstdCompressSync").Output()
	if err != nil {
		t.Fatal(err)
	}
	b.zstd = strings.TrimSpace(string(out)) == "function"
	cmd := exec.Command(node, "driver.mjs", dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("driver.mjs: %v", err)
		}
		if stderr.Len() > 0 {
			t.Errorf("driver.mjs: %s", &stderr)
		}
	})
	b.in, b.out = in, bufio.NewScanner(pipe)
	b.out.Buffer(nil, 16<<20)
	return b
}

// do makes a request with a client.
func (b *bench) do(t *testing.T, j job) outcome {
	t.Helper()
	b.jobs++
	b.bytes.Store(0)
	j.ID = b.jobs
	line, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	for b.out.Scan() {
		var o outcome
		if err := json.Unmarshal(b.out.Bytes(), &o); err != nil {
			t.Fatalf("driver.mjs: %v: %s", err, b.out.Bytes())
		}
		if o.ID != j.ID {
			t.Fatalf("driver.mjs: expected the outcome of job %d: %s", j.ID, b.out.Bytes())
		}
		if o.Done {
			return o
		}
		b.bytes.Store(int64(o.Bytes))
	}
	t.Fatalf("driver.mjs ended: %v", b.out.Err())
	return outcome{}
}

// start starts a proxy before the upstream, with a path for each API, and returns its address.
func (b *bench) start(t *testing.T, flags ...string) string {
	t.Helper()
	address := free(t)
	args := append([]string{"--listen", address}, flags...)
	for _, a := range provider.APIs() {
		args = append(args, "--upstream", fmt.Sprintf("/%[1]s=%[2]s/%[1]s,provider=%[3]s", a.Name, b.upstream.URL, target(a.Name)))
	}
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, b.proxy, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait() //nolint:errcheck // it is interrupted at the end
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if t.Failed() {
			t.Logf("the log of the proxy:\n%s", &log)
		}
	})
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		res, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			res.Body.Close()
			return "http://" + address
		}
		select {
		case <-ended:
			t.Fatalf("%s %q ended", b.proxy, args)
		default:
		}
		if time.Now().After(limit) {
			t.Fatalf("%s %q is not there: %v", b.proxy, args, err)
		}
	}
}

// free returns an address that nothing listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// send makes one request, and returns what the client got and what the upstream received.
func (b *bench) send(t *testing.T, base, call, pack string, h provider.History) (outcome, []request) {
	t.Helper()
	body, err := h.Request()
	if err != nil {
		t.Fatal(err)
	}
	o := b.do(t, job{Client: client(h.API), Call: call, Base: base + "/" + h.API, Body: body, Pack: pack})
	return o, b.upstream.take(t)
}

// one returns the only request that the upstream received.
func one(t *testing.T, got []request) request {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("the upstream received %d requests, want 1", len(got))
	}
	return got[0]
}

// accepted fails the test if the client did not get the whole answer of the upstream.
func accepted(t *testing.T, o outcome, r request) {
	t.Helper()
	if o.Error != nil {
		t.Fatalf("the request is refused: %+v\n%s", *o.Error, r.body)
	}
	if o.Status != http.StatusOK || o.Requests != 1 {
		t.Errorf("status %d after %d requests", o.Status, o.Requests)
	}
	if diff := cmp.Diff(string(r.answer), string(o.Raw)); diff != "" {
		t.Errorf("the answer has changed (-sent +received)\n%s", diff)
	}
}

// refused fails the test if the client did not get a refusal with a message.
func refused(t *testing.T, o outcome, message string) {
	t.Helper()
	if o.Error == nil {
		t.Fatalf("the request is accepted, want %q", message)
	}
	// The SDKs show the message in their own ways: some quote the whole answer.
	quoted, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	// Go escapes < and > in JSON, which is the same text.
	if o.Error.Status != http.StatusBadRequest || !strings.Contains(o.Error.Message, message) && !strings.Contains(o.Error.Message, strings.Trim(string(quoted), `"`)) {
		t.Errorf("refused with %d %q\nwant 400 %q", o.Error.Status, o.Error.Message, message)
	}
}

// words fails the test if a request has lost a word.
func words(t *testing.T, was, is []byte) {
	t.Helper()
	before, err := provider.Words(was)
	if err != nil {
		t.Fatal(err)
	}
	after, err := provider.Words(is)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("words are lost (-was +is)\n%s\n%s", diff, is)
	}
}

// sealed fails the test if a block with reasoning that only the API reads is not in a request as
// it was.
func sealed(t *testing.T, was, is []byte) {
	t.Helper()
	find := func(body []byte) (out []any) {
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatal(err)
		}
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					walk(e)
				}
			case map[string]any:
				if v["signature"] != nil || v["thoughtSignature"] != nil || v["encrypted_content"] != nil {
					out = append(out, v)
				}
				for _, e := range v {
					walk(e)
				}
			}
		}
		walk(v)
		return out
	}
	kept := find(is)
	for _, v := range find(was) {
		found := false
		for _, k := range kept {
			found = found || reflect.DeepEqual(v, k)
		}
		if !found {
			t.Errorf("reasoning has changed: %v\n%s", v, is)
		}
	}
}

// TestClients sends every history in every way that the clients have, first to the upstream and
// then through the proxy. The upstream accepts the sound ones, which arrive as the same bytes
// with the same headers, and refuses all others, as the proxy would have no work else. Through
// the proxy, it accepts them with all their words, except for those that cannot be repaired
// without removing something: their refusal reaches the client. Each part of an answer
// reaches the client before the next one is sent.
func TestClients(t *testing.T) {
	b := newBench(t)
	proxy := b.start(t)
	sound, healed, alone, left := 0, 0, 0, 0
	for _, h := range provider.Histories() {
		for _, call := range calls(h.API) {
			t.Run(h.API+"/"+call+"/"+h.Name, func(t *testing.T) {
				direct, got := b.send(t, b.upstream.URL, call, "", h)
				if own := itself(call, h); own != "" {
					if len(got) != 0 || direct.Error == nil || direct.Error.Message != own {
						t.Errorf("the client sent %d requests, and said %+v, want %q", len(got), direct.Error, own)
					}
					alone++
					return
				}
				before := one(t, got)
				through, got := b.send(t, proxy, call, "", h)
				after := one(t, got)
				if before.path != after.path {
					t.Errorf("the path was %s and is %s", before.path, after.path)
				}
				want := refusal(call, h)
				if want == "" {
					accepted(t, direct, before)
					accepted(t, through, after)
					same(t, direct, through, before, after)
					sound++
					return
				}
				refused(t, direct, want)
				if h.Unsafe {
					refused(t, through, want)
					left++
					return
				}
				accepted(t, through, after)
				words(t, before.body, after.body)
				sealed(t, before.body, after.body)
				if !strings.HasPrefix(through.Headers["x-toolguard"], "repaired=") {
					t.Errorf("the header of the answer is %q, want repaired=", through.Headers["x-toolguard"])
				}
				healed++
			})
		}
	}
	t.Logf("%d requests with sound histories arrive as they are; %d broken ones are refused without the proxy and accepted with it; "+
		"%d need --unsafe; %d are refused by the client itself", sound, healed, left, alone)
}

// dates matches the time of an answer, which can differ between two of them.
var dates = regexp.MustCompile(`"date":"[^"]*",?`)

// same fails the test if a request or its answer is another one through the proxy.
func same(t *testing.T, direct, through outcome, before, after request) {
	t.Helper()
	if !bytes.Equal(before.sent, after.sent) {
		t.Errorf("the body was\n%q\nand is\n%q", before.sent, after.sent)
	}
	// Each hop keeps its own connection.
	delete(before.header, "Connection")
	delete(after.header, "Connection")
	if diff := cmp.Diff(before.header, after.header); diff != "" {
		t.Errorf("the headers of the request have changed (-direct +through)\n%s", diff)
	}
	for _, o := range []outcome{direct, through} {
		delete(o.Headers, "date")
		delete(o.Headers, "connection")
		delete(o.Headers, "keep-alive")
	}
	if diff := cmp.Diff(direct.Headers, through.Headers); diff != "" {
		t.Errorf("the headers of the answer have changed (-direct +through)\n%s", diff)
	}
	// The value of Google's SDK has the headers of the answer in it.
	if !bytes.Equal(dates.ReplaceAll(direct.Value, nil), dates.ReplaceAll(through.Value, nil)) {
		t.Errorf("the client made of the answer\n%s\nand now makes\n%s", direct.Value, through.Value)
	}
}

// TestUnsafe: what cannot be repaired without removing something is accepted if the proxy may
// remove it, and refused in the words of the proxy, in the shape of the API, if it rejects what
// is left.
func TestUnsafe(t *testing.T) {
	b := newBench(t)
	reject := b.start(t, "--on-error", "reject")
	for _, h := range provider.Histories() {
		if !h.Unsafe {
			continue
		}
		flags := []string{"--unsafe"}
		if h.Strategy != "" {
			flags = append(flags, "--strategy", h.Strategy)
		}
		remove := b.start(t, flags...)
		for _, call := range calls(h.API) {
			t.Run(h.API+"/"+call+"/"+h.Name, func(t *testing.T) {
				o, got := b.send(t, remove, call, "", h)
				accepted(t, o, one(t, got))

				o, got = b.send(t, reject, call, "", h)
				if len(got) != 0 || o.Error == nil || o.Error.Status != http.StatusBadRequest || o.Headers["x-toolguard"] != "rejected" {
					t.Fatalf("the upstream received %d requests, and the client got %+v with %v", len(got), o.Error, o.Headers)
				}
				if name := map[string]string{"gemini": "ApiError"}[client(h.API)]; name == "" && o.Error.Name != "BadRequestError" || name != "" && o.Error.Name != name {
					t.Errorf("the error is a %s", o.Error.Name)
				}
				if !strings.Contains(o.Error.Message, "toolguard") || strings.Contains(o.Error.Message, "undefined") {
					t.Errorf("the message is %q", o.Error.Message)
				}
			})
		}
	}
}

// TestDryRun: a proxy that only reports sends the bytes that came, and the client gets the refusal
// of the upstream.
func TestDryRun(t *testing.T) {
	b := newBench(t)
	proxy := b.start(t, "--dry-run")
	n := 0
	for _, h := range provider.Histories() {
		if h.Refusal == "" {
			continue
		}
		call := calls(h.API)[0]
		t.Run(h.API+"/"+h.Name, func(t *testing.T) {
			direct, got := b.send(t, b.upstream.URL, call, "", h)
			before := one(t, got)
			o, got := b.send(t, proxy, call, "", h)
			refused(t, direct, h.Refusal)
			refused(t, o, h.Refusal)
			if after := one(t, got); !bytes.Equal(before.sent, after.sent) {
				t.Errorf("the body was\n%q\nand is\n%q", before.sent, after.sent)
			}
			n++
		})
	}
	t.Logf("%d broken histories arrive as they are", n)
}

// TestPacked: a packed request arrives as the same bytes if it is sound, and plain if it was
// repaired.
func TestPacked(t *testing.T) {
	b := newBench(t)
	proxy := b.start(t)
	counts := map[string]int{}
	for _, pack := range []string{"gzip", "zstd"} {
		if pack == "zstd" && !b.zstd {
			t.Error("this version of node cannot pack with zstd; 22.15 can")
			continue
		}
		for _, h := range provider.Histories() {
			if h.Unsafe {
				continue
			}
			call := calls(h.API)[0]
			t.Run(pack+"/"+h.API+"/"+h.Name, func(t *testing.T) {
				direct, got := b.send(t, b.upstream.URL, call, pack, h)
				before := one(t, got)
				if before.header.Get("Content-Encoding") != pack || bytes.Equal(before.sent, before.body) {
					t.Fatal("the client did not pack the request")
				}
				through, got := b.send(t, proxy, call, pack, h)
				after := one(t, got)
				accepted(t, through, after)
				counts[pack]++
				if h.Refusal == "" {
					accepted(t, direct, before)
					same(t, direct, through, before, after)
					return
				}
				refused(t, direct, h.Refusal)
				if e, ok := after.header["Content-Encoding"]; ok {
					t.Errorf("a repaired request has the Content-Encoding %q", e)
				}
				words(t, before.body, after.body)
			})
		}
	}
	t.Logf("%d requests packed with gzip, %d with zstd", counts["gzip"], counts["zstd"])
}

// TestUnread: requests without a history arrive as they are, and so do their answers. Streams of
// such requests are repeated, because what cuts them off is a race.
func TestUnread(t *testing.T) {
	b := newBench(t)
	proxy := b.start(t)
	n := 0
	for _, c := range []struct {
		api, call string
		times     int
	}{
		{"openai-chat", "completions, streamed", 100},
		{"openai-chat", "embeddings", 1},
		{"openai-chat", "models", 1},
		{"openai-chat", "upload", 1},
		{"openai-chat", "batch", 1},
		{"anthropic", "batch", 1},
		{"anthropic", "models", 1},
		{"gemini", "embedContent", 1},
		{"gemini", "models", 1},
	} {
		t.Run(c.api+"/"+c.call, func(t *testing.T) {
			h := provider.History{API: c.api, Messages: "[]"}
			direct, got := b.send(t, b.upstream.URL, c.call, "", h)
			before := one(t, got)
			accepted(t, direct, before)
			for range c.times {
				through, got := b.send(t, proxy, c.call, "", h)
				after := one(t, got)
				accepted(t, through, after)
				same(t, direct, through, boundary(before), boundary(after))
				if t.Failed() {
					return
				}
				n++
			}
		})
	}
	t.Logf("%d requests without a history, and their answers, arrive as they are", n)
}

// boundary returns a request without the random text between the parts of its body.
func boundary(r request) request {
	_, random, found := strings.Cut(r.header.Get("Content-Type"), "boundary=")
	if found {
		r.sent = bytes.ReplaceAll(r.sent, []byte(random), []byte("boundary"))
		r.header = r.header.Clone()
		r.header.Set("Content-Type", "multipart/form-data; boundary=boundary")
	}
	return r
}
