//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
)

// A program is the proxy as a process of its own.
type program struct {
	t            *testing.T
	cmd          *exec.Cmd
	url, metrics string
	log          bytes.Buffer  // to be read after done is closed
	done         chan struct{} // closed when the process has ended
}

// start starts the program before an upstream.
func start(t *testing.T, upstream string, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "toolguard-proxy")
	if err := os.Symlink(self, name); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, done: make(chan struct{})}
	p.cmd = exec.Command(name, append([]string{"--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--upstream", upstream}, args...)...)
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(errs)
	line, err := in.ReadBytes('\n')
	var started struct{ Address, Metrics string }
	if err := errors.Join(err, json.Unmarshal(line, &started)); err != nil {
		_ = p.cmd.Process.Kill()
		t.Fatalf("%q: %v", line, err)
	}
	p.url, p.metrics = "http://"+started.Address, "http://"+started.Metrics
	go func() {
		_, _ = io.Copy(&p.log, in)
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// ended waits for the end of the program and returns its exit code.
func (p *program) ended() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		p.t.Fatal("the program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// scrape returns the metrics, with the labels in their names.
func (p *program) scrape() map[string]float64 {
	p.t.Helper()
	res, err := http.Get(p.metrics + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	values := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && name != "#" {
			values[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return values
}

// peak returns the most memory that the process has had, in MiB; 0 where that is not known.
func (p *program) peak() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, _ := strconv.Atoi(kib)
	return n >> 10
}

// settles waits until the program has no more goroutines and files than it had before, apart from
// those of the scrape.
func (p *program) settles(before map[string]float64) {
	p.t.Helper()
	const spare = 6
	var now map[string]float64
	for range 500 {
		now = p.scrape()
		if now["toolguard_proxy_active_requests"] == 0 && now["go_goroutines"] <= before["go_goroutines"]+spare && now["process_open_fds"] <= before["process_open_fds"]+spare {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, name := range []string{"toolguard_proxy_active_requests", "go_goroutines", "process_open_fds"} {
		p.t.Errorf("%s: %v before, %v after", name, before[name], now[name])
	}
}

// broken is a request with a call without a result, of size bytes or a little more.
func broken(size int) string {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"q"}`)
	result := strings.Repeat("a line of a file\\n", 180)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s"}`, i, i, result)
	}
	b.WriteString(`,{"role":"assistant","content":null,"tool_calls":[{"id":"last","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"well?"}]}`)
	return b.String()
}

// repaired is what broken becomes.
func repaired(text string) string {
	before := `,{"role":"user","content":"well?"}]}`
	return strings.Replace(text, before, `,{"role":"tool","tool_call_id":"last","content":"[toolguard] No result was recorded for this tool call; it may or may not have run."}`+before, 1)
}

// clients returns a client without a limit of connections, and closes them at the end.
func clients(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 2000}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestLoad: many streams at a time, some of which are cut off by their clients and some by the
// upstream. All others arrive whole, in order and in time, and nothing is left of any in the proxy.
func TestLoad(t *testing.T) {
	streams := sample.Size(1000, 100, 50)
	const events = 20
	cuts := streams / 5 // by each side
	text := broken(2000)
	want := repaired(text)
	var arrived, wrong, left atomic.Int32
	all := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, err := io.ReadAll(r.Body); err != nil || string(got) != want {
			wrong.Add(1)
		}
		if arrived.Add(1) == int32(streams) {
			close(all)
		}
		select {
		case <-all: // all streams run at once
		case <-r.Context().Done():
			return
		}
		for i := range events {
			fmt.Fprintf(w, "data: %d %d\n\n", i, time.Now().UnixNano())
			_ = http.NewResponseController(w).Flush()
			switch cut := r.Header.Get("X-Cut"); {
			case cut == "client" && i == 5:
				<-r.Context().Done()
				left.Add(1)
				return
			case cut == "upstream" && i == 5:
				panic(http.ErrAbortHandler)
			}
			time.Sleep(time.Duration(sample.Size(100, 10, 10)) * time.Millisecond)
		}
	}))
	defer api.Close()
	p := start(t, api.URL)
	before := p.scrape()
	client := clients(t)
	var late, latest, sum atomic.Int64
	var group sync.WaitGroup
	for i := range streams {
		group.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/chat/completions", strings.NewReader(text))
			if err != nil {
				t.Error(err)
				return
			}
			cut := ""
			switch {
			case i < cuts:
				cut = "client"
			case i < 2*cuts:
				cut = "upstream"
			}
			r.Header.Set("X-Cut", cut)
			res, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			lines := bufio.NewScanner(res.Body)
			n := 0
			for lines.Scan() {
				if lines.Text() == "" {
					continue
				}
				var got int
				var sent int64
				if _, err := fmt.Sscanf(lines.Text(), "data: %d %d", &got, &sent); err != nil || got != n {
					t.Errorf("event %d is %q", n, lines.Text())
				}
				n++
				took := time.Now().UnixNano() - sent
				sum.Add(took)
				latest.Store(max(latest.Load(), took))
				if took > int64(50*time.Millisecond) {
					late.Add(1)
				}
				if cut == "client" && n == 6 {
					cancel()
				}
			}
			switch err := lines.Err(); {
			case cut == "client" && n == 6, cut == "upstream" && n == 6 && errors.Is(err, io.ErrUnexpectedEOF), cut == "" && n == events && err == nil:
			default:
				t.Errorf("cut by %q: %d events, %v", cut, n, err)
			}
		})
	}
	group.Wait()
	busy := p.scrape()
	client.CloseIdleConnections()
	api.CloseClientConnections()
	p.settles(before)
	if wrong.Load() > 0 || int(left.Load()) > cuts {
		t.Errorf("%d bodies are not repaired; %d clients left", wrong.Load(), left.Load())
	}
	host := strings.TrimPrefix(api.URL, "http://")
	got := p.scrape()
	counts := map[string]float64{}
	for name, value := range got {
		if strings.HasPrefix(name, "toolguard_proxy_requests_total") || strings.HasPrefix(name, "toolguard_proxy_upstream_failures_total") {
			counts[strings.ReplaceAll(name, host, "UP")] = value
		}
	}
	if diff := cmp.Diff(map[string]float64{
		`toolguard_proxy_requests_total{endpoint="chat",outcome="repaired",upstream="UP"}`: float64(streams),
		`toolguard_proxy_upstream_failures_total{reason="client",upstream="UP"}`:           float64(cuts),
		`toolguard_proxy_upstream_failures_total{reason="cut",upstream="UP"}`:              float64(cuts),
	}, counts); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	t.Logf("%d streams; goroutines %v, %v, %v; files %v, %v, %v; peak %d MiB, at the end %.0f MiB; %d events late, latest %v, mean %v", streams,
		before["go_goroutines"], busy["go_goroutines"], got["go_goroutines"], before["process_open_fds"], busy["process_open_fds"], got["process_open_fds"], p.peak(), got["process_resident_memory_bytes"]/(1<<20),
		late.Load(), time.Duration(latest.Load()), time.Duration(sum.Load()/int64(streams*events-cuts*2*(events-6))))
}

