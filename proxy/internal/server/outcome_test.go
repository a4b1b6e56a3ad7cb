package server

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/proxy/internal/endpoint"
)

// TestBodies: in each dialect and encoding, a whole body goes out as the bytes that came, and a broken
// one as the text of its repair.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, h := range histories {
		for encoding, pack := range packers {
			name := h.dialect + " " + encoding
			res, text := w.post(h.path, pack(h.whole), encoded(encoding)...)
			if got := w.last(); got.Body != pack(h.whole) || got.Header.Get("Content-Encoding") != encoding || got.URI != h.path || got.Length != int64(len(got.Body)) {
				t.Errorf("%s, whole: %+v", name, got)
			}
			if res.StatusCode != http.StatusOK || text != `{"ok":true}` || res.Header.Get("X-Toolguard") != "" {
				t.Errorf("%s, whole: %s %q %q", name, res.Status, text, res.Header)
			}
			res, text = w.post(h.path, pack(h.broken), encoded(encoding)...)
			got := w.last()
			if diff := cmp.Diff(h.repaired, got.Body); diff != "" {
				t.Errorf("%s, broken (-want +got):\n%s", name, diff)
			}
			if got.Header.Values("Content-Encoding") != nil || got.Length != int64(len(h.repaired)) {
				t.Errorf("%s, broken: Content-Encoding %q, Content-Length %d", name, got.Header.Values("Content-Encoding"), got.Length)
			}
			if res.StatusCode != http.StatusOK || text != `{"ok":true}` || res.Header.Get("X-Toolguard") != "repaired=1" {
				t.Errorf("%s, broken: %s %q %q", name, res.Status, text, res.Header)
			}
		}
	}
}

