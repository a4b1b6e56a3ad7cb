package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
)

// thinking is a request whose thinking another account wrote, and stripped is the same without.
const (
	thinking = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"text","text":"a"}]},{"role":"user","content":"r"}]}`
	stripped = `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":"r"}]}`
	badSeal  = "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"},\"request_id\":\"req_1\"}"
	badRole  = `{"type":"error","error":{"type":"invalid_request_error","message":"messages: roles must alternate between \"user\" and \"assistant\""}}`
)

// An answerTo is what a scripted upstream answers to one request.
type answerTo struct {
	status int
	body   string
	header []string
}

// scripted returns an upstream that gives these answers, one after the other.
func scripted(answers ...answerTo) http.HandlerFunc {
	var n atomic.Int32
	return func(w http.ResponseWriter, _ *http.Request) {
		a := answers[min(int(n.Add(1)), len(answers))-1]
		for i := 0; i < len(a.header); i += 2 {
			w.Header().Set(a.header[i], a.header[i+1])
		}
		w.Header()["Date"] = nil
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}
}

func retries(c *Config) { c.Retry = true }

// bodies returns the bodies that reached the upstream, and forgets them.
func (w *world) bodies() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.seen {
		out = append(out, r.Body)
	}
	w.seen = nil
	return out
}

