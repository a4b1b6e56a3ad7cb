package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard"
	"github.com/toolguard/toolguard/internal/provider"
	"github.com/toolguard/toolguard/internal/sample"
)

// TestTrimmedRequests trims long requests at every message, and checks that the API accepts each
// result. If the list is cut at the same message instead, the API mostly refuses it.
func TestTrimmedRequests(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]map[string]int{
		"anthropic":        {"trimmed": 61, "refused if cut by message": 39},
		"gemini":           {"trimmed": 50, "refused if cut by message": 24},
		"openai-chat":      {"trimmed": 75, "refused if cut by message": 25},
		"openai-responses": {"trimmed": 53, "refused if cut by message": 18},
	} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			got := map[string]int{}
			for _, p := range trimmings(t, api, sample.Size(4, 60, 120)) {
				got["trimmed"]++
				if faults := append(wireOf(t, api).refusals(p.trimmed), untidy(t, api, p.trimmed)...); len(faults) > 0 {
					t.Errorf("%s: %q\n%s", p.name, faults, p.trimmed)
				}
				if p.naive != nil && len(wireOf(t, api).refusals(p.naive)) > 0 {
					got["refused if cut by message"]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" && sample.Size(1, 2, 3) == 2 && sample.Seed(7) == 7 {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestClients sends the requests of TestTrimmedRequests with the clients of the providers to a
// server with the rules of the APIs. TOOLGUARD_CLIENTS names a directory that
// internal/agents/setup-clients.sh has filled.
func TestClients(t *testing.T) {
	dir := os.Getenv("TOOLGUARD_CLIENTS")
	if dir == "" {
		t.Skip("TOOLGUARD_CLIENTS is not set to a directory that internal/agents/setup-clients.sh has filled")
	}
	send := startClients(t, dir)
	for _, api := range wires() {
		t.Run(api.name, func(t *testing.T) {
			rules, err := provider.Find(api.name)
			if err != nil {
				t.Fatal(err)
			}
			var last []byte // the body of the last request
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				last, _ = io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				if why := rules.Faults(last); len(why) > 0 {
					w.WriteHeader(http.StatusBadRequest)
					w.Write(rules.Refusal(why[0])) //nolint:errcheck // the client may be gone
					return
				}
				fmt.Fprint(w, answers[api.name])
			}))
			defer server.Close()
			sent, refused := 0, 0
			for _, p := range trimmings(t, api.name, sample.Size(1, 8, 24)) {
				if a := send(t, api.name, server.URL, p.trimmed); a.Text != "ok" {
					t.Errorf("%s: %+v\n%s", p.name, a, p.trimmed)
				}
				var compact bytes.Buffer // as the clients write it
				if err := json.Compact(&compact, p.trimmed); err != nil {
					t.Fatal(err)
				}
				was, _, err := api.read(compact.Bytes())
				is, _, also := api.read(last)
				if err != nil || also != nil {
					t.Fatal(err, also)
				}
				if diff := cmp.Diff(was, is, cmp.AllowUnexported(message{}, call{}, result{})); diff != "" {
					t.Errorf("%s: the client sent something else (-trimmed +sent)\n%s", p.name, diff)
				}
				sent++
				if p.naive == nil || len(rules.Faults(p.naive)) == 0 {
					continue
				}
				if a := send(t, api.name, server.URL, p.naive); a.Status != http.StatusBadRequest {
					t.Errorf("%s: cut by message, but %+v", p.name, a)
				}
				refused++
			}
			t.Logf("%d trimmed requests were accepted, %d that were cut by message were refused", sent, refused)
			if sent < 100 || refused < 30 {
				t.Error("too few requests")
			}
		})
	}
}

// answers are the responses of the APIs.
var answers = map[string]string{
	"anthropic":        `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
	"gemini":           `{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[{"text":"ok"}]}}]}`,
	"openai-chat":      `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`,
	"openai-responses": `{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"m","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}]}`,
}

// An answer is what a client got.
type answer struct {
	Text   string
	Status int
	Error  string
}

