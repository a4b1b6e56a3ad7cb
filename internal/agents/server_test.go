package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/toolguard/toolguard/internal/provider"
)

// A server is a model that follows a script, behind all APIs of wires. It listens on the
// loopback, and is the proxy of the agents too, so that it sees where else they connect to.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	script   []reply
	requests []request
	all      []passed // all requests to a model, also those that are not of the script
	strict   bool     // requests are refused as the API would
	refused  []string // why
	ended    bool     // an answer without commands was given
	torn     string   // an answer with this text breaks off there
	tears    int      // how often one did
	strays   []string // hosts that an agent tried to reach
	faults   []string // what the server could not answer
}

// A request is a request of an agent to the model.
type request struct {
	wire *wire
	body []byte
}

// A passed is the body of a request as it was sent, and unpacked.
type passed struct{ raw, body []byte }

// serve starts a server. It gives the first reply of the script whose first command is not in
// the request, or the last one, so that an agent may repeat a request.
func serve(t *testing.T, script ...reply) *server {
	t.Helper()
	s := &server{}
	s.play(script...)
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// play starts another script, and forgets the requests of the one before.
func (s *server) play(script ...reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.requests, s.refused, s.all, s.ended, s.torn, s.tears = script, nil, nil, nil, false, "", 0
}

// tear lets the answer with a command break off in its arguments, each time.
func (s *server) tear(c command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.torn = c.line
}

// tornAnswers returns how many answers broke off.
func (s *server) tornAnswers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tears
}

// over reports whether an answer without commands was given, after which the agent waits.
func (s *server) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// seen returns the requests of this script so far.
func (s *server) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// why returns why the model refused requests of this script.
func (s *server) why() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// arrived returns all requests to a model since the script began.
func (s *server) arrived() []passed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// wrong returns the hosts that agents tried to reach, and what the server could not answer.
func (s *server) wrong() (strays, faults []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strays), slices.Clone(s.faults)
}

// ServeHTTP answers a request of an agent.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	here := r.Host == s.Listener.Addr().String()
	if r.Method == http.MethodConnect && here {
		s.tunnel(w)
		return
	}
	if r.Method == http.MethodConnect || r.URL.Host != "" && !here {
		s.mu.Lock()
		s.strays = append(s.strays, r.Host)
		s.mu.Unlock()
		http.Error(w, "there is only a model here", http.StatusForbidden)
		return
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent was killed
	}
	body, err := unpack(sent, r.Header.Get("Content-Encoding"))
	if err != nil {
		s.mu.Lock()
		s.faults = append(s.faults, fmt.Sprintf("%s: %v", r.URL.Path, err))
		s.mu.Unlock()
	}
	w.Header().Set("Content-Type", "application/json")
	i := slices.IndexFunc(wires(), func(a *wire) bool { return strings.Contains(r.URL.Path, a.path) })
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		fmt.Fprint(w, `{"object":"list","data":[],"models":[],"has_more":false}`)
	case strings.Contains(r.URL.Path, "count_tokens"), strings.Contains(r.URL.Path, "countTokens"):
		fmt.Fprint(w, `{"input_tokens":10,"totalTokens":10}`)
	case r.Method != http.MethodPost || i < 0:
		fmt.Fprint(w, `{}`)
	default:
		s.mu.Lock()
		s.all = append(s.all, passed{sent, body})
		s.mu.Unlock()
		if err := s.answer(w, wires()[i], body); err != nil {
			s.mu.Lock()
			s.faults = append(s.faults, fmt.Sprintf("%s: %v", r.URL.Path, err))
			s.mu.Unlock()
			http.Error(w, `{"error":{"message":"the model cannot read this"}}`, http.StatusBadRequest)
		}
	}
}

// unpack returns a body without its encoding.
func unpack(body []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return body, nil
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("expected a body that is plain or packed with zstd, but the encoding is %q", encoding)
}

// tunnel connects an agent to the server itself: some agents use their proxy for all hosts.
func (s *server) tunnel(w http.ResponseWriter) {
	to, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer to.Close()
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	fmt.Fprint(from, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		io.Copy(to, from) //nolint:errcheck // the agent closes its end when it likes
		to.Close()
	}()
	io.Copy(from, to) //nolint:errcheck // as above
}

