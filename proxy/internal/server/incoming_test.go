package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

// TestMalformed: a body that is not framed as HTTP says is the fault of the client, whether it is read or
// streamed, and the upstream gets no whole request.
func TestMalformed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) { c.MaxBody = 10 })
	const (
		malformed = "the body of the request is malformed: its chunks or the fields behind them are not those of HTTP"
		early     = "the body of the request ends too early"
	)
	failures, read := 0, 0
	for _, tt := range []struct{ body, says string }{
		{"zz\r\n{}\r\n0\r\n\r\n", malformed},
		{"-1\r\n{}\r\n0\r\n\r\n", malformed},
		{"0x2\r\n{}\r\n0\r\n\r\n", malformed},
		{"2\r\n{}xx0\r\n\r\n", malformed},
		{"fffffffffffffffff\r\n{}\r\n", malformed},
		{"20\r\n" + strings.Repeat("x", 32) + "\r\nzz\r\n\r\n", malformed}, // behind --max-body
		{"2;" + strings.Repeat("x", 8<<10) + "\r\n{}\r\n0\r\n\r\n", malformed},
		{"2\r\n{}\r\n0\r\nno field\r\n\r\n", malformed},
		{"5\r\n{}", early},
		{"2\r\n{}\r\n", early},
	} {
		for path, form := range map[string]string{
			"/v1/messages": `{"type":"error","error":{"type":"invalid_request_error","message":"toolguard proxy: %s"}}`,
			"/v1/files":    `{"error":{"message":"toolguard proxy: %s","type":"invalid_request_error","param":null,"code":"body"}}`,
		} {
			c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n%s", path, tt.body)
			if tt.says == early {
				if err := c.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if tt.says == early && path == "/v1/files" { // the server takes the client for gone
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s, %.40q: %v", path, tt.body, err)
				}
				c.Close()
				w.none()
				continue
			}
			if err != nil {
				t.Fatalf("%s, %q: %v", path, tt.body, err)
			}
			text, err := io.ReadAll(res.Body)
			if want := fmt.Sprintf(form, tt.says); res.StatusCode != http.StatusBadRequest || string(text) != want || err != nil || !res.Close || res.Header.Get(header) != "rejected" {
				t.Errorf("%s, %.40q: %s %s, %v %v", path, tt.body, res.Status, text, res.Header, err)
			}
			c.Close()
			w.none()
			if tt.says == malformed {
				failures++
			}
			if path == "/v1/messages" && !strings.HasPrefix(tt.body, "20") {
				read++
			}
		}
	}
	eventually(t, "the faults are counted", func() bool {
		got := w.scrape()
		return got[fmt.Sprintf(`toolguard_proxy_rejected_total{reason="malformed"} %d`, failures)] &&
			got[`toolguard_proxy_rejected_total{reason="client"} 2`] &&
			got[fmt.Sprintf(`toolguard_proxy_requests_total{endpoint="messages",outcome="rejected",upstream="UP"} %d`, read)] &&
			got[`toolguard_proxy_upstream_failures_total{reason="client",upstream="UP"} 2`]
	})
	said := map[string]int{}
	for _, line := range w.log.lines(t) {
		if reason, _ := line["reason"].(string); line["outcome"] == "rejected" {
			said[reason]++
			if line["msg"] != "request" || line["level"] != "WARN" {
				t.Errorf("log: %v", line)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"malformed": failures, "client": 2}, said); diff != "" || strings.Contains(w.log.String(), `"msg":"no response"`) {
		t.Errorf("refusals in the log (-want +got):\n%s\n%s", diff, w.log)
	}
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan bool
	close  func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan bool)}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// reading is an upstream that answers with the size of the body.
type reading struct{}

func (reading) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("%d bytes", len(b))
	return &http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r}, nil
}

