// Command bench measures how much later the first event of a response arrives
// through the proxy, and prints a table in Markdown.
//
//	go run ./bench
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/proxy/internal/metrics"
	"github.com/toolguard/toolguard/proxy/internal/server"
	"github.com/toolguard/toolguard/proxy/internal/upstream"
)

func main() {
	spent := flag.Duration("time", 2*time.Second, "measure each cell for about this `time`")
	least := flag.Int("runs", 5, "measure each cell at least this `number` of times")
	flag.Parse()
	if err := run(os.Stdout, *spent, *least); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// sizes are those of the bodies.
var sizes = []struct {
	name  string
	bytes int
}{{"300 B", 300}, {"100 KB", 100e3}, {"1 MB", 1e6}, {"10 MB", 10e6}}

// run measures all cells. The ways take turns, so that what else the machine does meets all of them.
func run(w io.Writer, spent time.Duration, least int) error {
	api, err := serve(http.HandlerFunc(answer))
	if err != nil {
		return err
	}
	defer api.Close()
	proxy, end, err := start("http://" + api.Addr().String())
	if err != nil {
		return err
	}
	defer end()
	fmt.Fprintf(w, "%s, %s/%s, %d processors\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	fmt.Fprintln(w, "| body | direct | proxy, unread | whole | broken |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	for _, size := range sizes {
		whole, broken := body(size.bytes, false), body(size.bytes, true)
		ways := []struct {
			url, body string
			repaired  bool
		}{
			{"http://" + api.Addr().String() + "/v1/messages", whole, false},
			{proxy + "/v1/unread", whole, false},
			{proxy + "/v1/messages", whole, false},
			{proxy + "/v1/messages", broken, true},
		}
		took := make([][]time.Duration, len(ways))
		for begin := time.Now(); len(took[0]) < least || time.Since(begin) < spent*time.Duration(len(ways)); {
			for i, way := range ways {
				t, err := first(client, way.url, way.body, way.repaired)
				if err != nil {
					return err
				}
				took[i] = append(took[i], t)
			}
		}
		fmt.Fprintf(w, "| %s |", size.name)
		direct := median(took[0])
		for i := range took {
			m := median(took[i])
			fmt.Fprintf(w, " %.1f ms", m.Seconds()*1e3)
			if i > 0 {
				fmt.Fprintf(w, " (%.1f×)", m.Seconds()/direct.Seconds())
			}
			fmt.Fprint(w, " |")
		}
		fmt.Fprintln(w)
	}
	return nil
}

// body returns a request of about this size, whose results have 3,000 bytes. If it is broken, two
// calls have no result.
func body(size int, broken bool) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"What is in the directory?"}`)
	exchange := func(i, n int, lost bool) {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"/srv/%d"}}]}`, i, i)
		if lost {
			b.WriteString(`,{"role":"user","content":"Go on."}`)
			return
		}
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat("a line of it\\n", n/14))
	}
	i := 0
	for ; b.Len()+3300 < size; i++ {
		exchange(i, 3000, broken && i < 2)
	}
	if i == 0 {
		exchange(i, 14, broken)
	}
	b.WriteString("]}")
	return b.String()
}

// answer reads a request and streams an answer.
func answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: message_start\ndata: {}\n\n")
	_ = http.NewResponseController(w).Flush()
	_, _ = io.WriteString(w, "event: message_stop\ndata: {}\n\n")
}

// first sends a request and returns how long its first event takes. It returns an error if the proxy has
// not repaired a body that it should have.
func first(client *http.Client, url, body string, repaired bool) (time.Duration, error) {
	begin := time.Now()
	res, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	if got := res.Header.Get("X-Toolguard") != ""; res.StatusCode != http.StatusOK || got != repaired {
		return 0, fmt.Errorf("%s: %s, repaired: %t, want %t", url, res.Status, got, repaired)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return took, err
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// serve answers requests at an address of its own.
func serve(h http.Handler) (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(listener) }() // it ends with the program
	return listener, nil
}

// start starts a proxy with the defaults of the command.
func start(api string) (url string, end func(), err error) {
	u, err := upstream.Parse(api)
	if err != nil {
		return "", nil, err
	}
	s, err := server.New(server.Config{
		Upstreams: upstream.Set{u}, MaxBody: 64 << 20, MaxUnpacked: 64 << 20, MaxMemory: 1 << 30, Timeout: time.Minute, ReadTimeout: time.Minute,
		Repairs: []toolguard.Option{
			toolguard.Allow(toolguard.Additive), toolguard.Strategy("orphan-tool-result", "text"), toolguard.AllowFor("orphan-tool-result"),
		},
		Metrics: metrics.New(), Log: slog.New(slog.DiscardHandler),
	}, time.Second)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan bool)
	go func() {
		defer close(done)
		_ = s.Serve(ctx, listener, nil) // requests would fail first
	}()
	return "http://" + listener.Addr().String(), func() { cancel(); <-done }, nil
}
