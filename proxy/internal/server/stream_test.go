package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// open sends a request to an address and returns its response when the header is there.
func open(ctx context.Context, t *testing.T, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestEvents: each event of a stream arrives before the upstream sends the next one.
func TestEvents(t *testing.T) {
	t.Parallel()
	next := make(chan bool)
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			if !<-next {
				return
			}
			fmt.Fprintf(rw, "event: e%d\ndata: {}\n\n", i)
			_ = http.NewResponseController(rw).Flush()
		}
	})
	go func() { next <- true }()
	res := open(t.Context(), t, w.url+histories[0].path, histories[0].broken)
	defer res.Body.Close()
	if got := res.Header.Get("X-Toolguard"); got != "repaired=1" {
		t.Errorf("X-Toolguard is %q", got)
	}
	in := bufio.NewReader(res.Body)
	for i := range 5 {
		var event strings.Builder
		for range 3 {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			event.WriteString(line)
		}
		if want := fmt.Sprintf("event: e%d\ndata: {}\n\n", i); event.String() != want {
			t.Errorf("event %d is %q", i, event.String())
		}
		if i < 4 {
			next <- true
		}
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q, %v", rest, err)
	}
}

// TestAnswers: what the upstream answers arrives as it is.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 201, 204, 301, 400, 401, 413, 429, 500, 503, 529} {
		w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "7")
			rw.Header().Set("Location", "/elsewhere")
			rw.Header().Set("Content-Encoding", "br")
			rw.WriteHeader(status)
			if status != 204 {
				_, _ = io.WriteString(rw, "\x1b\x00raw")
			}
		})
		noFollow := *client
		noFollow.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res, err := noFollow.Post(w.url+"/v1/messages", "", strings.NewReader(histories[0].whole))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		want := "\x1b\x00raw"
		if status == 204 {
			want = ""
		}
		if err != nil || res.StatusCode != status || string(text) != want || res.Header.Get("Retry-After") != "7" || res.Header.Get("Content-Encoding") != "br" || res.Header.Get("Location") != "/elsewhere" {
			t.Errorf("%d: %s %q %v %v", status, res.Status, text, res.Header, err)
		}
		w.last()
	}
}

// raw listens, and answers each connection with a function.
func raw(t *testing.T, answer func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				// The kernel resets a connection that is closed with unread data.
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, r.Body); err == nil {
					answer(c)
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// TestNoAnswer: an upstream that sends no response is a 502 in the shape of the provider.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	garbage := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, "GARBAGE-canary\r\n\r\n") })
	strange := httptest.NewUnstartedServer(nil)
	strange.Config.ErrorLog = log.New(io.Discard, "", 0)
	strange.StartTLS()
	defer strange.Close()
	silent := raw(t, func(net.Conn) {})
	w := newWorld(t, nil)
	for _, tt := range []struct{ address, reason, says string }{
		{"http://" + closed.Addr().String(), "refused", "the upstream refuses connections"},
		{"http://" + garbage, "other", "the upstream sent no valid answer"},
		{"http://" + silent, "closed", "the upstream closed the connection without an answer"},
		{strange.URL, "tls", "the upstream has no valid certificate"},
		{"http://nowhere.invalid", "dns", "the name of the upstream cannot be resolved"},
	} {
		host := tt.address[strings.Index(tt.address, "//")+2:]
		w.url = w.start(tt.address)
		message := "toolguard proxy: " + host + ": " + tt.says
		res, text := w.post(histories[0].path, histories[0].broken)
		if want := fmt.Sprintf(`{"type":"error","error":{"type":"api_error","message":%q}}`, message); res.StatusCode != http.StatusBadGateway || text != want || res.Header.Get("X-Toolguard") != "repaired=1" {
			t.Errorf("%s: %s %s", tt.reason, res.Status, text)
		}
		res, text = w.send(http.MethodGet, "/v1/models", nil)
		if want := fmt.Sprintf(`{"error":{"message":%q,"type":"server_error","param":null,"code":"upstream_%s"}}`, message, tt.reason); res.StatusCode != http.StatusBadGateway || text != want {
			t.Errorf("%s: %s %s", tt.reason, res.Status, text)
		}
		lines := w.log.lines(t)
		want := map[string]any{"level": "WARN", "msg": "no response", "upstream": host, "endpoint": "other", "reason": tt.reason}
		if diff := cmp.Diff(want, lines[len(lines)-1]); diff != "" {
			t.Errorf("%s: log (-want +got):\n%s", tt.reason, diff)
		}
	}
	if strings.Contains(w.log.String(), "canary") {
		t.Errorf("the log quotes the upstream: %s", w.log)
	}
}

// TestCutAnswer: if a response breaks off, so does the one to the client, and nothing looks like its
// end.
func TestCutAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for name, head := range map[string]string{"length": "Content-Length: 100\r\n", "chunks": "Transfer-Encoding: chunked\r\n"} {
		address := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"+head+"\r\n5\r\nhello\r\n") })
		w.url = w.start("http://" + address)
		res := open(t.Context(), t, w.url+"/v1/messages", histories[0].whole)
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	eventually(t, "two responses are cut in the log", func() bool {
		return strings.Count(w.log.String(), `"msg":"no response"`) == 2 && strings.Count(w.log.String(), `"reason":"cut"`) == 2
	})
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 500 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("never: %s", what)
}