// TestStalled: a body that is read for repair ends if it stalls or is slower than 1 KiB/s for the time of
// --read-timeout, however much of it has arrived before. Others may take any time. Time is that of the
// test.
func TestStalled(t *testing.T) {
	t.Parallel()
	const slow = "the body of the request was slower than 1 KiB/s for the time of --read-timeout"
	parts := func(n, size int, every time.Duration) func(net.Conn) {
		return func(c net.Conn) {
			for range n {
				time.Sleep(every)
				if _, err := io.WriteString(c, strings.Repeat("x", size)); err != nil {
					return
				}
			}
		}
	}
	chunks := func(n, size int, every time.Duration) func(net.Conn) {
		return func(c net.Conn) {
			for range n {
				time.Sleep(every)
				if _, err := fmt.Fprintf(c, "%x\r\n%s\r\n", size, strings.Repeat("x", size)); err != nil {
					return
				}
			}
			fmt.Fprint(c, "0\r\n\r\n")
		}
	}
	for _, tt := range []struct {
		name, head string
		send       func(net.Conn)
		status     int
		says       string // in the answer
		after      time.Duration
	}{
		{"silent", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100", func(net.Conn) {}, 408, slow, 30 * time.Second},
		{"a stall behind much", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000", parts(1, 1<<20, 0), 408, slow, 30 * time.Second},
		{"slower than 1 KiB/s", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000", parts(1<<20, 900, time.Second), 408, slow, 30*time.Second + 240*900*time.Second/1024},
		{"a byte every 29 seconds", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100", parts(100, 1, 29*time.Second), 408, slow, 30*time.Second + time.Second/1024},
		{"a chunk extension", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked", func(c net.Conn) { fmt.Fprint(c, "2;"); parts(100, 1, time.Second)(c) }, 408, slow, 30 * time.Second},
		{"1 KiB/s", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1024000", parts(1000, 1024, time.Second), 200, "1024000 bytes", 1000 * time.Second},
		{"bursts", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000", parts(30, 100_000, 29*time.Second), 200, "3000000 bytes", 30 * 29 * time.Second},
		{"in chunks", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked", chunks(30, 100_000, 29*time.Second), 200, "3000000 bytes", 30 * 29 * time.Second},
		{"not read", "POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10", parts(10, 1, time.Hour), 200, "10 bytes", 10 * time.Hour},
		{"too large to be read", "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked", func(c net.Conn) {
			fmt.Fprintf(c, "400001\r\n%s\r\n", strings.Repeat("x", 4<<20+1))
			chunks(2, 5, time.Hour)(c)
		}, 200, "4194315 bytes", 2 * time.Hour},
		{"refused", "POST /v1/messages HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100", func(net.Conn) {}, 403, "the Host of the request", 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, err := upstream.Parse("https://api.example")
				if err != nil {
					t.Fatal(err)
				}
				log := &logBuffer{}
				c := standard(u)
				c.Log, c.ReadTimeout, c.MaxBody = slogTo(log), 30*time.Second, 4<<20
				s, err := newServer(c, reading{}, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				listener := newPipes()
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Serve(ctx, listener, nil) }()
				client, served := net.Pipe()
				listener.conns <- served
				begin := time.Now()
				sent := make(chan bool)
				go func() {
					defer close(sent)
					if _, err := fmt.Fprintf(client, "%s\r\n\r\n", tt.head); err == nil {
						tt.send(client)
					}
				}()
				res, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != tt.status || !strings.Contains(string(text), tt.says) {
					t.Errorf("%s %s, %v", res.Status, text, err)
				}
				if res.Close != (tt.status != 200) {
					t.Errorf("the connection is closed: %t", res.Close)
				}
				if diff := (time.Since(begin) - tt.after).Abs(); diff > time.Microsecond { // 1/1024 s is not a number of nanoseconds
					t.Errorf("after %s, want %s", time.Since(begin), tt.after)
				}
				if said := strings.Contains(log.String(), `"level":"WARN","msg":"request","upstream":"api.example","endpoint":"messages","outcome":"rejected","reason":"stalled"`); said != (tt.status == 408) {
					t.Errorf("log: %s", log)
				}
				client.Close()
				<-sent
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestMaxMemory: bodies for which there is no memory pass as they came, and others are repaired as soon as
// there is.
func TestMaxMemory(t *testing.T) { // not beside other tests, whose memory counts when a check takes long
	hold, held := make(chan bool), make(chan bool, 1)
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Hold") != "" {
			held <- true
			<-hold
		}
		_, _ = io.WriteString(rw, `{"ok":true}`)
	}, func(c *Config) { c.MaxMemory = 3 << 20 })
	h := histories[0]
	large := strings.Replace(h.broken, `"q"`, `"`+strings.Repeat("q", 1<<20)+`"`, 1)
	free := func() bool {
		for line := range w.scrape() {
			if strings.HasPrefix(line, "toolguard_proxy_memory_bytes") {
				return false
			}
		}
		return true
	}
	// passes checks that a body of this size went out as it came.
	passes := func(name, reason, sent string, size float64) {
		t.Helper()
		if got := w.last(); got.Body != sent {
			t.Errorf("%s: the upstream got %d bytes, want %d", name, len(got.Body), len(sent))
		}
		lines := w.log.lines(t)
		want := map[string]any{
			"level": "INFO", "msg": "request", "upstream": strings.TrimPrefix(w.upstream.URL, "http://"), "endpoint": "messages",
			"outcome": "passed", "reason": reason, "bytes": size,
		}
		if size < 0 {
			delete(want, "bytes")
		}
		if diff := cmp.Diff(want, lines[len(lines)-1]); diff != "" {
			t.Errorf("%s: log (-want +got):\n%s", name, diff)
		}
		if reason == "heavy" { // no other body has any
			eventually(t, name+" gives its memory back", free)
		}
	}
	// There is room for the body, but not for its check.
	w.post(h.path, large)
	passes("no check", "heavy", large, float64(len(large)))
	// There is no room for all of the body.
	huge := strings.Replace(h.broken, `"q"`, `"`+strings.Repeat("q", 5<<20)+`"`, 1)
	w.post(h.path, huge)
	passes("no buffer", "heavy", huge, float64(len(huge)))
	w.send(http.MethodPost, h.path, onlyReader{strings.NewReader(huge)})
	passes("no buffer for chunks", "heavy", huge, -1)
	// A small one is repaired, and one whose response is still to come keeps only its body.
	middle := strings.Replace(h.broken, `"q"`, `"`+strings.Repeat("q", 200<<10)+`"`, 1)
	// One that alone can just be checked.
	most := h.broken + strings.Repeat(" ", (3<<20-1<<20-1)/7-len(h.broken))
	w.post(h.path, most)
	if got := w.last(); !strings.Contains(got.Body, placeholder) {
		t.Error("a body that has all of the memory is not repaired")
	}
	w.post(h.path, most+" ")
	passes("one byte more", "heavy", most+" ", float64(len(most)+1))
	for name, sent := range map[string]string{"kept": middle, "small": h.broken} {
		done := make(chan bool)
		go func() {
			defer close(done)
			w.post(h.path, sent, "X-Hold", "1")
		}()
		<-held
		want := `"` + strings.Trim(strings.SplitN(sent, `"role":"user","content":`, 2)[1][:4], `"`)
		if got := w.last(); !strings.Contains(got.Body, placeholder) || !strings.Contains(got.Body, want) {
			t.Errorf("%s: not repaired: %.100s", name, got.Body)
		}
		if free() {
			t.Errorf("%s: a body in memory is not counted", name)
		}
		w.post(h.path, h.broken)
		if got := w.last(); got.Body != h.repaired {
			t.Errorf("%s: another one is not repaired beside it", name)
		}
		if name == "kept" {
			w.post(h.path, most)
			passes("no check beside another", "memory", most, float64(len(most)))
		}
		hold <- true
		<-done
		eventually(t, name+" gives its memory back", free)
	}
	if got := w.scrape(); !got[`toolguard_proxy_passed_total{reason="heavy"} 4`] || !got[`toolguard_proxy_passed_total{reason="memory"} 1`] {
		t.Errorf("metrics: %v", w.scrape())
	}
	// The figures of docs/proxy.md.
	w.url = w.start(w.upstream.URL, func(c *Config) { c.MaxMemory = 8 << 20 })
	most = h.broken + strings.Repeat(" ", 1<<20-len(h.broken))
	w.post(h.path, most)
	if got := w.last(); !strings.Contains(got.Body, placeholder) {
		t.Error("1 MiB is not repaired with 8 MiB")
	}
	w.post(h.path, most+" ")
	passes("1 MiB and a byte", "heavy", most+" ", 1<<20+1)
	w.url = w.start(w.upstream.URL, func(c *Config) { c.MaxMemory, c.RejectUnreadable = 1, true })
	res, text := w.post(h.path, h.broken)
	w.none()
	if want := `{"type":"error","error":{"type":"invalid_request_error","message":"toolguard proxy: the body needs more memory than --max-memory allows"}}`; res.StatusCode != http.StatusBadRequest || text != want {
		t.Errorf("%s %s", res.Status, text)
	}
}

// TestMemoryWhileStreaming: while a response streams, its request counts no memory.
func TestMemoryWhileStreaming(t *testing.T) {
	t.Parallel()
	end := make(chan bool)
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "data: 1\n\n")
		_ = http.NewResponseController(rw).Flush()
		<-end
	}, func(c *Config) { c.MaxMemory = 4 << 20 })
	large := strings.Replace(histories[0].broken, `"q"`, `"`+strings.Repeat("q", 300<<10)+`"`, 1)
	huge := strings.Replace(histories[0].broken, `"q"`, `"`+strings.Repeat("q", 6<<20)+`"`, 1)
	for _, body := range []string{large, huge} {
		res := open(t.Context(), t, w.url+histories[0].path, body)
		for line := range w.scrape() {
			if strings.HasPrefix(line, "toolguard_proxy_memory_bytes") {
				t.Errorf("%d bytes: %s", len(body), line)
			}
		}
		w.last()
		end <- true
		res.Body.Close()
	}
}