// TestManyBodies: large bodies at the same time go out whole, repaired or, if there is no time, as
// they came, and do not stay in memory.
func TestManyBodies(t *testing.T) {
	bodies, size := sample.Size(100, 8, 4), sample.Size(5<<20, 100<<10, 100<<10)
	text := broken(size)
	want := repaired(text)
	var mended, same, wrong atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		switch string(got) {
		case want:
			mended.Add(1)
		case text:
			same.Add(1)
		default:
			wrong.Add(1)
		}
	}))
	defer api.Close()
	for _, timeout := range []string{"2s", "60s"} {
		mended.Store(0)
		same.Store(0)
		p := start(t, api.URL, "--repair-timeout", timeout)
		before := p.scrape()
		client := clients(t)
		begin := time.Now()
		var group sync.WaitGroup
		for range bodies {
			group.Go(func() {
				res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(text))
				if err != nil {
					t.Error(err)
					return
				}
				res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Error(res.Status)
				}
			})
		}
		group.Wait()
		took := time.Since(begin)
		client.CloseIdleConnections()
		api.CloseClientConnections()
		p.settles(before)
		if wrong.Load() > 0 || int(mended.Load()+same.Load()) != bodies {
			t.Errorf("%s: %d repaired, %d as they came, %d others", timeout, mended.Load(), same.Load(), wrong.Load())
		}
		t.Logf("%s: %d bodies of %d KB in %v: %d repaired, %d as they came; peak %d MiB, at the end %.0f MiB", timeout, bodies, len(text)>>10, took, mended.Load(), same.Load(), p.peak(), p.scrape()["process_resident_memory_bytes"]/(1<<20))
	}
}

