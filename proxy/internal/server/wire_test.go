package server

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// exchangeBytes sends a text to an address and returns all that comes back.
func exchangeBytes(t *testing.T, address, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(answer)
}

// TestTargets: paths and queries go out byte for byte.
func TestTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, target := range []string{
		"/",
		"//",
		"//a//b/",
		"/a/../b/./c",
		"/a%2Fb",
		"/a%2fb",
		"/%41%7e",
		"/a;b=c,d",
		"/a:b@c!$&'()*+",
		"/%E2%82%AC",
		"/a%00",
		"/a[b]",
		"/a?",
		"/a??",
		"/a?x=1;y=2&&z",
		"/a?%zz",
		"/a?%",
		"/a?b=\"<>|",
		"/a?b#c",
		"/a|b",
		"/a|b%2Fc",
		"/a%2F\"c",
		"/{a}%2F%41",
		"/é%2F",
		"/a\\%2fb?|",
		"/v1/messages|%2F",
		"/a#b",
		"/model/arn%3Aaws%3Abedrock%3Aus%3A1%3Ax%2Fy/./converse",
	} {
		exchangeBytes(t, w.url, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if got := w.last(); got.URI != target {
			t.Errorf("%s goes out as %s", target, got.URI)
		}
	}
	// The first name would become a host.
	exchangeBytes(t, w.url, "GET //a|b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if got, want := w.last().URI, w.upstream.URL+"//a|b"; got != want {
		t.Errorf("//a|b goes out as %s, want %s", got, want)
	}
}

// TestTrailers: the fields behind a body reach the upstream with their values.
func TestTrailers(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 1)
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Trailer })
	for _, path := range []string{"/v1/messages", "/v1/files"} {
		exchangeBytes(t, w.url, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 7\r\n\r\n")
		if diff := cmp.Diff(http.Header{"X-Sum": {"7"}}, <-seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if got := w.last(); got.Body != "{}" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// TestOffers: the offer to go on in another protocol, which some clients add to every request, keeps
// no body from being repaired, and reaches no upstream that would refuse it.
func TestOffers(t *testing.T) {
	t.Parallel()
	h := histories[0]
	const h2c = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
	w := newWorld(t, nil)
	for _, offer := range []string{h2c, "Connection: upgrade\r\nUpgrade: websocket\r\n", "Connection: upgrade\r\nUpgrade: TLS/1.2, H2C\r\n"} {
		exchangeBytes(t, w.url, "POST "+h.path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+offer+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(h.broken))+h.broken)
		got := w.last()
		if got.Body != h.repaired || got.Header.Get("Upgrade") != "" || got.Header.Get("Http2-Settings") != "" {
			t.Errorf("%s: %+v", offer, got)
		}
	}
	exchangeBytes(t, w.url, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+h2c+"\r\n")
	if got := w.last(); got.Header.Get("Upgrade") != "" {
		t.Errorf("another path: %+v", got)
	}
	// An upstream that speaks HTTP/2 gets no request with an offer, which it would have to refuse.
	modern := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, r.Proto)
	}))
	modern.EnableHTTP2 = true
	modern.StartTLS()
	defer modern.Close()
	transport := newTransport()
	defer transport.CloseIdleConnections()
	transport.TLSClientConfig = &tls.Config{RootCAs: modern.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	w.transport = transport
	w.url = w.start(modern.URL)
	for _, path := range []string{h.path, "/v1/models"} {
		answer := exchangeBytes(t, w.url, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+h2c+"Content-Length: 2\r\n\r\n{}")
		if !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || !strings.HasSuffix(answer, "\r\n\r\nHTTP/2.0") {
			t.Errorf("%s: %q", path, answer)
		}
	}
}

// TestStrangeAnswers: a response keeps its fields and gets none that it has not, and one that HTTP
// cannot pass on is a 502.
func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const date = "Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n"
	const invalid = "HTTP/1.1 502 Bad Gateway\r\n"
	for _, tt := range []struct{ sent, want string }{
		{"HTTP/1.1 200 OK\r\n" + date + "Transfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\n" + date + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n"},
		{"HTTP/1.0 200 OK\r\n" + date + "\r\n<html>", "HTTP/1.1 200 OK\r\n" + date + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n"},
		{
			"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n" + date + "Connection: close\r\n\r\n<html>",
			"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n" + date + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n0\r\n\r\n",
		},
		{"HTTP/1.1 042 Odd\r\nContent-Length: 2\r\n\r\nhi", invalid},
		{"HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\nhi", invalid},
		{"HTTP/1.1 +99 Odd\r\nContent-Length: 2\r\n\r\nhi", invalid},
		{"HTTP/1.1 1000 Odd\r\nContent-Length: 2\r\n\r\nhi", invalid},
		{"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", invalid},
	} {
		address := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, tt.sent) })
		w.url = w.start("http://" + address)
		got := exchangeBytes(t, w.url, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if tt.want == invalid {
			if says := `"message":"toolguard proxy: ` + address + `: the upstream sent no valid answer"`; !strings.HasPrefix(got, invalid) || !strings.Contains(got, says) {
				t.Errorf("%q: %q", tt.sent, got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%q (-want +got):\n%s", tt.sent, cmp.Diff(tt.want, got))
		}
	}
}

// TestDrainKept: a connection that is kept open learns that the proxy ends with its next response, and
// one on which nothing was sent does not delay the end.
func TestDrainKept(t *testing.T) {
	t.Parallel()
	release := make(chan bool)
	w := newWorld(t, func(http.ResponseWriter, *http.Request) { <-release })
	free := sync.OnceFunc(func() { close(release) })
	t.Cleanup(free)
	url, end := w.run(w.upstream.URL, time.Minute)
	address := strings.TrimPrefix(url, "http://")
	var conns [2]net.Conn
	for i := range conns {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
	}
	const health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
	in := bufio.NewReader(conns[0])
	for range 2 {
		fmt.Fprint(conns[0], health)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(res.Body); err != nil || string(text) != "ok\n" || res.Close {
			t.Errorf("before: %q, %v, %v", text, err, res.Header)
		}
	}
	answered := make(chan string, 1)
	go func() {
		c, err := net.Dial("tcp", address)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer c.Close()
		fmt.Fprint(c, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- res.Status
	}()
	eventually(t, "one request is active", func() bool { return w.scrape()["toolguard_proxy_active_requests 1"] })
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	eventually(t, "the proxy drains", func() bool { return strings.Contains(w.log.String(), `"msg":"draining"`) })
	fmt.Fprint(conns[0], health)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "draining\n" || !res.Close || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s %q, %v, %v", res.Status, text, err, res.Header)
	}
	free()
	if got := <-answered; got != "200 OK" {
		t.Errorf("the last request: %s", got)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(4 * time.Second):
		t.Error("the proxy waits for a connection on which nothing was sent")
	}
}