// startClients starts the clients and returns a function that sends a request with one.
func startClients(t *testing.T, dir string) func(t *testing.T, api, url string, body []byte) answer {
	t.Helper()
	script, err := os.ReadFile("clients.mjs")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "clients.mjs") // a module finds others beside itself
	if err := os.WriteFile(file, script, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", file)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var stderr bytes.Buffer // some clients warn of old models
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, stderr.Bytes())
		}
	})
	lines := bufio.NewScanner(out)
	return func(t *testing.T, api, url string, body []byte) (a answer) {
		t.Helper()
		if _, err := fmt.Fprintln(in, encode(map[string]string{"api": api, "url": url, "body": string(body)})); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("the clients stopped: %v", lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// untidy returns what is wrong in a request even if its API accepts it: calls and results that do
// not belong together, which Gemini only counts, and contents with calls right behind a content of
// the model, which not all versions of Gemini refuse.
func untidy(t *testing.T, api string, body []byte) (faults []string) {
	t.Helper()
	messages, _, err := wireOf(t, api).read(body)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range exchanges(messages) {
		if e.call == nil || e.result == nil {
			faults = append(faults, e.String())
		}
	}
	for i, m := range messages {
		if api == "gemini" && len(m.calls) > 0 && i > 0 && messages[i-1].role == "model" {
			faults = append(faults, fmt.Sprintf("contents[%d]: calls behind a content of the model", i))
		}
	}
	return faults
}

// sign returns a request with the signatures that its API gives to the reasoning in it.
func sign(t *testing.T, api string, body []byte) []byte {
	t.Helper()
	if api != "anthropic" {
		return body
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	messages, err := provider.Sign(fields["messages"])
	if err != nil {
		t.Fatal(err)
	}
	fields["messages"] = messages
	return []byte(encode(fields))
}

// A trimming is a request that was trimmed, and the same request cut at the same message; nil if
// it was not cut at one.
type trimming struct {
	name           string
	trimmed, naive []byte
}

// trimmings trims requests of an API: the fixtures, and a long one that is generated. Of the
// messages of the long one, it takes one in every.
func trimmings(t *testing.T, api string, every int) (out []trimming) {
	t.Helper()
	add := func(name string, body []byte, to toolguard.TrimTo) {
		short, did, err := toolguard.TrimBytes(t.Context(), body, to, toolguard.Request(), toolguard.Dialect(api), toolguard.Send())
		if errors.As(err, new(*toolguard.NoCutError)) || errors.As(err, new(*toolguard.NotTrimmedError)) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !did.Changed() {
			return
		}
		p := trimming{name: name, trimmed: short}
		if to.Target != nil {
			p.naive = cutAt(t, body, *to.Target)
		}
		out = append(out, p)
	}
	boundaries := []toolguard.Boundary{toolguard.BoundaryUser, toolguard.BoundaryLoop, toolguard.BoundaryPair}
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "transcripts", api, "ok", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := len(listOf(body))
		if n == 0 {
			continue // it is not a request
		}
		body = sign(t, api, body)
		if len(wireOf(t, api).refusals(body))+len(untidy(t, api, body)) > 0 {
			continue // it is not a whole one
		}
		for i := 1; i < n; i++ {
			for _, b := range boundaries {
				add(fmt.Sprintf("%s from %d, %d", filepath.Base(file), i, b), body, toolguard.TrimTo{Target: &i, Boundary: b})
			}
		}
	}
	long := longRequest(t, api)
	if faults := append(wireOf(t, api).refusals(long), untidy(t, api, long)...); len(faults) > 0 {
		t.Fatalf("the long request is not valid: %q", faults)
	}
	n := len(listOf(long))
	if n < 250 {
		t.Fatalf("the long request has %d messages", n)
	}
	for i := 1; i < n; i += every {
		for _, b := range boundaries {
			add(fmt.Sprintf("long from %d, %d", i, b), long, toolguard.TrimTo{Target: &i, Boundary: b})
			add(fmt.Sprintf("long, first pinned, from %d, %d", i, b), long, toolguard.TrimTo{Target: &i, Boundary: b, Pin: 2})
		}
		for _, to := range []toolguard.TrimTo{
			{KeepLast: i, Boundary: toolguard.BoundaryPair, ResultsMaxBytes: 300, KeepResults: 2},
			{KeepFirst: i, KeepLast: 5, Boundary: toolguard.BoundaryLoop},
			{MaxTokens: int64(len(long)) / 4 * int64(i) / int64(n), Boundary: toolguard.BoundaryPair, Pin: 1},
			{MaxBytes: int64(len(long)) * int64(i) / int64(n), ResultsMaxBytes: 200},
		} {
			add(fmt.Sprintf("long, %+v", to), long, to)
		}
	}
	return out
}

// listKey is the key of the messages of a request.
func listKey(fields map[string]json.RawMessage) string {
	for _, key := range []string{"messages", "input", "contents"} {
		if _, is := fields[key]; is {
			return key
		}
	}
	return ""
}

// listOf returns the messages of a request, nil if a text is none.
func listOf(body []byte) (list []json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields[listKey(fields)], &list) != nil {
		return nil
	}
	return list
}

// cutAt drops the messages before an index, except a system prompt at the start.
func cutAt(t *testing.T, body []byte, index int) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatal(err)
	}
	list := listOf(body)
	kept := list[index:]
	if strings.Contains(string(list[0]), `"role":"system"`) {
		kept = append([]json.RawMessage{list[0]}, kept...)
	}
	fields[listKey(fields)] = json.RawMessage(encode(kept))
	return []byte(encode(fields))
}