// TestDrain: after SIGTERM, streams end whole, new connections are refused, and /healthz says so.
func TestDrain(t *testing.T) {
	streams := sample.Size(300, 30, 20)
	var arrived atomic.Int32
	all, drained := make(chan struct{}), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for i := range 20 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			if i == 5 {
				if arrived.Add(1) == int32(streams) {
					close(all)
				}
				select {
				case <-drained:
				case <-r.Context().Done():
					return
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer api.Close()
	p := start(t, api.URL)
	client := clients(t)
	// A connection that was open before.
	kept, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	in := bufio.NewReader(kept)
	health := func() string {
		fmt.Fprintf(kept, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.Status
	}
	if got := health(); got != "200 OK" {
		t.Errorf("health: %s", got)
	}
	var whole atomic.Int32
	var group sync.WaitGroup
	for range streams {
		group.Go(func() {
			res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(broken(0)))
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			got, err := io.ReadAll(res.Body)
			if err != nil || strings.Count(string(got), "data: ") != 20 || !strings.HasSuffix(string(got), "data: 19\n\n") {
				t.Errorf("%q, %v", got, err)
				return
			}
			whole.Add(1)
		})
	}
	<-all
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	refused := false
	for range 200 {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if errors.Is(err, syscall.ECONNREFUSED) {
			refused = true
			break
		}
		if err == nil {
			c.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := health(); !refused || got != "503 Service Unavailable" {
		t.Errorf("refused: %t, health: %s", refused, got)
	}
	if res, err := http.Get(p.metrics + "/healthz"); err != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("health beside the metrics: %v, %v", res, err)
	}
	close(drained)
	group.Wait()
	if code := p.ended(); code != exitOK || int(whole.Load()) != streams {
		t.Errorf("exit code %d, %d of %d streams are whole", code, whole.Load(), streams)
	}
	if log := p.log.String(); !strings.Contains(log, fmt.Sprintf(`"msg":"draining","active":%d}`, streams)) || !strings.Contains(log, `"msg":"ended","cut":0}`) {
		t.Errorf("log:\n%s", log)
	}
}

// TestSecondSignal: a second SIGTERM ends the program at once, although a stream runs.
func TestSecondSignal(t *testing.T) {
	begun := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the client leaves
		close(begun)
		<-r.Context().Done()
	}))
	defer api.Close()
	p := start(t, api.URL)
	client := clients(t)
	failed := make(chan error, 1)
	go func() {
		res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(`{}`))
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	<-begun
	for range 2 {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // two signals at once could be one
	}
	p.ended()
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("got %v", p.cmd.ProcessState)
	}
	if err := <-failed; err == nil {
		t.Error("the client has an answer")
	}
}

// TestUpstreamRestarts: while the upstream is away, clients get a 502; when it is back, so are the
// answers, although the old connections are dead.
func TestUpstreamRestarts(t *testing.T) {
	var address string
	serve := func() *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}))
		if address != "" {
			listener, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			s.Listener.Close()
			s.Listener = listener
		}
		s.Start()
		address = s.Listener.Addr().String()
		return s
	}
	api := serve()
	p := start(t, api.URL)
	before := p.scrape()
	client := clients(t)
	// round sends requests at the same time, and returns how many have each status.
	round := func() map[int]int {
		var mu sync.Mutex
		got := map[int]int{}
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				res, err := client.Post(p.url+"/v1/chat/completions", "application/json", strings.NewReader(broken(0)))
				if err != nil {
					t.Error(err)
					return
				}
				defer res.Body.Close()
				text, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode == http.StatusOK && string(text) != repaired(broken(0)) {
					t.Errorf("%q, %v", text, err)
				}
				mu.Lock()
				got[res.StatusCode]++
				mu.Unlock()
			})
		}
		group.Wait()
		return got
	}
	for i := range 3 {
		if diff := cmp.Diff(map[int]int{200: 20}, round()); diff != "" {
			t.Errorf("%d, up (-want +got):\n%s", i, diff)
		}
		api.CloseClientConnections()
		api.Close()
		if diff := cmp.Diff(map[int]int{502: 20}, round()); diff != "" {
			t.Errorf("%d, down (-want +got):\n%s", i, diff)
		}
		api = serve()
	}
	if diff := cmp.Diff(map[int]int{200: 20}, round()); diff != "" {
		t.Errorf("up again (-want +got):\n%s", diff)
	}
	client.CloseIdleConnections()
	api.CloseClientConnections()
	api.Close()
	p.settles(before)
}
