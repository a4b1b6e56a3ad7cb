package clients

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/toolguard/toolguard/internal/provider"
)

// histories matches the paths of requests with a history.
var histories = regexp.MustCompile(`/(messages|messages/count_tokens|chat/completions|responses|responses/(compact|input_tokens)|models/[^/]*:(generateContent|streamGenerateContent|countTokens))$`)

// An upstream is the model APIs, behind a path for each: /openai-chat/v1/chat/completions. It
// refuses what they refuse, and answers all else.
type upstream struct {
	*httptest.Server
	// arrived returns how many bytes of the answer the client has.
	arrived func() int

	mu       sync.Mutex
	requests []request
	trouble  []string
}

// A request is a request as the upstream received it.
type request struct {
	path   string
	header http.Header
	sent   []byte // the body as it came
	body   []byte // and unpacked
	answer []byte
}

func newUpstream(t *testing.T, arrived func() int) *upstream {
	t.Helper()
	u := &upstream{arrived: arrived}
	u.Server = httptest.NewServer(u)
	t.Cleanup(u.Close)
	return u
}

// take returns the requests since it was last called, and fails the test if the upstream could
// not do its work.
func (u *upstream) take(t *testing.T) []request {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, what := range u.trouble {
		t.Error(what)
	}
	out := u.requests
	u.requests, u.trouble = nil, nil
	return out
}

func (u *upstream) fault(format string, args ...any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.trouble = append(u.trouble, "upstream: "+fmt.Sprintf(format, args...))
}

// ServeHTTP answers a request, or refuses it as the API would.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	api, err := provider.Find(name)
	if err != nil {
		u.fault("%s: %v", r.URL.Path, err)
		http.NotFound(w, r)
		return
	}
	got := request{path: r.URL.String(), header: r.Header.Clone()}
	got.sent, err = io.ReadAll(r.Body)
	if err == nil {
		got.body, err = unpack(got.sent, r.Header.Get("Content-Encoding"))
	}
	if err != nil {
		u.fault("%s: %v", r.URL.Path, err)
	}
	if n := r.Header.Get("Content-Length"); r.Method == http.MethodPost && n != strconv.Itoa(len(got.sent)) {
		u.fault("%s: the body has %d bytes, but Content-Length is %q", r.URL.Path, len(got.sent), n)
	}
	var parts []string
	status := http.StatusOK
	switch faults := api.Faults(got.body); {
	case !histories.MatchString(r.URL.Path):
		parts = other(r.URL.Path)
	case len(faults) > 0:
		status = http.StatusBadRequest
		parts = []string{string(api.Refusal(faults[0]))}
	default:
		parts = answer(api.Name, r.URL, got.body)
	}
	got.answer = []byte(strings.Join(parts, ""))
	u.mu.Lock()
	u.requests = append(u.requests, got)
	u.mu.Unlock()

	kind := "application/json"
	if len(parts) > 1 {
		kind = "text/event-stream; charset=utf-8"
	} else {
		w.Header().Set("Content-Length", strconv.Itoa(len(got.answer)))
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Request-Id", "req_upstream")
	w.WriteHeader(status)
	sent := 0
	for i, part := range parts {
		// The part before this one must have arrived. No clock: a proxy that waits for more fails.
		for limit := time.Now().Add(10 * time.Second); u.arrived() < sent; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				u.fault("%s: part %d of the answer, %q, did not arrive before the next one was sent", r.URL.Path, i, parts[i-1])
				return
			}
		}
		if _, err := io.WriteString(w, part); err != nil {
			u.fault("%s: %v", r.URL.Path, err)
			return
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			u.fault("%s: %v", r.URL.Path, err)
			return
		}
		sent += len(part)
	}
}

// unpack returns a body without its encoding.
func unpack(body []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("the encoding %q is unknown", encoding)
}