// longRequest returns a request with more than 250 messages: questions, answers, tool loops with
// up to four parallel calls, and reasoning.
func longRequest(t *testing.T, api string) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(sample.Seed(7), 1))
	w := writers()[api]
	w.add = func(role string, parts ...any) { w.list = append(w.list, w.message(w, role, parts)...) }
	words := strings.Fields("the test of a file fails in line \"seven\" \\ with é, 漢字, 😀 and\nmore")
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		return b.String()
	}
	if w.system {
		w.add("system", said(text(200)))
	}
	ids := 0
	for len(w.list) < 250 {
		w.add("user", said(text(60)))
		for loop := r.IntN(5); loop > 0; loop-- {
			var calls, results []any
			ids++
			thinks := r.IntN(3) == 0
			if thinks {
				calls = append(calls, thought(ids))
			}
			if r.IntN(2) == 0 {
				calls = append(calls, said(text(40)))
			}
			for n := r.IntN(4) + 1; n > 0; n-- {
				c := called{ids, n, thinks && len(calls) == 1, text(20)}
				calls = append(calls, c)
				results = append(results, returned{c, text(50 + r.IntN(2)*r.IntN(900))})
			}
			r.Shuffle(len(results), func(i, j int) {
				if w.shuffles {
					results[i], results[j] = results[j], results[i]
				}
			})
			w.add("assistant", calls...)
			w.add("tool", results...)
		}
		w.add("assistant", said(text(80)))
	}
	w.add("user", said("Go on."))
	fields := maps.Clone(w.fields)
	fields[w.key] = w.list
	return sign(t, api, []byte(encode(fields)))
}

// The parts of a message. A thought leads to what follows it in the message.
type (
	said    string
	thought int
	called  struct {
		turn, n int
		caused  bool // a thought is right before it
		arg     string
	}
	returned struct {
		of   called
		text string
	}
)

func (c called) id() string { return fmt.Sprintf("call_%d_%d", c.turn, c.n) }

// A writer writes the messages of an API.
type writer struct {
	key      string
	fields   map[string]any // the other fields of a request
	system   bool           // the system prompt is a message
	shuffles bool           // results may be in any order
	message  func(w *writer, role string, parts []any) []any
	add      func(role string, parts ...any)
	list     []any
	items    int // that have an id
}

type object = map[string]any