// TestPaths: each path of each endpoint is repaired, and its neighbours pass.
func TestPaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	paths := map[string]string{
		"/v1/messages":              "anthropic",
		"/v1/messages?beta=true":    "anthropic",
		"//v1/messages":             "anthropic",
		"/v1/messages/":             "anthropic",
		"/v1//messages":             "anthropic",
		"/v1/./messages/.":          "anthropic",
		"/v1/files/%2e%2E/messages": "anthropic",
		"/v1/message%73":            "anthropic",
		"/v1/chat//completions?x|y": "openai-chat",
		"/model//arn%3Aaws%3Abedrock%3Aus%3A1%3Ax%2Fy//converse":               "bedrock",
		"/model/arn%3Aaws%3Abedrock%3Aus%3A1%3Ax%2f..%2Fy/converse":            "bedrock",
		"/anthropic/v1/messages":                                               "anthropic",
		"/v1/messages/count_tokens":                                            "anthropic",
		"/chat/completions":                                                    "openai-chat",
		"/openai/deployments/d/chat/completions?api-version=1":                 "openai-chat",
		"/openai/v1/chat/completions":                                          "openai-chat",
		"/v1/projects/p/locations/l/endpoints/openapi/chat/completions":        "openai-chat",
		"/v1/chat/completions/input_tokens":                                    "openai-chat",
		"/v1/tokenizers/estimate-token-count":                                  "openai-chat",
		"/v1/agents/completions":                                               "openai-chat",
		"/v1/responses":                                                        "openai-responses",
		"/openai/v1/responses?api-version=preview":                             "openai-responses",
		"/openai/responses?api-version=1":                                      "openai-responses",
		"/v1/responses/input_tokens":                                           "openai-responses",
		"/backend-api/codex/responses":                                         "openai-responses",
		"/v1/responses/compact":                                                "openai-responses",
		"/v1beta/models/gemini-2.5-pro:generateContent?key=k":                  "gemini",
		"/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse":          "gemini",
		"/v1beta/models/gemini-2.5-pro%3AcountTokens":                          "gemini",
		"/v1/projects/p/locations/l/endpoints/1:generateContent":               "gemini",
		"/v1beta/tunedModels/x:generateContent":                                "gemini",
		"/model/us.anthropic.claude-sonnet-4-5-v1:0/converse":                  "bedrock",
		"/model/arn%3Aaws%3Abedrock%3Aus%3A1%3Ax%2Fy/converse-stream":          "bedrock",
		"/model/anthropic.claude-sonnet-4-5-v1%3A0/invoke":                     "anthropic",
		"/model/arn%3Aaws%3Abedrock%3Aus%3A1%3Ax%2Fy/invoke":                   "anthropic",
		"/model/eu.anthropic.claude-opus-4-v1:0/invoke-with-response-stream":   "anthropic",
		"/v1/projects/p/publishers/anthropic/models/claude@1:rawPredict":       "anthropic",
		"/v1/projects/p/publishers/anthropic/models/claude@1:streamRawPredict": "anthropic",
		"/v1/projects/p/publishers/anthropic/models/count-tokens:rawPredict":   "anthropic",
	}
	for path, dialect := range paths {
		h := history{}
		for _, x := range histories {
			if x.dialect == dialect {
				h = x
			}
		}
		w.post(path, h.broken)
		if got := w.last(); got.Body != h.repaired || got.URI != path {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, e := range endpoint.All() {
		found := slices.ContainsFunc(slices.Collect(maps.Keys(paths)), func(path string) bool {
			plain, _, _ := strings.Cut(path, "?")
			is := endpoint.Find(http.MethodPost, plain)
			return is != nil && is.Name == e.Name
		})
		if !found {
			t.Errorf("%s: no path is tested", e.Name)
		}
	}
	broken := histories[0].broken
	for _, path := range []string{
		"/v1/messages/batches", "/v1/threads/t/messages", "/v1/messages/..", "/v1%2Fmessages", "/v1/complete", "/", "/v1/chat/completions/x", "/v1/responses/r/cancel",
		"/v1internal:generateContent", "/v1/models/x:rawPredict", "/model/meta.llama3/invoke", "/v1/files", "/model/x/y/converse",
		"/model/anthropic.claude-sonnet-4-5-v1:0/count-tokens", "/v1/responses/input_items", "/v1/responses/r/input_tokens",
		"/v1beta/models/a/b:generateContent?key=a;b&&=%zz",
	} {
		w.post(path, broken)
		if got := w.last(); got.Body != broken || got.URI != path {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
		w.send(method, "/v1/messages", strings.NewReader(broken))
		if got := w.last(); got.Body != broken || got.Method != method {
			t.Errorf("%s: %+v", method, got)
		}
	}
	for _, line := range w.log.lines(t) {
		if line["outcome"] != "repaired" {
			t.Errorf("logged: %v", line)
		}
	}
}

// TestOrphans: a result without its call becomes text by default. Nothing is deleted without
// --unsafe.
func TestOrphans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.post("/v1/chat/completions", `{"messages":[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"gone","content":"words"},{"role":"user","content":"so?"}]}`)
	want := `{"messages":[{"role":"user","content":"q"},{"role":"user","content":"[toolguard] Result of an unknown tool (id gone), kept as text:\nwords"},{"role":"user","content":"so?"}]}`
	if diff := cmp.Diff(want, w.last().Body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Fields beside the content stay too, and the prompt cache ends at the same place.
	w.post("/v1/messages", `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"gone","content":"words","is_error":true,"x":[1e400,"\u00e9"],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"so?"}]}]}`)
	want = `{"messages":[{"role":"user","content":[{"type":"text","text":"[toolguard] Result of an unknown tool (id gone), kept as text:\nwords\n{\"is_error\":true,\"x\":[1e400,\"\\u00e9\"]}","cache_control":{"type":"ephemeral"}},{"type":"text","text":"so?"}]}]}`
	if diff := cmp.Diff(want, w.last().Body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Which one of two results is right is not for the proxy to say.
	twice := `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"tool","tool_call_id":"c1","content":"b"}]}`
	res, _ := w.post("/v1/chat/completions", twice)
	if got := w.last(); got.Body != twice || res.Header.Get("X-Toolguard") != "" {
		t.Errorf("two results: %+v", got)
	}
	lines := w.log.lines(t)
	want2 := map[string]any{
		"level": "INFO", "msg": "request", "upstream": strings.TrimPrefix(w.upstream.URL, "http://"), "endpoint": "chat", "outcome": "left",
		"left": 1.0, "left_rules": map[string]any{"duplicate-tool-result": 1.0}, "bytes": float64(len(twice)),
	}
	if diff := cmp.Diff(want2, lines[2]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestHeaders: what is about the body that came does not go out with a repaired one. Everything else
// stays, and nothing is added.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Request-Id", "r1")
		rw.Header()["Date"] = nil
		rw.WriteHeader(http.StatusOK)
	})
	h := histories[0]
	digests := []string{"Content-MD5", "x", "Digest", "x", "Content-Digest", "x", "Repr-Digest", "x", "Content-Encoding", "gzip"}
	others := []string{
		"X-Api-Key", "k", "User-Agent", "me", "Content-Type", "application/json", "Accept-Encoding", "br", "Forwarded", "for=a",
		"X-Forwarded-For", "10.0.0.1", "X-Forwarded-Proto", "https", "Anthropic-Beta", "a", "Anthropic-Beta", "b", "X-Toolguard", "mine",
	}
	want := http.Header{}
	for i := 0; i < len(others); i += 2 {
		want.Add(others[i], others[i+1])
	}
	pack := packers["gzip"]
	for body, sent := range map[string]string{pack(h.whole): pack(h.whole), pack(h.broken): h.repaired} {
		res, _ := w.post(h.path, body, append(others, digests...)...)
		got := w.last()
		header := want.Clone()
		header.Set("Content-Length", strconv.Itoa(len(sent)))
		if body == sent {
			for i := 0; i < len(digests); i += 2 {
				header.Set(digests[i], digests[i+1])
			}
		}
		if diff := cmp.Diff(header, got.Header); diff != "" {
			t.Errorf("request (-want +got):\n%s", diff)
		}
		if got.Body != sent || got.Host != strings.TrimPrefix(w.upstream.URL, "http://") {
			t.Errorf("got %+v", got)
		}
		answer := http.Header{"Request-Id": {"r1"}, "Content-Length": {"0"}}
		if body != sent {
			answer.Set("X-Toolguard", "repaired=1")
		}
		res.Header.Del("Date")
		if diff := cmp.Diff(answer, res.Header); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
	}
}

// TestUnread: what the proxy does not read goes out as the bytes that came, or is refused if so
// configured.
func TestUnread(t *testing.T) {
	t.Parallel()
	pass := newWorld(t, nil, func(c *Config) { c.MaxBody, c.MaxUnpacked = 2000, 1000 })
	reject := newWorld(t, nil, func(c *Config) { c.MaxBody, c.MaxUnpacked, c.RejectUnreadable = 2000, 1000, true })
	broken := histories[0].broken
	gz := packers["gzip"]
	big := strings.Replace(broken, `"q"`, `"`+strings.Repeat("q", 1000)+`"`, 1)
	huge := strings.Replace(broken, `"q"`, `"`+strings.Repeat("q", 2000)+`"`, 1)
	tests := []struct{ reason, says, body, encoding string }{
		{"json", "the body is not valid JSON", "not json", ""},
		{"json", "the body is not valid JSON", broken[:len(broken)-5], ""},
		{"json", "the body is not valid JSON", gz(broken), ""},
		{"json", "the body is not valid JSON", gz(gz(broken)), "gzip"},
		{"json", "the body is not valid JSON", packers["zstd"](broken), ""},
		{"json", "the body is not valid JSON", "\xff\xfe", ""},
		{"other", "the body is no request with a history", `{"requests":[]}`, ""},
		{"other", "the body is no request with a history", `[]`, ""},
		{"dialect", "the messages are not in the form of this API", histories[1].broken, ""},
		{"encoding", "the Content-Encoding is not supported; gzip and zstd are", "\x1b\x00brotli", "br"},
		{"encoding", "the Content-Encoding is not supported; gzip and zstd are", gz(broken), "deflate"},
		{"encoding", "the Content-Encoding is not supported; gzip and zstd are", gz(gz(broken)), "gzip, gzip"},
		{"corrupt", "the body cannot be unpacked", broken, "gzip"},
		{"corrupt", "the body cannot be unpacked", gz(broken)[:60], "gzip"},
		{"corrupt", "the body cannot be unpacked", broken, "zstd"},
		{"unpacked", "the unpacked body is larger than --max-unpacked", gz(big), "gzip"},
		{"unpacked", "the unpacked body is larger than --max-unpacked", packers["zstd"](big), "zstd"},
		{"unpacked", "the unpacked body is larger than --max-unpacked", big, ""},
		{"large", "the body is larger than --max-body", huge, ""},
	}
	rejected := map[string]int{}
	for i, tt := range tests {
		res, text := pass.post("/v1/messages", tt.body, encoded(tt.encoding)...)
		if got := pass.last(); got.Body != tt.body || res.StatusCode != http.StatusOK || text != `{"ok":true}` || res.Header.Get("X-Toolguard") != "" || got.Header.Get("Content-Encoding") != tt.encoding {
			t.Errorf("%d, %s: %s %+v", i, tt.reason, res.Status, got)
		}
		lines := pass.log.lines(t)
		want := map[string]any{
			"level": "INFO", "msg": "request", "upstream": strings.TrimPrefix(pass.upstream.URL, "http://"), "endpoint": "messages",
			"outcome": "passed", "reason": tt.reason, "bytes": float64(len(tt.body)),
		}
		if diff := cmp.Diff(want, lines[len(lines)-1]); diff != "" {
			t.Errorf("%d, %s: log (-want +got):\n%s", i, tt.reason, diff)
		}
		res, text = reject.post("/v1/messages", tt.body, encoded(tt.encoding)...)
		reject.none()
		refusal := fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":"toolguard proxy: %s"}}`, tt.says)
		if res.StatusCode != http.StatusBadRequest || text != refusal || res.Header.Get("X-Toolguard") != "rejected" {
			t.Errorf("%d, %s: %s %s", i, tt.reason, res.Status, text)
		}
		rejected[tt.reason]++
		lines = reject.log.lines(t)
		want = map[string]any{
			"level": "WARN", "msg": "request", "upstream": strings.TrimPrefix(reject.upstream.URL, "http://"), "endpoint": "messages",
			"outcome": "rejected", "reason": tt.reason,
		}
		if diff := cmp.Diff(want, lines[len(lines)-1]); diff != "" {
			t.Errorf("%d, %s: log of the refusal (-want +got):\n%s", i, tt.reason, diff)
		}
		if line := fmt.Sprintf(`toolguard_proxy_rejected_total{reason=%q} %d`, tt.reason, rejected[tt.reason]); !reject.scrape()[line] {
			t.Errorf("%d: no %s in the metrics", i, line)
		}
	}
	// A body whose size is not announced.
	res, _ := pass.send(http.MethodPost, "/v1/messages", onlyReader{strings.NewReader(huge)})
	if got := pass.last(); got.Body != huge || got.Length != -1 || res.StatusCode != http.StatusOK {
		t.Errorf("chunks: %+v", got)
	}
	// The API takes other bodies too.
	for _, path := range []string{"/v1beta/models/gemini-2.5-pro:countTokens", "/model/arn%3Aaws%3Ax/invoke"} {
		reject.post(path, `{"prompt":"x"}`)
		if got := reject.last(); got.Body != `{"prompt":"x"}` {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// TestInternalError: a body whose check meets a bug goes out as it came, and the log has the version.
func TestInternalError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) {
		c.Repairs, c.Version = []toolguard.Option{toolguard.Dialect("nonsense")}, "1.2.3"
	})
	sent := histories[0].broken
	res, text := w.post("/v1/messages", sent)
	if got := w.last(); got.Body != sent || res.StatusCode != http.StatusOK || text != `{"ok":true}` {
		t.Errorf("%s %+v", res.Status, got)
	}
	lines := w.log.lines(t)
	want := map[string]any{
		"level": "INFO", "msg": "request", "upstream": strings.TrimPrefix(w.upstream.URL, "http://"), "endpoint": "messages",
		"outcome": "passed", "reason": "internal-error", "version": "1.2.3", "bytes": float64(len(sent)),
	}
	if diff := cmp.Diff(want, lines[len(lines)-1]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// onlyReader hides the size of a body.
type onlyReader struct{ r *strings.Reader }

func (o onlyReader) Read(p []byte) (int, error) { return o.r.Read(p) }

// TestChunks: a body without a Content-Length is repaired and gets one.
func TestChunks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.send(http.MethodPost, "/v1/messages", onlyReader{strings.NewReader(histories[0].broken)})
	if got := w.last(); got.Body != histories[0].repaired || got.Length != int64(len(got.Body)) {
		t.Errorf("got %+v", got)
	}
	w.send(http.MethodPost, "/v1/messages", onlyReader{strings.NewReader("")})
	if got := w.last(); got.Body != "" {
		t.Errorf("got %+v", got)
	}
}

// TestRejected: errors that are left are refused in the shape of each provider, if so configured.
func TestRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) { c.RejectErrors = true })
	twice := map[string]string{
		"/v1/messages": `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t1","content":"b"}]}]}`,
		"/v1/chat/completions": `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c\"1","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
			`{"role":"tool","tool_call_id":"c\"1","content":"a"},{"role":"tool","tool_call_id":"c\"1","content":"b"}]}`,
		"/v1beta/models/gemini-2.5-pro:generateContent": `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"robot","parts":[{"text":"q"}]},{"role":"user","parts":[{"text":"q"}]}]}`,
		"/model/anthropic.claude-3/converse":            `{"messages":[{"role":"user","content":[{"text":"q"}]},{"role":"robot","content":[{"text":"q"}]},{"role":"user","content":[{"text":"q"}]}]}`,
	}
	want := map[string]string{
		"/v1/messages": `{"type":"error","error":{"type":"invalid_request_error","message":"toolguard proxy: /messages/2/content/1/tool_use_id: result for \"t1\" is a second result for its call [duplicate-tool-result]"}}`,
		"/v1/chat/completions": `{"error":{"message":"toolguard proxy: /messages/3/tool_call_id: result for \"c\\\"1\" is a second result for its call [duplicate-tool-result]",` +
			`"type":"invalid_request_error","param":"/messages/3/tool_call_id","code":"duplicate-tool-result"}}`,
		"/v1beta/models/gemini-2.5-pro:generateContent": `{"error":{"code":400,"message":"toolguard proxy: /contents/1/role: the Google Gemini API does not accept the role \"robot\" [invalid-role]","status":"INVALID_ARGUMENT"}}`,
		"/model/anthropic.claude-3/converse":            `{"message":"toolguard proxy: /messages/1/role: the Amazon Bedrock Converse API (Claude models) does not accept the role \"robot\" [invalid-role]"}`,
	}
	// A result is inserted before the error, and its id would be changed, but this is not what came.
	twice["/moved/chat/completions"] = `{"model":"mistral-large-latest","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"call 0","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call 1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call 1","content":"a"},{"role":"tool","tool_call_id":"call 1","content":"b"}]}`
	want["/moved/chat/completions"] = `{"error":{"message":"toolguard proxy: /messages/4/tool_call_id: result for \"call 1\" is a second result for its call [duplicate-tool-result]",` +
		`"type":"invalid_request_error","param":"/messages/4/tool_call_id","code":"duplicate-tool-result"}}`
	rules := map[string]int{}
	for path, body := range twice {
		res, text := w.post(path, body)
		w.none()
		if res.StatusCode != http.StatusBadRequest || text != want[path] || res.Header.Get("X-Toolguard") != "rejected" {
			t.Errorf("%s: %s %s\n%v", path, res.Status, text, res.Header)
		}
		header := http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(text))}, "X-Toolguard": {"rejected"}}
		if strings.HasSuffix(path, "/converse") {
			header.Set("X-Amzn-Errortype", "ValidationException")
		}
		res.Header.Del("Date")
		if diff := cmp.Diff(header, res.Header); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
		lines := w.log.lines(t)
		rule := regexp.MustCompile(`\[([a-z-]+)\]`).FindStringSubmatch(text)[1]
		rules[rule]++
		if line := lines[len(lines)-1]; line["level"] != "WARN" || line["msg"] != "request" || line["outcome"] != "rejected" || line["reason"] != rule || line["left"] != 1.0 {
			t.Errorf("%s: log %v", path, line)
		}
		if line := fmt.Sprintf(`toolguard_proxy_rejected_total{reason=%q} %d`, rule, rules[rule]); !w.scrape()[line] {
			t.Errorf("%s: no %s in the metrics", path, line)
		}
	}
	w.post(histories[0].path, histories[0].broken)
	if got := w.last(); got.Body != histories[0].repaired {
		t.Errorf("nothing is left: %+v", got)
	}
}

