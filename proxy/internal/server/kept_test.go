package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// TestStreamsKeepNoBodies: while responses stream, the bodies of their requests are no longer in
// memory.
func TestStreamsKeepNoBodies(t *testing.T) { // not parallel: it measures memory
	streams, size := sample.Size(200, 30, 10), 1<<20
	end := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n < int64(size) {
			t.Errorf("%d bytes, %v", n, err)
		}
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-end
	}))
	defer api.Close()
	text := strings.Replace(histories[1].broken, `"q"`, `"`+strings.Repeat("q", size)+`"`, 1)
	w := &world{t: t, log: &logBuffer{}}
	w.url = w.start(api.URL)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the pools
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	answers := make([]*http.Response, streams)
	for i := range answers {
		answers[i] = open(t.Context(), t, w.url+histories[1].path, text)
	}
	if got, limit := heap()-before, int64(streams*size/3); got > limit {
		t.Errorf("%d streams hold %d KB, want at most %d KB", streams, got>>10, limit>>10)
	}
	close(end)
	for _, res := range answers {
		if got, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(got), "data: 1\n\n") && len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
		res.Body.Close()
	}
}

// TestKeptBody: a body can be sent again until it is released.
func TestKeptBody(t *testing.T) {
	t.Parallel()
	k := &keptBody{b: []byte("body")}
	for range 2 {
		r, err := k.open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != "body" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		r.Close()
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%d, %v", n, err)
		}
	}
	k.release()
	if _, err := k.open(); !errors.Is(err, errReleased) {
		t.Error(err)
	}
}

// TestLargeRetry: a large body is sent again too, if the upstream closes the connection that was idle.
func TestLargeRetry(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(rw, "ok")
	})
	text := strings.Replace(histories[0].broken, `"q"`, `"`+strings.Repeat("q", 1<<20)+`"`, 1)
	want := strings.Replace(histories[0].repaired, `"q"`, `"`+strings.Repeat("q", 1<<20)+`"`, 1)
	for range 2 {
		if res, got := w.post(histories[0].path, text, "Idempotency-Key", "1"); res.StatusCode != http.StatusOK || got != "ok" {
			t.Errorf("%s %s", res.Status, got)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) != 3 {
		t.Errorf("%d requests, want 3", len(w.seen))
	}
	for _, r := range w.seen {
		if r.Body != want {
			t.Errorf("the upstream got %d bytes, want %d", len(r.Body), len(want))
		}
	}
}

// TestRefusedAnswers: the log has the status of each answer that refuses a request, and of those to paths
// that the upstream does not know.
func TestRefusedAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		status := http.StatusOK
		if _, err := fmt.Sscan(r.Header.Get("X-Status"), &status); err != nil {
			t.Error(err)
		}
		rw.WriteHeader(status)
	})
	host := strings.TrimPrefix(w.upstream.URL, "http://")
	for _, tt := range []struct {
		method, path string
		status       int
		endpoint     string // "" if it is not in the log
	}{
		{"POST", "/v1/messages", 400, "messages"},
		{"POST", "/v1/messages", 429, "messages"},
		{"POST", "/v1/messages", 529, "messages"},
		{"POST", "/v1/messages", 200, ""},
		{"POST", "/v1/chat/completions", 404, "chat"},
		{"POST", "/v1/v1", 404, "other"},
		{"POST", "/v1/v1", 405, "other"},
		{"POST", "/v1/files", 400, ""},
		{"GET", "/v1/models", 404, ""},
	} {
		before := w.log.String()
		w.send(tt.method, tt.path, strings.NewReader(histories[0].whole), "X-Status", strconv.Itoa(tt.status))
		got := strings.TrimPrefix(w.log.String(), before)
		_, got, _ = strings.Cut(got, `"level":"WARN","msg":"response",`)
		want := ""
		if tt.endpoint != "" {
			want = fmt.Sprintf(`"upstream":%q,"endpoint":%q,"status":%d}`+"\n", host, tt.endpoint, tt.status)
		}
		if got != want {
			t.Errorf("%s %s %d: %q, want %q", tt.method, tt.path, tt.status, got, want)
		}
	}
}

// TestUsedAsProxy: a client for which the proxy is set as its HTTP proxy is told what to set instead.
func TestUsedAsProxy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for request, want := range map[string]string{
		"GET http://api.example/v1/models HTTP/1.1\r\nHost: api.example\r\n\r\n": `"toolguard proxy: the request is for another host: set the base URL of the client, not its proxy"`,
		"CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n":      `"toolguard proxy: CONNECT is not supported: set the base URL of the client, not its proxy"`,
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, request)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%q: %s, %v", request, got, err)
		}
		c.Close()
	}
	w.none()
}