// writers returns the writers by the names of APIs.
func writers() map[string]*writer {
	schema := object{"type": "object", "properties": object{"arg": object{"type": "string"}}}
	return map[string]*writer{
		"anthropic": {
			key: "messages", shuffles: true,
			fields: object{
				"model": "claude-sonnet-4-5", "max_tokens": 2048, "system": "Be brief.", "thinking": object{"type": "enabled", "budget_tokens": 1024},
				"tools": []any{object{"name": "run", "input_schema": schema}},
			},
			message: func(_ *writer, role string, parts []any) []any {
				var content []any
				for _, p := range parts {
					switch p := p.(type) {
					case said:
						content = append(content, object{"type": "text", "text": p})
					case thought:
						content = append(content, object{"type": "thinking", "thinking": "hm", "signature": ""})
					case called:
						content = append(content, object{"type": "tool_use", "id": p.id(), "name": "run", "input": object{"arg": p.arg}})
					case returned:
						content = append(content, object{"type": "tool_result", "tool_use_id": p.of.id(), "content": p.text})
					}
				}
				if role == "tool" {
					role = "user"
				}
				return []any{object{"role": role, "content": content}}
			},
		},
		"gemini": {
			key: "contents",
			fields: object{
				"systemInstruction": object{"parts": []any{object{"text": "Be brief."}}},
				"tools":             []any{object{"functionDeclarations": []any{object{"name": "run", "parameters": schema}}}},
			},
			message: func(_ *writer, role string, parts []any) []any {
				var content []any
				for _, p := range parts {
					switch p := p.(type) {
					case said:
						content = append(content, object{"text": p})
					case called:
						part := object{"functionCall": object{"id": p.id(), "name": "run", "args": object{"arg": p.arg}}}
						if p.caused {
							part["thoughtSignature"] = "c2lnbmF0dXJl"
						}
						content = append(content, part)
					case returned:
						content = append(content, object{"functionResponse": object{"id": p.of.id(), "name": "run", "response": object{"output": p.text}}})
					}
				}
				role = map[string]string{"assistant": "model", "user": "user", "tool": "user"}[role]
				return []any{object{"role": role, "parts": content}}
			},
		},
		"openai-chat": {
			key: "messages", system: true, shuffles: true,
			fields: object{
				"model": "gpt-4.1", "tools": []any{object{"type": "function", "function": object{"name": "run", "parameters": schema}}},
			},
			message: func(_ *writer, role string, parts []any) (out []any) {
				m := object{"role": role, "content": nil}
				var calls []any
				for _, p := range parts {
					switch p := p.(type) {
					case said:
						m["content"] = p
					case called:
						calls = append(calls, object{"id": p.id(), "type": "function", "function": object{"name": "run", "arguments": encode(object{"arg": p.arg})}})
						m["tool_calls"] = calls
					case returned:
						out = append(out, object{"role": "tool", "tool_call_id": p.of.id(), "content": p.text})
					}
				}
				if role != "tool" {
					out = append(out, m)
				}
				return out
			},
		},
		"openai-responses": {
			key: "input", shuffles: true,
			fields: object{
				"model": "gpt-5.1", "store": false, "instructions": "Be brief.", "include": []any{"reasoning.encrypted_content"},
				"tools": []any{object{"type": "function", "name": "run", "parameters": schema, "strict": false}},
			},
			message: func(w *writer, role string, parts []any) (out []any) {
				cause := "" // of an item: its id says so, as in package provider
				for _, p := range parts {
					if t, is := p.(thought); is {
						cause = fmt.Sprintf("_after_%d", t)
						out = append(out, object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", t), "summary": []any{}, "encrypted_content": "c2VjcmV0"})
						continue
					}
					w.items++
					id := fmt.Sprintf("_%d%s", w.items, cause)
					switch p := p.(type) {
					case said:
						kind := "input_text"
						m := object{"type": "message", "role": role}
						if role == "assistant" {
							kind, m["id"], m["status"] = "output_text", "msg"+id, "completed"
						}
						m["content"] = []any{object{"type": kind, "text": p}}
						out = append(out, m)
					case called:
						out = append(out, object{"type": "function_call", "id": "fc" + id, "call_id": p.id(), "name": "run", "arguments": encode(object{"arg": p.arg}), "status": "completed"})
					case returned:
						out = append(out, object{"type": "function_call_output", "call_id": p.of.id(), "output": p.text})
					}
				}
				return out
			},
		},
	}
}