// TestDryRun: nothing is changed or refused, and the log says what would be.
func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) { c.DryRun, c.RejectErrors, c.RejectUnreadable = true, true, true })
	for _, body := range []string{histories[0].broken, "not json"} {
		res, _ := w.post("/v1/messages", body)
		if got := w.last(); got.Body != body || res.Header.Get("X-Toolguard") != "" {
			t.Errorf("%+v", got)
		}
	}
	if got := w.log.lines(t); got[0]["dry_run"] != true || got[0]["outcome"] != "repaired" || got[1]["reason"] != "json" {
		t.Errorf("log: %v", got)
	}
}

// TestSigned: a body that a signature covers is not changed.
func TestSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, func(c *Config) { c.RejectUnreadable = true })
	h := histories[4]
	for _, tt := range []struct {
		query  string
		header []string
	}{
		{"", []string{"Authorization", "AWS4-HMAC-SHA256 Credential=AK/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00"}},
		{"", []string{"Authorization", "AWS4-ECDSA-P256-SHA256 Credential=x"}},
		{"?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00", nil},
		{"", []string{"Signature", "sig=:aa:", "Signature-Input", `sig=("content-digest")`}},
	} {
		w.post(h.path+tt.query, h.broken, tt.header...)
		if got := w.last(); got.Body != h.broken {
			t.Errorf("%v: %+v", tt, got)
		}
	}
	for _, line := range w.log.lines(t) {
		if line["outcome"] != "passed" || line["reason"] != "signed" {
			t.Errorf("log: %v", line)
		}
	}
	w.post(h.path, h.broken, "Authorization", "Bearer k")
	if got := w.last(); got.Body != h.repaired {
		t.Errorf("bearer key: %+v", got)
	}
}

