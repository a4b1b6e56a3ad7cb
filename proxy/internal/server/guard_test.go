package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/proxy/internal/record"
)

// TestGuard: requests of foreign pages are refused, whatever their path is, and nothing reaches the
// upstream.
func TestGuard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) {
		c.Hosts, c.Origins = []string{"guard.example", "fd00::1"}, []string{"app://known", "file://"}
	})
	const (
		host   = "the Host of the request is neither this machine nor a --host; if clients call the proxy by this name, start it with --host and the name"
		origin = "the Origin of the request is neither this machine nor a --host"
		pages  = "web pages may not send requests through this proxy"
		site   = "the browser marks the request as cross-site, and it has no Origin that --host or --allow-origin could accept"
		cors   = "the Origin of the request is accepted, but a program that enforces CORS cannot use this proxy, which answers no preflight requests: send the requests from outside the page, such as from the main process"
		null   = "the Origin of the request is null, which is never accepted, because any file and any page in a sandbox can have it: load the page from http://localhost"
		named  = "the Origin of the request is not accepted; if you trust the program that has it, start the proxy with --allow-origin "
	)
	for _, tt := range []struct {
		method string
		header []string
		says   string // "" if it is accepted
	}{
		{"POST", []string{"Host", "evil.example"}, host},
		{"POST", []string{"Host", "evil.example:8787"}, host},
		{"POST", []string{"Host", "127.0.0.1.evil.example"}, host},
		{"POST", []string{"Host", "localhost.evil.example"}, host},
		{"POST", []string{"Host", "192.168.0.1"}, host},
		{"POST", []string{"Host", "0.0.0.0:8787"}, host},
		{"POST", []string{"Host", "[::]:8787"}, host},
		{"POST", []string{"Host", "sub.guard.example"}, host},
		{"GET", []string{"Host", "evil.example"}, host},
		{"POST", []string{"Host", "localhost"}, ""},
		{"POST", []string{"Host", "LOCALHOST.:1"}, ""},
		{"POST", []string{"Host", "app.localhost:80"}, ""},
		{"POST", []string{"Host", "127.9.9.9:8787"}, ""},
		{"POST", []string{"Host", "[::1]:8787"}, ""},
		{"POST", []string{"Host", "[::1]"}, ""},
		{"POST", []string{"Host", "[::ffff:127.0.0.1]:1"}, ""},
		{"POST", []string{"Host", "Guard.Example:1"}, ""},
		{"POST", []string{"Origin", "https://evil.example"}, origin},
		{"POST", []string{"Origin", "http://127.0.0.1.evil.example"}, origin},
		{"POST", []string{"Origin", "null"}, null},
		{"GET", []string{"Origin", "http://evil.example:80"}, origin},
		{"POST", []string{"Origin", "http://localhost:3000"}, ""},
		{"POST", []string{"Origin", "https://guard.example"}, ""},
		{"POST", []string{"Origin", "vscode-webview://1"}, ""},
		{"POST", []string{"Origin", "file://"}, ""},
		{"POST", []string{"Origin", "APP://Known"}, ""},
		{"POST", []string{"Origin", "app://known", "Sec-Fetch-Site", "cross-site"}, ""},
		{"POST", []string{"Origin", "app://other"}, named + "app://other"},
		{"POST", []string{"Origin", "app://"}, named + "app://"},
		{"POST", []string{"Origin", "app://known.evil"}, named + "app://known.evil"},
		{"GET", []string{"Origin", "chrome-extension://ABC"}, named + "chrome-extension://abc"},
		{"GET", []string{"Origin", "moz-extension://0-1", "Sec-Fetch-Site", "same-origin"}, named + "moz-extension://0-1"},
		{"POST", []string{"Origin", "app://known/$(id)"}, named + "SCHEME://HOST"},
		{"POST", []string{"Origin", "app://known", "Origin", "tauri://localhost"}, named + "tauri://localhost"},
		{"POST", []string{"Origin", "", "Sec-Fetch-Site", "cross-site"}, site},
		{"POST", []string{"Origin", "vscode-webview://1", "Sec-Fetch-Site", "cross-site"}, ""},
		{"POST", []string{"Origin", "http://localhost:3000", "Sec-Fetch-Site", "cross-site"}, ""},
		{"POST", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, origin},
		{"POST", []string{"Sec-Fetch-Site", "same-site, Cross-Site ;x=1"}, site},
		{"POST", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Site", "cross-site"}, site},
		{"POST", []string{"Sec-Fetch-Site", "same-site"}, ""},
		{"POST", []string{"Sec-Fetch-Site", "same-origin"}, ""},
		{"POST", []string{"Sec-Fetch-Site", "none"}, ""},
		{"POST", []string{"Origin", "http://localhost", "Origin", "http://evil.example"}, origin},
		{"POST", []string{"Origin", "http://localhost", "Origin", "http://127.0.0.1"}, ""},
		{"POST", []string{"Origin", "wss://evil.example"}, origin},
		{"POST", []string{"Origin", "ftp://evil.example"}, origin},
		{"POST", []string{"Origin", "blob:https://evil.example"}, origin},
		{"POST", []string{"Origin", "data:x"}, origin},
		{"POST", []string{"Host", "[fd00::1]:8787"}, ""},
		{"POST", []string{"Host", "[FD00:0:0::1]"}, ""},
		{"POST", []string{"Host", "[fd00::2]"}, host},
		{"OPTIONS", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, pages},
		{"OPTIONS", []string{"Origin", "app://other", "Access-Control-Request-Method", "POST"}, pages},
		{"OPTIONS", []string{"Origin", "null", "Access-Control-Request-Method", "POST"}, pages},
		{"OPTIONS", []string{"Origin", "http://localhost:3000", "Access-Control-Request-Method", "POST"}, cors},
		{"OPTIONS", []string{"Origin", "app://known", "Access-Control-Request-Method", "POST"}, cors},
		{"OPTIONS", []string{"Origin", "app://known", "Access-Control-Request-Method", "POST", "Sec-Fetch-Site", "cross-site"}, cors},
		{"OPTIONS", nil, ""},
	} {
		res, text := w.send(tt.method, "/v1/files", strings.NewReader(""), tt.header...)
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%v: %s", tt, name)
			}
		}
		if tt.says == "" {
			if got := w.last(); res.StatusCode != http.StatusOK || got.Method != tt.method {
				t.Errorf("%v: %s", tt, res.Status)
			}
			continue
		}
		w.none()
		want := fmt.Sprintf(`{"error":{"message":"toolguard proxy: %s","type":"invalid_request_error","param":null,"code":"forbidden"}}`, tt.says)
		if res.StatusCode != http.StatusForbidden || text != want {
			t.Errorf("%v: %s %s", tt, res.Status, text)
		}
	}
	// Requests to a proxy name another host in their target.
	for _, line := range []string{"GET http://evil.example/ HTTP/1.1\r\nHost: localhost", "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost", "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: localhost", "OPTIONS * HTTP/1.1\r\nHost: evil.example"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "%s\r\nConnection: close\r\n\r\n", line)
		answer, err := io.ReadAll(c)
		c.Close()
		if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 40")) {
			t.Errorf("%q: %q, %v", line, answer, err)
		}
		w.none()
	}
	if res, text := w.send(http.MethodGet, "/healthz", nil, "Host", "10.0.0.7:8787"); res.StatusCode != http.StatusOK || text != "ok\n" {
		t.Errorf("a probe: %s %q", res.Status, text)
	}
}