// other returns the answer to a request without a history.
func other(path string) []string {
	switch {
	case strings.HasSuffix(path, "/completions"):
		return []string{
			`data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"h` + "\xc3",
			"\xa9" + `llo","finish_reason":null}]}` + "\n\n",
			`data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"!","finish_reason":"stop"}]}` + "\n\n",
			"data: [DONE]\n\n",
		}
	case strings.HasSuffix(path, "/models"):
		return []string{`{"object":"list","data":[{"id":"m","object":"model"}],"has_more":false,"models":[{"name":"models/m"}]}`}
	case strings.HasSuffix(path, "/embeddings"):
		return []string{`{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`}
	}
	return []string{`{"id":"1","object":"x"}`}
}

// answer returns the answer to a request in the parts in which it is sent. A stream has the lines
// that streams have: comments, names of events, events that are sent in two parts, and characters
// that are parted.
func answer(api string, url interface{ String() string }, body []byte) []string {
	var asks struct{ Stream bool }
	if err := json.Unmarshal(body, &asks); err != nil {
		return []string{"{}"}
	}
	path := url.String()
	switch {
	case strings.Contains(path, "count_tokens"):
		return []string{`{"input_tokens":7}`}
	case strings.Contains(path, ":countTokens"):
		return []string{`{"totalTokens":7}`}
	case strings.Contains(path, "/responses/input_tokens"):
		return []string{`{"object":"response.input_tokens","input_tokens":7}`}
	case strings.Contains(path, "/responses/compact"):
		return []string{`{"id":"resp_1","object":"response.compaction","created_at":1,"output":[],"usage":null}`}
	case api == "anthropic" && !asks.Stream:
		return []string{`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"héllo"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`}
	case api == "anthropic":
		return []string{
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			"event: ping\ndata: {\"type\": \"ping\"}\n\n",
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"h\xc3",
			"\xa9llo\"}}\n\n",
			"event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" there\"}}\r\n\r\n",
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":2}}\n\n",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		}
	case api == "openai-responses" && !asks.Stream:
		return []string{`{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"héllo","annotations":[]}]}]}`}
	case api == "openai-responses":
		item := func(text, status string) string {
			return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","status":%q,"content":%s}`, status, text)
		}
		const full = `[{"type":"output_text","text":"héllo","annotations":[]}]`
		event := func(kind, rest string) string {
			return fmt.Sprintf("event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, rest)
		}
		delta := event("response.output_text.delta", `"sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"logprobs":[],"delta":"héllo"`)
		half := strings.Index(delta, "\xa9")
		return []string{
			event("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}`),
			event("response.output_item.added", `"sequence_number":1,"output_index":0,"item":`+item("[]", "in_progress")),
			event("response.content_part.added", `"sequence_number":2,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`),
			delta[:half], delta[half:],
			event("response.output_text.done", `"sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"logprobs":[],"text":"héllo"`),
			event("response.output_item.done", `"sequence_number":5,"output_index":0,"item":`+item(full, "completed")),
			event("response.completed", `"sequence_number":6,"response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[`+item(full, "completed")+`]}`),
		}
	case strings.Contains(path, ":generateContent"):
		return []string{`{"candidates":[{"content":{"role":"model","parts":[{"text":"héllo"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"totalTokenCount":2}}`}
	case strings.HasPrefix(api, "gemini"):
		return []string{
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"h\xc3",
			"\xa9llo\"}]},\"index\":0}]}\r\n\r\n",
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\" there\"}]},\"index\":0}]}\r\n\r\n",
			"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"!\"}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"totalTokenCount\":2}}\r\n\r\n",
		}
	case !asks.Stream:
		return []string{`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"héllo","refusal":null},"logprobs":null,"finish_reason":"stop"}]}`}
	}
	chunk := func(delta, finish string) string {
		return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	}
	word := chunk(`{"content":"héllo"}`, "null")
	half := strings.Index(word, "\xa9")
	return []string{
		": OPENROUTER PROCESSING\n\n",
		chunk(`{"role":"assistant","content":""}`, "null"),
		word[:half], word[half:],
		chunk(`{"content":" there"}`, "null"),
		chunk(`{}`, `"stop"`),
		"data: [DONE]\n\n",
	}
}