// TestWithoutReasoning: a request that is refused for its reasoning is sent once more without, and the client
// gets the answer to one of the two, unchanged.
func TestWithoutReasoning(t *testing.T) {
	t.Parallel()
	ok := answerTo{200, `{"ok":true}`, []string{"Request-Id", "second"}}
	no := answerTo{400, badSeal, []string{"Request-Id", "first", "Content-Type", "application/json"}}
	gz := packers["gzip"]
	broken := histories[0].broken
	for name, tt := range map[string]struct {
		answers []answerTo
		path    string
		body    string
		header  []string
		change  func(*Config)
		sent    []string // by the proxy
		status  int
		text    string
		id      string
		said    []string // X-Toolguard
		log     string   // the outcome of the retry, "" for none
	}{
		"accepted":            {answers: []answerTo{no, ok}, body: thinking, sent: []string{thinking, stripped}, status: 200, text: `{"ok":true}`, id: "second", said: []string{"retried=without-reasoning"}, log: "accepted"},
		"packed":              {answers: []answerTo{no, ok}, body: gz(thinking), header: encoded("gzip"), sent: []string{gz(thinking), stripped}, status: 200, text: `{"ok":true}`, id: "second", said: []string{"retried=without-reasoning"}, log: "accepted"},
		"a packed refusal":    {answers: []answerTo{{400, gz(badSeal), []string{"Content-Encoding", "gzip", "Request-Id", "first"}}, ok}, body: thinking, sent: []string{thinking, stripped}, status: 200, text: `{"ok":true}`, id: "second", said: []string{"retried=without-reasoning"}, log: "accepted"},
		"refused again":       {answers: []answerTo{no, {400, badRole, []string{"Request-Id", "second"}}}, body: thinking, sent: []string{thinking, stripped}, status: 400, text: badSeal, id: "first", log: "refused"},
		"an outage":           {answers: []answerTo{no, {529, "overloaded", nil}}, body: thinking, sent: []string{thinking, stripped}, status: 400, text: badSeal, id: "first", log: "refused"},
		"a redirect":          {answers: []answerTo{no, {302, "elsewhere", []string{"Location", "https://example.com/", "Request-Id", "second"}}}, body: thinking, sent: []string{thinking, stripped}, status: 400, text: badSeal, id: "first", log: "refused"},
		"not modified":        {answers: []answerTo{no, {304, "", []string{"Request-Id", "second"}}}, body: thinking, sent: []string{thinking, stripped}, status: 400, text: badSeal, id: "first", log: "refused"},
		"created":             {answers: []answerTo{no, {201, `{"ok":true}`, []string{"Request-Id", "second"}}}, body: thinking, sent: []string{thinking, stripped}, status: 201, text: `{"ok":true}`, id: "second", said: []string{"retried=without-reasoning"}, log: "accepted"},
		"only once":           {answers: []answerTo{no, no, ok}, body: thinking, sent: []string{thinking, stripped}, status: 400, text: badSeal, id: "first", log: "refused"},
		"another error":       {answers: []answerTo{{400, badRole, []string{"Request-Id", "first"}}, ok}, body: thinking, sent: []string{thinking}, status: 400, text: badRole, id: "first"},
		"another status":      {answers: []answerTo{{422, badSeal, []string{"Request-Id", "first"}}, ok}, body: thinking, sent: []string{thinking}, status: 422, text: badSeal, id: "first"},
		"a long answer":       {answers: []answerTo{{400, badSeal + strings.Repeat(" ", 70<<10), []string{"Request-Id", "first"}}, ok}, body: thinking, sent: []string{thinking}, status: 400, text: badSeal + strings.Repeat(" ", 70<<10), id: "first"},
		"without reasoning":   {answers: []answerTo{no, ok}, body: stripped, sent: []string{stripped}, status: 400, text: badSeal, id: "first", log: "impossible"},
		"repaired before":     {answers: []answerTo{no, ok}, body: strings.Replace(broken, `[{"type":"tool_use"`, `[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"tool_use"`, 1), sent: []string{strings.Replace(histories[0].repaired, `[{"type":"tool_use"`, `[{"type":"thinking","thinking":"t","signature":"c2ln"},{"type":"tool_use"`, 1), histories[0].repaired}, status: 200, text: `{"ok":true}`, id: "second", said: []string{"repaired=1, retried=without-reasoning"}, log: "accepted"},
		"signed":              {answers: []answerTo{no, ok}, body: thinking, header: []string{"Authorization", "AWS4-HMAC-SHA256 Credential=x"}, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
		"another path":        {answers: []answerTo{no, ok}, path: "/v1/files", body: thinking, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
		"off":                 {answers: []answerTo{no, ok}, body: thinking, change: func(c *Config) { c.Retry = false }, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
		"a dry run":           {answers: []answerTo{no, ok}, body: thinking, change: func(c *Config) { c.DryRun = true }, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
		"a large body":        {answers: []answerTo{no, ok}, body: thinking, change: func(c *Config) { c.MaxBody = 100 }, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
		"a body in a hurry":   {answers: []answerTo{no, ok}, body: thinking, change: func(c *Config) { c.Timeout = time.Nanosecond }, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
		"stripped every time": {answers: []answerTo{no, ok}, body: thinking, change: func(c *Config) { c.Repairs = append(c.Repairs, toolguard.StripReasoning()) }, sent: []string{stripped}, status: 400, text: badSeal, id: "first", said: []string{"repaired=1"}, log: "impossible"},
		"an unknown encoding": {answers: []answerTo{{400, badSeal, []string{"Content-Encoding", "br", "Request-Id", "first"}}, ok}, body: thinking, sent: []string{thinking}, status: 400, text: badSeal, id: "first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := []func(*Config){retries}
			if tt.change != nil {
				change = append(change, tt.change)
			}
			w := newWorld(t, scripted(tt.answers...), change...)
			path := tt.path
			if path == "" {
				path = "/v1/messages"
			}
			res, text := w.post(path, tt.body, tt.header...)
			if diff := cmp.Diff(tt.sent, w.bodies()); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if res.StatusCode != tt.status || text != tt.text || res.Header.Get("Request-Id") != tt.id {
				t.Errorf("%s, %s: %.200q", res.Status, res.Header.Get("Request-Id"), text)
			}
			if diff := cmp.Diff(tt.said, res.Header.Values("X-Toolguard")); diff != "" {
				t.Errorf("X-Toolguard (-want +got):\n%s", diff)
			}
			outcome := ""
			for _, line := range w.log.lines(t) {
				if line["msg"] == "retry without reasoning" {
					outcome = line["outcome"].(string)
				}
			}
			if outcome != tt.log {
				t.Errorf("logged: %q, want %q", outcome, tt.log)
			}
			metrics := w.scrape()
			if tt.log != "" && !metrics[fmt.Sprintf(`toolguard_proxy_retries_total{outcome=%q} 1`, tt.log)] {
				t.Errorf("metrics: %v", metrics)
			}
			if accepted := metrics[`toolguard_proxy_repairs_total{rule="replayed-reasoning"} 1`]; accepted != (tt.log == "accepted" || name == "stripped every time") {
				t.Errorf("metrics: %v", metrics)
			}
		})
	}
}

// TestSealedElsewhere: what OpenAI says of reasoning that it cannot read, in all of its wordings, is answered with a second
// request. What it says of an account is not.
func TestSealedElsewhere(t *testing.T) {
	t.Parallel()
	const (
		body   = `{"model":"gpt-5","store":false,"input":[{"type":"message","role":"user","content":"q"},{"type":"reasoning","id":"rs_0abc","encrypted_content":"gAAA","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"message","role":"user","content":"r"}]}`
		rest   = `{"model":"gpt-5","store":false,"input":[{"type":"message","role":"user","content":"q"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"message","role":"user","content":"r"}]}`
		parsed = " Reason: Encrypted content could not be decrypted or parsed."
	)
	said := func(message string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`
	}
	for _, tt := range []struct {
		answer string
		again  bool
	}{
		{said("The encrypted content gAAA could not be verified." + parsed), true},
		{said("The encrypted content gAAA... could not be verified." + parsed), true},
		{said("The encrypted content gAAAAABp-xyz_12 could not be verified." + parsed), true},
		{said("The encrypted content gAAA could not be verified."), true},
		{said("The encrypted content for item rs_0abc could not be verified." + parsed), true},
		{said("The encrypted content gAAA could not be verified. Reason: Encrypted content organization_id did not match the target organization."), true},
		{said("The encrypted content gAAA could not be verified. Encrypted content organization_id did not match the target organization."), true},
		{said("Encrypted content could not be decrypted or parsed."), true},
		{said("Bad Request"), true},
		{`{"detail":"The encrypted content gAAA could not be verified.` + parsed + `"}`, true},
		{`{"error":{"message":"Your account could not be verified. Please verify your organization.","type":"invalid_request_error","param":null,"code":null}}`, false},
	} {
		w := newWorld(t, scripted(answerTo{400, tt.answer, nil}, answerTo{200, `{"ok":true}`, nil}), retries)
		res, text := w.post("/v1/responses", body)
		sent, status, want := []string{body}, 400, tt.answer
		if tt.again {
			sent, status, want = []string{body, rest}, 200, `{"ok":true}`
		}
		if diff := cmp.Diff(sent, w.bodies()); diff != "" {
			t.Errorf("%s: sent (-want +got):\n%s", tt.answer, diff)
		}
		if res.StatusCode != status || text != want {
			t.Errorf("%s: %s: %s", tt.answer, res.Status, text)
		}
	}
}

// TestWithoutReasoningHeaders: the first answer of two that refuse is passed on with its own header, and the
// second request has the header of the first without what was about its body.
func TestWithoutReasoningHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, scripted(answerTo{400, badSeal, []string{"Request-Id", "first", "Retry-After", "7", "Content-Type", "application/json"}}, answerTo{400, badRole, []string{"Request-Id", "second", "X-Other", "1"}}), retries)
	res, _ := w.post("/v1/messages?beta=true", thinking, "X-Api-Key", "k", "Content-MD5", "x", "Anthropic-Beta", "a")
	w.mu.Lock()
	first, second := w.seen[0], w.seen[1]
	w.mu.Unlock()
	if first.URI != second.URI || first.Host != second.Host || second.Length != int64(len(stripped)) {
		t.Errorf("second request: %+v", second)
	}
	want := first.Header.Clone()
	want.Del("Content-Md5")
	want.Set("Content-Length", strconv.Itoa(len(stripped)))
	if diff := cmp.Diff(want, second.Header); diff != "" {
		t.Errorf("second request (-want +got):\n%s", diff)
	}
	res.Header.Del("Date")
	answer := http.Header{"Content-Type": {"application/json"}, "Request-Id": {"first"}, "Retry-After": {"7"}, "Content-Length": {strconv.Itoa(len(badSeal))}}
	if diff := cmp.Diff(answer, res.Header); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// TestWithoutReasoningStream: the stream of the second answer reaches the client as it comes, and the memory of both
// bodies is free while it runs.
func TestWithoutReasoningStream(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var n atomic.Int32
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, badSeal)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, "data: one\n\n")
		rw.(http.Flusher).Flush()
		<-release
		_, _ = io.WriteString(rw, "data: two\n\n")
	}, retries)
	long := strings.Replace(thinking, `"q"`, `"`+strings.Repeat("q", 100<<10)+`"`, 1)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", strings.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b := make([]byte, len("data: one\n\n"))
	if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != "data: one\n\n" {
		t.Errorf("first event: %q %v", b, err)
	}
	for line := range w.scrape() {
		if strings.HasPrefix(line, "toolguard_proxy_memory_bytes") {
			t.Errorf("while the stream runs: %s", line)
		}
	}
	close(release)
	rest, err := io.ReadAll(res.Body)
	if err != nil || string(rest) != "data: two\n\n" {
		t.Errorf("then %q %v", rest, err)
	}
}

// TestWithoutReasoningClientLeaves: nothing is waited for once the client has gone, while the refusal is read or
// while the second request runs. The client counts as gone, and the log says nothing of a retry.
func TestWithoutReasoningClientLeaves(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]int32{"the refusal": 1, "the second request": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, gone := make(chan struct{}), make(chan struct{})
			var n atomic.Int32
			w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
				k := n.Add(1)
				if k == 1 {
					rw.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(rw, badSeal)
					rw.(http.Flusher).Flush()
				}
				if k == during {
					close(arrived)
					<-r.Context().Done()
					close(gone)
				}
			}, retries)
			ctx, cancel := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/messages", strings.NewReader(thinking))
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				<-arrived
				cancel()
			}()
			if res, err := client.Do(r); err == nil {
				res.Body.Close()
				t.Error("there was an answer")
			}
			select {
			case <-gone:
			case <-time.After(10 * time.Second):
				t.Error("the request to the upstream goes on")
			}
			eventually(t, "the client is counted", func() bool {
				return w.scrape()[`toolguard_proxy_upstream_failures_total{reason="client",upstream="UP"} 1`]
			})
			for line := range w.scrape() {
				if strings.HasPrefix(line, "toolguard_proxy_retries_total") {
					t.Errorf("metrics: %s", line)
				}
			}
			for _, line := range w.log.lines(t) {
				if line["msg"] != "request" {
					t.Errorf("logged: %v", line)
				}
			}
		})
	}
}

// TestWithoutReasoningBrokenOff: an upstream that breaks off the second request leaves the first answer.
func TestWithoutReasoningBrokenOff(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			rw.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(rw, badSeal)
			return
		}
		panic(http.ErrAbortHandler)
	}, retries)
	res, text := w.post("/v1/messages", thinking)
	if res.StatusCode != http.StatusBadRequest || text != badSeal || res.Header.Get("X-Toolguard") != "" {
		t.Errorf("%s %s", res.Status, text)
	}
}

// TestStripEveryRequest: reasoning is removed from every request in each dialect that has some.
func TestStripEveryRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) { c.Repairs = append(c.Repairs, toolguard.StripReasoning()) })
	for path, bodies := range map[string][2]string{
		"/v1/messages": {thinking, stripped},
		"/v1/responses": {
			`{"model":"gpt-5","input":[{"role":"user","content":"q"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"role":"user","content":"r"}]}`,
			`{"model":"gpt-5","input":[{"role":"user","content":"q"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"role":"user","content":"r"}]}`,
		},
		"/v1beta/models/gemini-3-pro:generateContent": {
			`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"c2ln"}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"x"}}}]}]}`,
		},
		"/v1/chat/completions": {
			`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","reasoning_content":"t"},{"role":"user","content":"r"}]}`,
			`{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]}`,
		},
	} {
		res, _ := w.post(path, bodies[0])
		if diff := cmp.Diff([]string{bodies[1]}, w.bodies()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		if said := res.Header.Get("X-Toolguard"); !strings.HasPrefix(said, "repaired=") {
			t.Errorf("%s: X-Toolguard: %q", path, said)
		}
	}
}