// TestClientLeaves: a client that goes away ends the request to the upstream: while the upstream is
// silent, while it streams, and while the client sends.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	var ended atomic.Int32
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "completions") {
			rw.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(rw).Flush()
		}
		<-r.Context().Done()
		ended.Add(1)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			w.mu.Lock()
			n := len(w.seen)
			w.mu.Unlock()
			if n > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+histories[0].path, strings.NewReader(histories[0].broken))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := client.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", res, err)
	}
	eventually(t, "the silent upstream is left", func() bool { return ended.Load() == 1 })

	ctx, cancel = context.WithCancel(t.Context())
	res := open(ctx, t, w.url+histories[1].path, histories[1].broken)
	cancel()
	res.Body.Close()
	eventually(t, "the streaming upstream is left", func() bool { return ended.Load() == 2 })

	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
	c.Close()
	eventually(t, "three clients are counted", func() bool {
		got := w.scrape()
		return got[`toolguard_proxy_upstream_failures_total{reason="client",upstream="UP"} 2`] && got[`toolguard_proxy_rejected_total{reason="client"} 1`] && !got[`toolguard_proxy_active_requests 1`]
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.seen) != 2 {
		t.Errorf("%d requests reached the upstream, want 2", len(w.seen))
	}
}

// TestRetry: a request on a connection that the upstream has just closed is sent again with its body.
func TestRetry(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	bodies := make(chan string, 10)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				b, _ := io.ReadAll(r.Body)
				bodies <- string(b)
				// The connection looks as if it stays open.
				if requests.Add(1) == 1 {
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
			}()
		}
	}()
	w := newWorld(t, nil)
	w.url = w.start("http://" + listener.Addr().String())
	for range 5 {
		res, text := w.post(histories[0].path, histories[0].broken, "Idempotency-Key", "1")
		if res.StatusCode != http.StatusOK || text != "ok" {
			t.Fatalf("%s %s", res.Status, text)
		}
		if got := <-bodies; got != histories[0].repaired {
			t.Errorf("the upstream got %q", got)
		}
	}
}

// TestBombs: a small body that unpacks to a large one passes as it came, for the reason that comes first.
func TestBombs(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 8<<20)
	for reason, limit := range map[string]int64{"unpacked": 1 << 20, "ratio": 64 << 20} {
		w := newWorld(t, nil, func(c *Config) { c.MaxUnpacked = limit })
		for encoding, pack := range packers {
			if encoding == "" {
				continue
			}
			for _, tt := range []struct{ bomb, encoding, reason string }{
				{pack(zeros), encoding, reason},
				{pack(pack(zeros)), encoding, "json"}, // what is inside is packed
				{pack(zeros), "", "json"},
			} {
				w.post("/v1/messages", tt.bomb, encoded(tt.encoding)...)
				if got := w.last(); got.Body != tt.bomb {
					t.Errorf("%s, %s: %d bytes became %d", encoding, tt.reason, len(tt.bomb), len(got.Body))
				}
				if lines := w.log.lines(t); lines[len(lines)-1]["reason"] != tt.reason {
					t.Errorf("%s: log: %v, want %s", encoding, lines[len(lines)-1], tt.reason)
				}
			}
		}
	}
}

// TestManyStreams: of 200 streams at a time, half are cut off by their clients, and the others end
// well.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	const streams = 200
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		for i := range 10 {
			fmt.Fprintf(rw, "data: %d\n\n", i)
			_ = http.NewResponseController(rw).Flush()
			if i == 1 && r.Header.Get("X-Cut") != "" {
				<-r.Context().Done()
				return
			}
		}
	})
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			h := histories[i%len(histories)]
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+h.path, strings.NewReader(h.broken))
			if err != nil {
				t.Error(err)
				return
			}
			if i%2 == 0 {
				r.Header.Set("X-Cut", "1")
			}
			res, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if i%2 == 0 {
				if _, err := io.ReadFull(res.Body, make([]byte, 9)); err != nil {
					t.Error(err)
				}
				return
			}
			text, err := io.ReadAll(res.Body)
			if err != nil || len(text) != 90 {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		})
	}
	all.Wait()
	eventually(t, "no request is active", func() bool {
		for line := range w.scrape() {
			if strings.HasPrefix(line, "toolguard_proxy_active_requests") {
				return false
			}
		}
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	got := map[string]int{}
	for _, r := range w.seen {
		got[r.Body]++
	}
	want := map[string]int{}
	for i := range streams {
		want[histories[i%len(histories)].repaired]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the upstream got (-want +got):\n%s", diff)
	}
}

// TestTurns: bodies that wait too long for their turn pass.
func TestTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) { c.Timeout = time.Nanosecond })
	w.post(histories[0].path, histories[0].broken)
	if got := w.last(); got.Body != histories[0].broken {
		t.Errorf("%+v", got)
	}
	if got := w.log.lines(t); got[0]["reason"] != "timeout" {
		t.Errorf("log: %v", got)
	}
}

// TestWebSocket: an upgraded connection passes in both directions, and is logged once.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	address := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(c, c)
	})
	w.url = w.start("http://" + address)
	for i := range 3 {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n")
		in := bufio.NewReader(c)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%v %v", res, err)
		}
		if _, err := io.WriteString(c, "frame "+strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		back := make([]byte, 7)
		if _, err := io.ReadFull(in, back); err != nil || string(back) != "frame "+strconv.Itoa(i) {
			t.Errorf("%q, %v", back, err)
		}
		c.Close()
	}
	if n := strings.Count(w.log.String(), `"reason":"upgrade"`); n != 1 {
		t.Errorf("said %d times, want once: %s", n, w.log)
	}
}