// TestMetrics: every outcome is counted.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	h := histories[0]
	w.post(h.path, h.whole)
	w.post(h.path, h.broken)
	w.post(h.path, h.broken)
	w.post(h.path, "no json")
	w.post("/v1/files", "x")
	w.post(h.path, h.whole, "Host", "evil.example")
	got := w.scrape()
	for _, line := range []string{
		`toolguard_proxy_requests_total{endpoint="messages",outcome="whole",upstream="UP"} 1`,
		`toolguard_proxy_requests_total{endpoint="messages",outcome="repaired",upstream="UP"} 2`,
		`toolguard_proxy_requests_total{endpoint="messages",outcome="passed",upstream="UP"} 1`,
		`toolguard_proxy_requests_total{endpoint="messages",outcome="rejected",upstream="UP"} 1`,
		`toolguard_proxy_requests_total{endpoint="other",outcome="none",upstream="UP"} 1`,
		`toolguard_proxy_repairs_total{rule="pending-tool-call"} 2`,
		`toolguard_proxy_passed_total{reason="json"} 1`,
		`toolguard_proxy_check_seconds_count{outcome="whole"} 1`,
		`toolguard_proxy_check_seconds_count{outcome="repaired"} 2`,
	} {
		if !got[line] {
			t.Errorf("no %s in\n%v", line, got)
		}
	}
}
