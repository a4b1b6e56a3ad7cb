package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/proxy/internal/metrics"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// A history is a request to an endpoint, whole and broken, and what the broken one becomes.
type history struct {
	path, dialect           string
	whole, broken, repaired string
}

const placeholder = "[toolguard] No result was recorded for this tool call; it may or may not have run."

// histories has each dialect. In each broken request, a call has no result.
var histories = []history{
	{
		"/v1/messages", "anthropic",
		`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"q"}]}`,
		`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}]}`,
		`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + placeholder + `","is_error":true}]}]}`,
	},
	{
		"/v1/chat/completions", "openai-chat",
		`{"model":"gpt-4o","messages":[{"role":"user","content":"q"}]}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}]}`,
		`{"model":"gpt-4o","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"` + placeholder + `"}]}`,
	},
	{
		"/v1/responses", "openai-responses",
		`{"model":"gpt-4o","input":[{"role":"user","content":"q"}]}`,
		`{"model":"gpt-4o","input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}]}`,
		`{"model":"gpt-4o","input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"` + placeholder + `"}]}`,
	},
	{
		"/v1beta/models/gemini-2.5-pro:generateContent", "gemini",
		`{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"error":"` + placeholder + `"}}}]}]}`,
	},
	{
		"/model/anthropic.claude-sonnet-4-5-v1%3A0/converse", "bedrock",
		`{"messages":[{"role":"user","content":[{"text":"q"}]}]}`,
		`{"messages":[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"ls","inputSchema":{"json":{"type":"object"}}}}]}}`,
		`{"messages":[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"` + placeholder + `"}],"status":"error"}}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"ls","inputSchema":{"json":{"type":"object"}}}}]}}`,
	},
}

// A received is a request as it reaches the upstream.
type received struct {
	Method, URI, Host string
	Header            http.Header
	Length            int64
	Body              string
}

// A world is a proxy before an upstream.
type world struct {
	t        *testing.T
	url      string // of the proxy
	upstream *httptest.Server
	log      *logBuffer
	metrics  *metrics.Metrics
	// transport is the way to upstreams, nil for that of the command.
	transport *http.Transport

	mu   sync.Mutex
	seen []received
}

// logBuffer collects a log that is written while it is read.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lines returns the log lines about requests, without their times.
func (l *logBuffer) lines(t *testing.T) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range strings.Lines(l.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		delete(m, "time")
		delete(m, "ms")
		out = append(out, m)
	}
	return out
}

// standard returns the configuration of the command without flags.
func standard(u *upstream.Upstream) Config {
	return Config{
		Upstreams: upstream.Set{u}, MaxBody: 64 << 20, MaxUnpacked: 64 << 20, MaxMemory: 1 << 40, Timeout: time.Minute, ReadTimeout: time.Minute,
		Repairs: []toolguard.Option{
			toolguard.Allow(toolguard.Additive), toolguard.Strategy("orphan-tool-result", "text"), toolguard.AllowFor("orphan-tool-result"),
		},
		Metrics: metrics.New(),
	}
}

// newWorld starts a proxy before an upstream that answers with answer, after change has changed its
// configuration.
func newWorld(t *testing.T, answer http.HandlerFunc, change ...func(*Config)) *world {
	t.Helper()
	w := &world{t: t, log: &logBuffer{}}
	if answer == nil {
		answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"ok":true}`) }
	}
	w.upstream = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			w.mu.Lock()
			w.seen = append(w.seen, received{r.Method, r.RequestURI, r.Host, r.Header, r.ContentLength, string(body)})
			w.mu.Unlock()
		}
		answer(rw, r)
	}))
	t.Cleanup(w.upstream.Close)
	w.url = w.start(w.upstream.URL, change...)
	return w
}

// start starts a proxy before an address and returns its own.
func (w *world) start(address string, change ...func(*Config)) string {
	w.t.Helper()
	url, end := w.run(address, time.Second, change...)
	w.t.Cleanup(func() {
		if err := end(); err != nil {
			w.t.Error(err)
		}
	})
	return url
}

// run is start for tests that end the proxy themselves.
func (w *world) run(address string, drain time.Duration, change ...func(*Config)) (url string, end func() error) {
	w.t.Helper()
	u, err := upstream.Parse(address)
	if err != nil {
		w.t.Fatal(err)
	}
	c := standard(u)
	c.Log = slogTo(w.log)
	for _, f := range change {
		f(&c)
	}
	w.metrics = c.Metrics
	transport := w.transport
	if transport == nil {
		transport = newTransport()
	}
	s, err := newServer(c, transport, drain)
	if err != nil {
		w.t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listener, nil) }()
	return "http://" + listener.Addr().String(), sync.OnceValue(func() error {
		cancel()
		err := <-done
		transport.CloseIdleConnections()
		return err
	})
}

// slogTo returns the log of the command.
func slogTo(w io.Writer) *slog.Logger { return slog.New(slog.NewJSONHandler(w, nil)) }

// last returns the request that reached the upstream last, and forgets all.
func (w *world) last() received {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) != 1 {
		w.t.Fatalf("%d requests reached the upstream, want 1", len(w.seen))
	}
	r := w.seen[0]
	w.seen = nil
	return r
}

// none checks that no request reached the upstream.
func (w *world) none() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) != 0 {
		w.t.Errorf("a request reached the upstream: %+v", w.seen[0])
	}
}

// client sends requests as they are.
var client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}}

// post sends a request and returns the response with its body.
func (w *world) post(path, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	return w.send(http.MethodPost, path, strings.NewReader(body), header...)
}

func (w *world) send(method, path string, body io.Reader, header ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, string(text)
}

// scrape returns the lines of the metrics of the proxy that are not 0.
func (w *world) scrape() map[string]bool {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.metrics.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	out := map[string]bool{}
	for line := range strings.Lines(rec.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "toolguard_proxy_") && !strings.HasSuffix(line, " 0") {
			out[strings.ReplaceAll(line, strings.TrimPrefix(w.upstream.URL, "http://"), "UP")] = true
		}
	}
	return out
}

// packers pack a body for each Content-Encoding that the proxy unpacks.
var packers = map[string]func(string) string{
	"": func(s string) string { return s },
	"gzip": func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(s))
		_ = z.Close()
		return b.String()
	},
	"zstd": func(s string) string {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		return string(z.EncodeAll([]byte(s), nil))
	},
}

// encoded returns the header for an encoding.
func encoded(encoding string) []string {
	if encoding == "" {
		return nil
	}
	return []string{"Content-Encoding", encoding}
}