// answer answers a request to the model.
func (s *server) answer(w http.ResponseWriter, api *wire, body []byte) error {
	_, tools, err := api.read(body)
	if err != nil {
		return fmt.Errorf("expected a request in %s: %w", api.name, err)
	}
	if s.refuses(w, api, body, len(tools) > 0) {
		return nil
	}
	next, tool := reply{text: "ok"}, shell{}
	// Agents also ask for titles and summaries, without tools.
	if len(tools) > 0 {
		s.mu.Lock()
		s.requests = append(s.requests, request{api, body})
		next = choose(s.script, body)
		s.ended = len(next.commands) == 0
		s.mu.Unlock()
		i := slices.IndexFunc(shells(), func(s shell) bool { return slices.Contains(tools, s.name) })
		if i < 0 && len(next.commands) > 0 {
			return fmt.Errorf("expected a tool that runs commands among %q", tools)
		}
		if i >= 0 {
			tool = shells()[i]
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	var stream strings.Builder
	for _, e := range api.events(next, tool) {
		if e.name != "" {
			fmt.Fprintf(&stream, "event: %s\n", e.name)
		}
		data, raw := e.data.(string)
		if !raw {
			data = encode(e.data)
		}
		fmt.Fprintf(&stream, "data: %s\n\n", data)
	}
	s.mu.Lock()
	before, _, tears := strings.Cut(stream.String(), s.torn)
	if tears = tears && s.torn != ""; tears {
		s.tears++
	}
	s.mu.Unlock()
	if !tears {
		fmt.Fprint(w, stream.String())
		return nil
	}
	fmt.Fprint(w, before)
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	panic(http.ErrAbortHandler)
}

// refuses refuses a request if the server is strict and the API would.
func (s *server) refuses(w http.ResponseWriter, api *wire, body []byte, recorded bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.strict {
		return false
	}
	rules, err := provider.Find(api.name)
	if err != nil {
		s.faults = append(s.faults, err.Error())
		return false
	}
	why := rules.Faults(body)
	if len(why) == 0 {
		return false
	}
	if recorded {
		s.requests = append(s.requests, request{api, body})
	}
	s.refused = append(s.refused, why[0].Message)
	w.WriteHeader(http.StatusBadRequest)
	w.Write(rules.Refusal(why[0])) //nolint:errcheck // the agent may be gone
	return true
}

// choose returns the reply of a script to a request.
func choose(script []reply, body []byte) reply {
	for _, r := range script {
		if len(r.commands) == 0 || !bytes.Contains(body, []byte(r.commands[0].line)) {
			return r
		}
	}
	return script[len(script)-1]
}

// TestServer: the server answers each API in its form, follows the script, and sees what
// agents send to others.
func TestServer(t *testing.T) {
	t.Parallel()
	script := []reply{
		{"One.", []command{{"tga", "echo a"}, {"tgb", "echo b"}}},
		{text: "Done."},
	}
	for _, test := range []struct{ path, first, second, stream, done string }{
		{
			"/v1/messages?beta=true",
			`{"messages":[{"role":"user","content":"q"}],"tools":[{"name":"Bash"}]}`,
			`{"messages":[{"role":"user","content":"echo a"}],"tools":[{"name":"Bash"}]}`,
			`"id":"toolu_01tgb","input":{},"name":"Bash"`, `"text":"Done."`,
		},
		{
			"/v1/responses",
			`{"input":[],"tools":[{"type":"function","name":"shell"}]}`,
			`{"input":[{"type":"function_call","call_id":"x","arguments":"echo a"}],"tools":[{"type":"function","name":"shell"}]}`,
			`"arguments":"{\"command\":[\"bash\",\"-lc\",\"echo b\"]}","call_id":"call_tgb"`, `"text":"Done."`,
		},
		{
			"/v1/chat/completions",
			`{"messages":[],"tools":[{"function":{"name":"run_shell_command"}}]}`,
			`{"messages":[{"content":"echo a"}],"tools":[{"function":{"name":"run_shell_command"}}]}`,
			`"id":"call_tgb","index":1`, "data: [DONE]\n\n",
		},
		{
			"/v1beta/models/m:streamGenerateContent?alt=sse",
			`{"contents":[],"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`,
			`{"contents":[{"parts":[{"text":"echo a"}]}],"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}]}`,
			`"id":"tgb","name":"run_shell_command"`, `"text":"Done."`,
		},
	} {
		t.Run(test.path, func(t *testing.T) {
			t.Parallel()
			s := serve(t, script...)
			post := func(body string) string {
				t.Helper()
				res, err := http.Post(s.URL+test.path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				raw, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != http.StatusOK {
					t.Fatalf("%s: %s %s %v", body, res.Status, raw, err)
				}
				for line := range strings.Lines(string(raw)) {
					if data, ok := strings.CutPrefix(line, "data: "); ok && data != "[DONE]\n" && !json.Valid([]byte(data)) {
						t.Errorf("invalid JSON in a stream: %s", data)
					}
				}
				return string(raw)
			}
			if got := post(test.first); !strings.Contains(got, test.stream) || strings.Contains(got, "Done.") {
				t.Errorf("the first reply is not the first of the script, with %s:\n%s", test.stream, got)
			}
			if got := post(test.second); !strings.Contains(got, test.done) || !strings.Contains(got, "Done.") {
				t.Errorf("the second reply is not the second of the script, with %s:\n%s", test.done, got)
			}
			if got := post(strings.Replace(test.first, "tools", "other", 1)); !strings.Contains(got, "ok") {
				t.Errorf("a request without tools is not answered: %s", got)
			}
			if got := s.seen(); len(got) != 2 || string(got[0].body) != test.first || string(got[1].body) != test.second {
				t.Errorf("%d requests were recorded: %+v", len(got), got)
			}
			proxy, err := http.NewRequest(http.MethodGet, s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			proxy.URL.Opaque = "http://elsewhere.example/x"
			proxy.Host = "elsewhere.example"
			res, err := http.DefaultClient.Do(proxy)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			res, err = http.Post(s.URL+test.path, "application/json", strings.NewReader("{"))
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			strays, faults := s.wrong()
			if len(strays) != 1 || strays[0] != "elsewhere.example" || len(faults) != 1 || !strings.HasSuffix(faults[0], "unexpected end of JSON input") || res.StatusCode != http.StatusBadRequest {
				t.Errorf("recorded strays %q, faults %q, status %d", strays, faults, res.StatusCode)
			}
		})
	}
}