// TestCrossSite: what a browser sends for a page of another site is refused, whatever its method and path
// are, also where no Origin comes with it.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const want = `{"error":{"message":"toolguard proxy: ` + crossSite + `","type":"invalid_request_error","param":null,"code":"forbidden"}}`
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ODD"} {
		for _, path := range []string{"/v1/models", "/healthz", "/metrics"} {
			text := want
			if method == http.MethodHead {
				text = ""
			}
			if res, got := w.send(method, path, nil, "Sec-Fetch-Site", "cross-site"); res.StatusCode != http.StatusForbidden || got != text {
				t.Errorf("%s %s: %s %s", method, path, res.Status, got)
			}
			w.none()
		}
	}
}

// TestParseOrigin: an origin is one of a program, and is compared without regard to capitals.
func TestParseOrigin(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"app://localhost": "app://localhost", "APP://A.b/": "app://a.b", "file://": "file://", "file:///": "file://", "a+b.c-1://{0-1}": "a+b.c-1://{0-1}",
	} {
		if got, err := ParseOrigin(value); got != want || err != nil {
			t.Errorf("%s is %s, %v", value, got, err)
		}
	}
	for _, value := range []string{"", "app", "app:", "app:x", "://x", "app://a/b", "app://a b", "app://*", "null", "1://x", "https://evil.example", "HTTP://localhost", "ws://x", "app://a\n"} {
		if got, err := ParseOrigin(value); err == nil {
			t.Errorf("%q is %s", value, got)
		}
	}
}

// TestPrefixes: a prefix chooses the upstream and is cut off, and other paths have none.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.url = w.start("/a=" + w.upstream.URL + "/base/v1")
	for path, want := range map[string]string{
		"/a/chat/completions?x=1": "/base/v1/chat/completions?x=1",
		"/a/files/a%2Fb%20c":      "/base/v1/files/a%2Fb%20c",
		"/a":                      "/base/v1",
		"/a/":                     "/base/v1/",
		"//a//x":                  "/base/v1//x",
		"/b/../a/x":               "/base/v1/x",
		"/a/x/../y":               "/base/v1/x/../y",
	} {
		w.post(path, "{}")
		if got := w.last(); got.URI != want {
			t.Errorf("%s goes to %s, want %s", path, got.URI, want)
		}
	}
	for _, path := range []string{"/", "/ab/chat/completions", "/b/chat/completions", "/A/x", "/a/../x", "/a/%2E%2e/x", "/a%2Fx"} {
		res, text := w.post(path, "{}")
		w.none()
		if want := `{"error":{"message":"toolguard proxy: no --upstream has this path; expected one that begins with /a/","type":"invalid_request_error","param":null,"code":"upstream"}}`; res.StatusCode != http.StatusNotFound || text != want {
			t.Errorf("%s: %s %s", path, res.Status, text)
		}
	}
}

// TestDrain: at its end, the proxy takes no new connections, says that it is not healthy, and waits
// for streams, also those that are no longer HTTP.
func TestDrain(t *testing.T) {
	t.Parallel()
	release := make(chan bool)
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "first ")
		_ = http.NewResponseController(rw).Flush()
		<-release
		_, _ = io.WriteString(rw, "last")
	})
	url, end := w.run(w.upstream.URL, time.Minute)
	address := strings.TrimPrefix(url, "http://")
	res := open(t.Context(), t, url+histories[0].path, histories[0].broken)
	defer res.Body.Close()
	early, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	// The server has to accept it before it ends.
	eventually(t, "one request is active", func() bool { return w.scrape()["toolguard_proxy_active_requests 1"] })
	time.Sleep(50 * time.Millisecond)
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	eventually(t, "the proxy takes no connections", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	fmt.Fprint(early, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	answer, err := io.ReadAll(early)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 503 Service Unavailable\r\n")) || !bytes.HasSuffix(answer, []byte("\r\n\r\ndraining\n")) {
		t.Errorf("health: %q, %v", answer, err)
	}
	select {
	case err := <-ended:
		t.Errorf("the proxy ended before the stream: %v", err)
	default:
	}
	close(release)
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "first last" {
		t.Errorf("the stream is %q, %v", text, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	want := []string{`"msg":"draining","active":1}`, `"msg":"ended","cut":0}`}
	for _, s := range want {
		if !strings.Contains(w.log.String(), s) {
			t.Errorf("no %s in %s", s, w.log)
		}
	}
}

// TestDrainEnds: streams that do not end are cut off after a while, also those that are no longer
// HTTP.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	address := raw(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	})
	url, end := w.run("http://"+address, 100*time.Millisecond)
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if _, err := io.ReadFull(c, make([]byte, 12)); err != nil {
		t.Fatal(err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Errorf("the connection is not closed: %v", err)
	}
	if !strings.Contains(w.log.String(), `"msg":"ended","cut":1}`) {
		t.Errorf("log: %s", w.log)
	}
}

// TestSide: metrics have an address of their own.
func TestSide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := standard(nil)
	c.Upstreams = nil
	c.Log = slogTo(w.log)
	s, err := New(c, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	main, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	side, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, main, side) }()
	w.url = "http://" + side.Addr().String()
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/": 404, "/v1/messages": 404} {
		if res, _ := w.send(http.MethodGet, path, nil); res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if res, _ := w.send(http.MethodGet, "/metrics", nil, "Host", "evil.example"); res.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign host: %s", res.Status)
	}
	for _, path := range []string{"/metrics", "/healthz"} {
		if res, text := w.send(http.MethodGet, path, nil, "Sec-Fetch-Site", "cross-site"); res.StatusCode != http.StatusForbidden || text != crossSite+"\n" {
			t.Errorf("a page of another site, %s: %s %s", path, res.Status, text)
		}
	}
	if _, text := w.send(http.MethodGet, "/metrics", nil); !strings.Contains(text, "\ntoolguard_proxy_active_requests 0\n") || !strings.Contains(text, "\ngo_goroutines ") {
		t.Errorf("metrics: %s", text)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", side.Addr().String()); err == nil {
		c.Close()
		t.Error("the address of the metrics is still open")
	}
}

// TestNothingLeaks: keys, prompts and queries are in no log, metric, record or temporary file.
func TestNothingLeaks(t *testing.T) {
	const canary = "canary"
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	kept, err := record.Open(filepath.Join(dir, "record"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Answer", canary)
		if strings.Contains(r.URL.RawQuery, "cut") {
			rw.Header().Set("Content-Length", "100")
		}
		_, _ = io.WriteString(rw, canary)
	}, func(c *Config) { c.Record = kept })
	var texts []string
	for _, h := range histories {
		texts = append(texts,
			strings.ReplaceAll(strings.ReplaceAll(h.broken, `"q"`, `"`+canary+`"`), `"ls"`, `"ls_canary"`),
			strings.ReplaceAll(strings.ReplaceAll(h.broken, `"t1"`, `"t_canary"`), `"c1"`, `"c_canary"`),
			strings.ReplaceAll(strings.ReplaceAll(h.broken, `"input":{}`, `"input":{"canary":"canary","a":["canary"]}`), `"args":{}`, `"args":{"canary":{"canary":1}}`),
			strings.Replace(h.broken, `{`, `{"a canary":"canary","metadata":{"canary":"canary"},`, 1),
			strings.Replace(h.broken, `{`, `{"canary":`, 1),
			h.broken[:len(h.broken)/2]+canary,
			strings.ReplaceAll(h.broken, `"user"`, `"user canary"`),
			strings.ReplaceAll(h.broken, `"user"`, `"canary"`),
			strings.Replace(h.broken, `{`, `{"canary":{"canary":["canary"]},`, 1))
	}
	for _, text := range texts {
		for _, h := range histories {
			w.post(h.path+"?key="+canary, text, "Authorization", "Bearer "+canary, "X-Api-Key", canary, "X-Goog-Api-Key", canary, "Cookie", canary, "User-Agent", canary)
			w.post(h.path, text, "Authorization", "AWS4-HMAC-SHA256 "+canary, "Content-Encoding", canary)
		}
	}
	w.post("/canary?canary", canary, "Host", canary+".example", "Origin", "https://"+canary)
	w.post("/canary?canary", canary)
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /canary HTTP/1.1\r\nHost: localhost\r\nContent-Length: canary\r\n\r\n")
	_, _ = io.Copy(io.Discard, c)
	c.Close()
	if strings.Contains(w.log.String(), canary) {
		t.Errorf("log: %s", w.log)
	}
	for line := range w.scrape() {
		if strings.Contains(line, canary) {
			t.Errorf("metrics: %s", line)
		}
	}
	records := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		records++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(canary)) {
			t.Errorf("%s: %s", path, text)
		}
		if info, infoErr := d.Info(); infoErr != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", path, info.Mode(), infoErr)
		}
		return err
	})
	if err != nil || records < 20 {
		t.Errorf("%d records, %v", records, err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files: %v, %v", left, err)
	}
}

// TestRecord: a broken request leaves its outline, and a whole one nothing.
func TestRecord(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "record")
	kept, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil, func(c *Config) { c.Record = kept })
	for _, body := range []string{histories[1].whole, histories[1].broken, "no json"} {
		w.post(histories[1].path, body)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if diff := cmp.Diff([]string{filepath.Join(dir, "request-001.json")}, files); diff != "" || err != nil {
		t.Fatalf("%v (-want +got):\n%s", err, diff)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, part := range strings.Split(string(text), `"<`) {
		if i > 0 && !strings.Contains(strings.SplitN(part, `"`, 2)[0], "bytes") {
			part = "hash>\"" + strings.SplitN(part, `"`, 2)[1]
		}
		if i > 0 {
			part = `"<` + part
		}
		b.WriteString(part)
	}
	got := strings.Join(strings.Fields(b.String()), "")
	want := `{"endpoint":"chat","dialect":"openai-chat","outcome":"repaired","findings":[{"rule":"pending-tool-call","pointer":"/messages/1/tool_calls/0/id"}],` +
		`"request":{"model":"<6bytes>","messages":[{"role":"user","content":"<1bytes>"},{"role":"assistant","content":null,"tool_calls":[{"id":"<hash>","type":"function","function":{"name":"<hash>","arguments":"<2bytes>"}}]}]}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRecordingEnds: the log says once that the last outline is written.
func TestRecordingEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := 2; n <= record.Most; n++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("request-%03d.json", n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil, func(c *Config) { c.Record = kept })
	want := map[string]any{"level": "WARN", "msg": "recording ended", "reason": "full", "files": float64(record.Most)}
	for i, lines := range [][]map[string]any{{want}, nil} {
		before := len(w.log.lines(t))
		w.post(histories[0].path, histories[0].broken)
		var got []map[string]any
		for _, line := range w.log.lines(t)[before:] {
			if line["msg"] != "request" {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(lines, got); diff != "" {
			t.Errorf("broken request %d (-want +got):\n%s", i, diff)
		}
	}
}
