package container_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/container"
	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

const (
	user       = `{"role":"user","content":"q"}`
	answer     = `{"role":"assistant","content":"a"}`
	chatCall   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	chatResult = `{"role":"tool","tool_call_id":"c","content":"ok"}`
	legacyCall = `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`
	use        = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}`
	useResult  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}`
	item       = `{"type":"function_call","call_id":"k","name":"f","arguments":"{}"}`
	itemResult = `{"type":"function_call_output","call_id":"k","output":"ok"}`
	record     = `{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"q"}}`
	recordUse  = `{"type":"assistant","uuid":"v","parentUuid":"u","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}}`
	bareRecord = `{"type":"user","message":{"role":"user","content":"q"}}`
)

func list(elements ...string) string { return "[" + strings.Join(elements, ",") + "]" }

func lines(records ...string) string { return strings.Join(records, "\n") + "\n" }

// A seen is what is known about a conversation that was yielded.
type seen struct {
	name, dialect     string
	use               transcript.Use
	messages          int
	calls, results    int
	elsewhere, linked bool
}

func (s seen) String() string {
	out := fmt.Sprintf("%s %s, a %s: %d messages, %d calls, %d results", s.name, s.dialect, s.use, s.messages, s.calls, s.results)
	if s.elsewhere {
		out += ", elsewhere"
	}
	if s.linked {
		out += ", linked"
	}
	return strings.TrimSpace(out)
}

func read(t testing.TB, text string, opts detect.Options) (f *container.File, convs []string, reason string) {
	t.Helper()
	f, all := container.Read(source.FromBytes("t", []byte(text)), opts)
	for c, err := range all {
		var not *detect.ErrNotTranscript
		if errors.As(err, &not) {
			return f, convs, not.Reason
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.Index != len(convs) {
			t.Errorf("conversation %d has index %d", len(convs), c.Index)
		}
		convs = append(convs, seen{c.Name, c.Dialect, c.Use, len(c.Messages), len(c.Calls), len(c.Results), c.ElsewhereState, c.Linked}.String())
	}
	return f, convs, ""
}

func TestDecision(t *testing.T) {
	const (
		doc    = source.FramingDocument
		jsonl  = source.FramingLines
		values = source.FramingValues
	)
	for _, c := range []struct {
		name, text string
		framing    source.Framing
		container  string
		dialect    string
		pointer    string
		key        string // a prefix of the key
		unsure     bool
		runners    string
		convs      []string
	}{
		{
			name: "array", text: list(user, chatCall, chatResult),
			framing: doc, container: "json-messages", dialect: "openai-chat", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "array of blocks", text: "\ufeff" + list(user, use, useResult),
			framing: doc, container: "json-messages", dialect: "anthropic", key: `type "tool_use"`, runners: "openai-chat openai-responses",
			convs: []string{"anthropic, a log: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "array of items", text: list(item, itemResult),
			framing: doc, container: "json-messages", dialect: "openai-responses", key: `type "function_call" at byte 1`,
			convs: []string{"openai-responses, a log: 2 messages, 1 calls, 1 results"},
		},
		{
			name: "plain", text: list(user, answer),
			framing: doc, container: "json-messages", dialect: "openai-chat", key: "role", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "legacy call", text: list(user, legacyCall),
			framing: doc, container: "json-messages", dialect: "openai-chat", key: "function_call", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 2 messages, 1 calls, 0 results"},
		},
		{
			name: "messages", text: `{"messages":` + list(user, chatCall) + `}`,
			framing: doc, container: "json-messages", dialect: "openai-chat", pointer: "/messages", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 2 messages, 1 calls, 0 results"},
		},
		{
			name: "request", text: `{"model":"m","messages":` + list(user, use, useResult) + `,"max_tokens":9}`,
			framing: doc, container: "json-messages", dialect: "anthropic", pointer: "/messages", key: `type "tool_use"`, runners: "openai-chat openai-responses",
			convs: []string{"anthropic, a request body: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "plain request with a tool of Anthropic's", text: `{"model":"m","tools":[{"name":"f","input_schema":{}}],"messages":` + list(user, answer) + `}`,
			framing: doc, container: "json-messages", dialect: "anthropic", pointer: "/messages", key: "the request", runners: "openai-chat openai-responses",
			convs: []string{"anthropic, a request body: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "plain input", text: `{"model":"m","input":` + list(user) + `}`,
			framing: doc, container: "json-messages", dialect: "openai-responses", pointer: "/input", key: "the request", runners: "openai-chat anthropic",
			convs: []string{"openai-responses, a request body: 1 messages, 0 calls, 0 results"},
		},
		{
			name: "messages in elements of a list", text: list(`{"at":1,"message":`+chatCall+`}`, `{"at":2,"message":`+chatResult+`}`, `{"note":"n"}`),
			framing: doc, container: "json-messages", dialect: "openai-chat", key: "tool_calls at byte 19",
			convs: []string{"openai-chat, a log: 2 messages, 1 calls, 1 results"},
		},
		{
			name: "messages in records", text: lines(`{"at":1,"message":`+user+`}`, `{"at":2,"message":`+use+`}`, `{"at":3,"message":`+useResult+`}`),
			framing: jsonl, container: "jsonl-messages", dialect: "anthropic", key: `type "tool_use"`, runners: "openai-chat openai-responses",
			convs: []string{"anthropic, a log: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "records of a log in elements of a list, out of order", text: list(`{"seq":1,"content":{"role":"agent","content":{"data":`+recordUse+`}}}`, `{"seq":2,"content":{"role":"agent","content":{"data":`+record+`}}}`),
			framing: doc, container: "json-log", dialect: "claude-code", key: "message at byte 0",
			convs: []string{"claude-code, a log: 2 messages, 1 calls, 0 results, linked"},
		},
		{
			name: "answers to one question", text: `{"choices":` + list(`{"index":0,"message":`+chatCall+`}`, `{"index":1,"message":`+chatCall+`}`) + `}`,
			framing: doc, container: "json-conversations", dialect: "openai-chat", pointer: "/choices/0/message", key: "tool_calls",
			convs: []string{"/choices/0/message openai-chat, a trace: 1 messages, 1 calls, 0 results", "/choices/1/message openai-chat, a trace: 1 messages, 1 calls, 0 results"},
		},
		{
			name: "a message among the outputs", text: `{"outputs":{"text":"t","llm_output":` + chatCall + `}}`,
			framing: doc, container: "json-messages", dialect: "openai-chat", pointer: "/outputs/llm_output", key: "tool_calls",
			convs: []string{"openai-chat, a trace: 1 messages, 1 calls, 0 results"},
		},
		{
			name: "state elsewhere", text: `{"model":"m","previous_response_id":"resp_1","input":` + list(itemResult) + `}`,
			framing: doc, container: "json-messages", dialect: "openai-responses", pointer: "/input", key: `type "function_call_output"`,
			convs: []string{"openai-responses, a request body: 1 messages, 0 calls, 1 results, elsewhere"},
		},
		{
			name: "no state elsewhere", text: `{"model":"m","previous_response_id":null,"input":` + list(itemResult) + `}`,
			framing: doc, container: "json-messages", dialect: "openai-responses", pointer: "/input", key: `type "function_call_output"`,
			convs: []string{"openai-responses, a request body: 1 messages, 0 calls, 1 results"},
		},
		{
			name: "output", text: `{"id":"r","output":` + list(item) + `}`,
			framing: doc, container: "json-messages", dialect: "openai-responses", pointer: "/output", key: `type "function_call"`,
			convs: []string{"openai-responses, a trace: 1 messages, 1 calls, 0 results"},
		},
		{
			name: "one answer", text: `{"id":"m","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}`,
			framing: doc, container: "json-messages", dialect: "anthropic", key: `type "tool_use"`,
			convs: []string{"anthropic, a trace: 1 messages, 1 calls, 0 results"},
		},
		{
			name: "several lists", text: `{"a/b":` + list(user, chatCall, chatResult) + `,"c~d":` + list(user, answer) + `}`,
			framing: doc, container: "json-conversations", dialect: "openai-chat", pointer: "/a~1b", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"/a~1b openai-chat, a log: 3 messages, 1 calls, 1 results", "/c~0d openai-chat, a log: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "a list of conversations", text: list(`{"traj":`+list(user, chatCall)+`}`, `{"traj":`+list(user)+`}`),
			framing: doc, container: "json-conversations", dialect: "openai-chat", pointer: "/0/traj", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"/0/traj openai-chat, a dataset: 2 messages, 1 calls, 0 results", "/1/traj openai-chat, a dataset: 1 messages, 0 calls, 0 results"},
		},
		{
			name: "a copy beside the messages", text: `{"messages":` + list(user, chatCall) + `,"events":` + list(user, chatCall) + `}`,
			framing: doc, container: "json-messages", dialect: "openai-chat", pointer: "/messages", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 2 messages, 1 calls, 0 results"},
		},
		{
			name: "records in a document", text: `{"loglines":` + list(record, recordUse) + `}`,
			framing: doc, container: "json-log", dialect: "claude-code", pointer: "/loglines", key: "message",
			convs: []string{"claude-code, a log: 2 messages, 1 calls, 0 results, linked"},
		},
		{
			name: "message lines", text: lines(user, chatCall, chatResult),
			framing: jsonl, container: "jsonl-messages", dialect: "openai-chat", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "item lines", text: lines(user, item, itemResult),
			framing: jsonl, container: "jsonl-messages", dialect: "openai-responses", key: `type "function_call"`, runners: "openai-chat anthropic",
			convs: []string{"openai-responses, a log: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "conversation lines", text: lines(`{"messages":`+list(user, chatCall)+`}`, `{"messages":`+list(user, answer)+`}`),
			framing: jsonl, container: "jsonl-conversations", dialect: "openai-chat", pointer: "/messages", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"record 1 openai-chat, a dataset: 2 messages, 1 calls, 0 results", "record 2 openai-chat, a dataset: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "array lines", text: lines(list(user, chatCall), list(user)),
			framing: jsonl, container: "jsonl-conversations", dialect: "openai-chat", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"record 1 openai-chat, a dataset: 2 messages, 1 calls, 0 results", "record 2 openai-chat, a dataset: 1 messages, 0 calls, 0 results"},
		},
		{
			name: "pretty values", text: "{\n\"role\": \"user\",\n\"content\": \"q\"\n}\n{\n\"role\": \"assistant\",\n\"content\": \"a\"\n}\n",
			framing: values, container: "jsonl-messages", dialect: "openai-chat", key: "role", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "a session", text: lines(record, recordUse),
			framing: jsonl, container: "linked-log", dialect: "claude-code", pointer: "/message", key: "type, message and uuid", runners: "qwen-code anthropic",
			convs: []string{"claude-code, a log: 2 messages, 1 calls, 0 results, linked"},
		},
		{
			name: "a session of one record", text: record,
			framing: doc, container: "linked-log", dialect: "claude-code", pointer: "/message", key: "type, message and uuid", runners: "qwen-code",
			convs: []string{"claude-code, a log: 1 messages, 0 calls, 0 results, linked"},
		},
		{
			name: "records without links", text: lines(bareRecord, bareRecord),
			framing: jsonl, container: "event-log", dialect: "claude-code", pointer: "/message", key: "type and message", unsure: true, runners: "claude-stream-json",
			convs: []string{"claude-code, a log: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "two scopes", text: lines(record, strings.Replace(record, `"uuid":"u"`, `"uuid":"w","agentId":"g"`, 1)),
			framing: jsonl, container: "linked-log", dialect: "claude-code", pointer: "/message", key: "type, message and uuid", runners: "qwen-code",
			convs: []string{"claude-code, a log: 1 messages, 0 calls, 0 results, linked", "agent g claude-code, a log: 1 messages, 0 calls, 0 results, linked"},
		},
		{
			name: "request and answer", text: lines(`{"messages":`+list(user)+`,"response":{"choices":[{"message":`+chatCall+`}]}}`, `{"messages":`+list(user)+`,"response":{"choices":[{"message":`+answer+`}]}}`),
			framing: jsonl, container: "jsonl-conversations", dialect: "openai-chat", pointer: "/messages", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"record 1 openai-chat, a dataset: 2 messages, 1 calls, 0 results", "record 2 openai-chat, a dataset: 2 messages, 0 calls, 0 results"},
		},
		{
			name: "rollout", text: lines(`{"responses_create_params":{"input":`+list(user)+`},"response":{"output":`+list(item, itemResult)+`}}`, `{"responses_create_params":{"input":"q"},"response":{"output":`+list(item)+`}}`),
			framing: jsonl, container: "jsonl-conversations", dialect: "openai-responses", pointer: "/responses_create_params/input", key: `type "function_call"`, runners: "openai-chat anthropic",
			convs: []string{"record 1 openai-responses, a dataset: 3 messages, 1 calls, 1 results", "record 2 openai-responses, a dataset: 1 messages, 1 calls, 0 results"},
		},
		{
			name: "the first that decides wins a tie", text: list(user, use, chatResult),
			framing: doc, container: "json-messages", dialect: "anthropic", key: `type "tool_use"`, runners: "openai-chat openai-responses",
			convs: []string{"anthropic, a log: 3 messages, 1 calls, 1 results"},
		},
		{
			name: "a message without content", text: list(user, chatCall, user, `{"role":"assistant"}`),
			framing: doc, container: "json-messages", dialect: "openai-chat", key: "tool_calls", runners: "anthropic openai-responses",
			convs: []string{"openai-chat, a log: 4 messages, 1 calls, 0 results"},
		},
		{name: "empty", text: "", framing: source.FramingEmpty, container: "empty"},
		{name: "empty array", text: "[]", framing: doc, container: "json-messages"},
		{name: "a text as input", text: `{"model":"m","input":"q","stream":true}`, framing: doc, container: "json-messages", dialect: "openai-responses", key: "a request with text", unsure: true},
		{name: "a batch of texts", text: lines(`{"custom_id":"1","body":{"model":"m","input":"q"}}`, `{"custom_id":"2","body":{"model":"m","input":"r"}}`), framing: jsonl, container: "jsonl-conversations", dialect: "openai-responses", key: "a request with text", unsure: true},
		{name: "no messages yet", text: `{"model":"m","messages":[]}`, framing: doc, container: "json-messages", unsure: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, convs, reason := read(t, c.text, detect.Options{})
			if reason != "" {
				t.Fatalf("no transcript: %s", reason)
			}
			if f.Framing != c.framing || f.Container != c.container || f.Dialect != c.dialect || f.Pointer != c.pointer || f.Sure == c.unsure {
				t.Errorf("decision %+v", f.Decision)
			}
			if !strings.HasPrefix(f.Key, c.key) {
				t.Errorf("key %q, want %q", f.Key, c.key)
			}
			var runners []string
			for _, r := range f.RunnersUp {
				runners = append(runners, r.Dialect)
			}
			if got := strings.Join(runners, " "); got != c.runners {
				t.Errorf("runners-up %q, want %q", got, c.runners)
			}
			if !slices.Equal(convs, c.convs) || f.Conversations != len(c.convs) {
				t.Errorf("%d conversations:\n got %s\nwant %s", f.Conversations, strings.Join(convs, "\n"), strings.Join(c.convs, "\n"))
			}
		})
	}
}

// TestKey checks that the key gives the byte at which the dialect was decided.
func TestKey(t *testing.T) {
	for _, c := range []struct{ text, element string }{
		{list(user, answer, chatCall), chatCall},
		{list(user, use, useResult), use},
		{"\ufeff\r\n" + lines(user, item), item},
	} {
		f, _, _ := read(t, c.text, detect.Options{})
		if want := fmt.Sprintf(" at byte %d", strings.Index(c.text, c.element)); !strings.HasSuffix(f.Key, want) {
			t.Errorf("key %q, want %q", f.Key, want)
		}
	}
}

// TestForced checks that a requested dialect is used.
func TestForced(t *testing.T) {
	f, convs, reason := read(t, list(user, answer), detect.Options{Dialect: dialect.Anthropic})
	if f.Dialect != "anthropic" || f.Key != "--from" || len(convs) != 1 || reason != "" {
		t.Errorf("%+v, %v, %s", f.Decision, convs, reason)
	}
	if want := "anthropic, a log: 2 messages, 0 calls, 0 results"; convs[0] != want {
		t.Errorf("%s, want %s", convs[0], want)
	}
}

func TestNotTranscripts(t *testing.T) {
	for _, c := range []struct{ name, text, reason string }{ // reason is a part of the reason; | separates alternatives
		{"object", `{"name":"x","version":"1"}`, `"name", "version"`},
		{"scalar", `42`, "without messages|no messages"},
		{"array", `[1,2]`, "without messages|no messages"},
		{"log", lines(`{"level":"info","msg":"x"}`, `{"level":"info","msg":"y"}`), `"level", "msg"`},
		{"prose", "hello\nworld\n", "invalid JSON: unexpected character 'h' at byte 1"},
		{"unknown role", lines(`{"role":"admin","content":"x"}`, `{"role":"editor","content":"y"}`), `"role", "content"`},
		{"another way of calling", list(user, `{"role":"assistant","content":[{"type":"tool_invocation","n":"f"}]}`), "messages"},
		{"other parts", list(`{"role":"user","parts":[{"words":"q"}]}`, `{"role":"model","parts":[{"act":"f"}]}`), "messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, convs, reason := read(t, c.text, detect.Options{})
			if reason == "" || len(convs) > 0 || f.Conversations > 0 {
				t.Fatalf("read as %+v: %v", f.Decision, convs)
			}
			found := false
			for part := range strings.SplitSeq(c.reason, "|") {
				found = found || strings.Contains(reason, part)
			}
			if !found {
				t.Errorf("reason %q, want %q", reason, c.reason)
			}
		})
	}
}

// TestCounts counts records, and records without messages.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name, text                             string
		records, skipped, faults, keys, broken int
	}{
		{"messages", lines(user, chatCall, chatResult), 3, 0, 0, 0, 0},
		{"a line between", lines(user, `{"event":"x"}`, chatCall), 3, 1, 0, 0, 0},
		{"an unreadable line", lines(user, `{"role":`, chatCall), 3, 0, 1, 0, 0},
		{"a doubled key", lines(user, `{"role":"user","role":"user","content":"x"}`), 2, 0, 0, 1, 0},
		{"a doubled key in a payload", lines(record, strings.Replace(recordUse, `"input":{}`, `"input":{"a":1,"a":2}`, 1)), 2, 0, 0, 0, 0},
		{"links", lines(record, strings.Replace(recordUse, `"parentUuid":"u"`, `"parentUuid":"x"`, 1), record), 3, 0, 0, 0, 2},
		{"book-keeping", lines(record, `{"type":"summary","summary":"s","leafUuid":"v"}`), 2, 1, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _, _ := read(t, c.text, detect.Options{})
			if f.Records != c.records || f.Skipped != c.skipped || len(f.Faults) != c.faults || len(f.Keys) != c.keys || len(f.Links) != c.broken {
				t.Errorf("%d records, %d skipped, faults %v, keys %v, links %v", f.Records, f.Skipped, f.Faults, f.Keys, f.Links)
			}
		})
	}
}

// TestSpansOnce has attributes that hold messages in two forms. Each message must be read
// once, including the plain ones.
func TestSpansOnce(t *testing.T) {
	span := func(members string) string {
		return `{"traceId":"t","id":"o","startTime":"2026-01-01T00:00:00Z",` + members + `}`
	}
	want := []string{"openai-chat, a trace: 3 messages, 1 calls, 1 results"}
	for _, c := range []struct{ name, text string }{
		{"a message as output, the input as text", span(`"input":` + strconv.Quote(list(user, chatCall)) + `,"output":` + chatResult)},
		{"lists, one as text", span(`"input":` + strconv.Quote(list(user, chatCall)) + `,"output":` + list(chatResult))},
		{"a list of which one is text", span(`"input":[` + strconv.Quote(user) + `,` + chatCall + `,` + chatResult + `],"output":"ok"`)},
	} {
		if _, convs, reason := read(t, c.text, detect.Options{}); !slices.Equal(convs, want) {
			t.Errorf("%s: %q, want %q%s", c.name, convs, want, reason)
		}
	}
}

// TestBegun checks that a file without messages still has the dialect of its header.
func TestBegun(t *testing.T) {
	gemini := `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","messages":[]}`
	for _, c := range []struct{ text, dialect string }{
		{gemini, "gemini-cli"},
		{lines(`{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","kind":"main"}`), "gemini-cli"},
		{`{"version":3,"responderUsername":"GitHub Copilot","requests":[],"sessionId":"s"}`, "vscode-chat"},
		{`{"id":"1","working_dir":"/home/kim","conversation":[]}`, "goose"},
		{lines(`{"type":"thread.started","thread_id":"t"}`, `{"type":"turn.started"}`, `{"type":"turn.failed","error":{"message":"x"}}`), "codex-exec"},
		{strings.Replace(gemini, "[]", `[{"what":"is this"}]`, 1), ""},
		{lines(`{"type":"thread.started","thread_id":"t"}`, `{"level":"info","msg":"x"}`), ""},
	} {
		f, convs, reason := read(t, c.text, detect.Options{})
		if len(convs) > 0 || (reason == "") != (c.dialect != "") || reason == "" && f.Dialect != c.dialect {
			t.Errorf("%s: %q %q, %q, want %q", c.text, f.Dialect, convs, reason, c.dialect)
		}
	}
}

// TestControlLines checks that a bookkeeping line is not a message and leaves the
// previous message unchanged.
func TestControlLines(t *testing.T) {
	for _, c := range []struct{ control, call, result, dialect string }{
		{`{"role":"_meta","content":"x"}`, chatCall, chatResult, "openai-chat"},
		{`{"role":"_meta","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`, use, useResult, "anthropic"},
	} {
		text := lines(user, c.call, c.control, c.result, user)
		f, all := container.Read(source.FromBytes("t", []byte(text)), detect.Options{})
		for conv, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			if len(conv.Messages) != 4 || len(conv.Calls) != 1 || conv.Dialect != c.dialect {
				t.Errorf("%s: %s with %d messages and %d calls", c.control, conv.Dialect, len(conv.Messages), len(conv.Calls))
			}
			for i := range conv.Messages {
				if conv.Messages[i].Has(transcript.MessageForeign) {
					t.Errorf("%s: message %d counts as one of another dialect", c.control, i+1)
				}
			}
		}
		if f.Skipped != 1 {
			t.Errorf("%s: %d records skipped", c.control, f.Skipped)
		}
	}
}

// TestStop checks that nothing is yielded after a receiver stops.
func TestStop(t *testing.T) {
	two := strings.Replace(record, `"uuid":"u"`, `"uuid":"w","agentId":"g"`, 1)
	for _, text := range []string{
		list(list(user), list(user), list(user)), lines(list(user), list(user), list(user)), lines(record, two), list(list(record, two), list(record, two)),
		lines(row("a"), row("b")), list(row("a"), row("b")),
	} {
		f, all := container.Read(source.FromBytes("t", []byte(text)), detect.Options{})
		n := 0
		for _, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			n++
			break
		}
		if n != 1 || f.Conversations != 1 {
			t.Errorf("%s: %d conversations, but %d yielded", text, f.Conversations, n)
		}
		if _, convs, _ := read(t, text, detect.Options{}); len(convs) < 2 {
			t.Errorf("%s has only %d conversations", text, len(convs))
		}
	}
}

// row returns a row of a table with a message of a session.
func row(session string) string {
	return `{"id":1,"session_id":"` + session + `","message_data":` + strconv.Quote(item) + `}`
}

// A failing source fails after a number of bytes were read.
type failing struct {
	text string
	left *int
}

var errFailing = errors.New("the disk is broken")

// ReadAt implements io.ReaderAt.
func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if *f.left -= len(p); *f.left < 0 {
		return 0, errFailing
	}
	return copy(p, f.text[off:]), nil
}

// TestSourceFails checks that an error of the source is the last thing that is yielded,
// whichever read fails.
func TestSourceFails(t *testing.T) {
	fold := `{"sessionId":"s","projectHash":"p","startTime":"2026-01-01T00:00:00Z","kind":"main"}`
	gemini := func(id string) string {
		return `{"id":"` + id + `","timestamp":"t","type":"user","content":[{"text":"q"}]}`
	}
	request := `{"requestId":"r","message":{"text":"a"},"response":[]}`
	for name, text := range map[string]string{
		"document":     list(user, chatCall, chatResult),
		"lines":        lines(user, chatCall, chatResult),
		"conversation": lines(list(user), list(user)),
		"log":          lines(record, recordUse, strings.Replace(recordUse, `"parentUuid":"u"`, `"parentUuid":"x"`, 1)),
		"lost parent":  lines(record, strings.Replace(recordUse, `"parentUuid":"u"`, `"parentUuid":"x"`, 1)),
		"folding log":  lines(fold, gemini("a"), gemini("b"), gemini("a")),
		"patched log": lines(`{"kind":0,"v":{"sessionId":"s","requests":[]}}`, `{"kind":2,"k":["requests"],"v":[`+request+`]}`,
			`{"kind":1,"k":["requests",0,"message","text"],"v":"z"}`),
		"table": lines(row("a"), row("b")),
	} {
		reads := 0
		for limit := 0; ; limit += 40 {
			left, last, n := limit, error(nil), 0
			_, all := container.Read(source.NewSource("t", failing{text, &left}, int64(len(text))), detect.Options{})
			for c, err := range all {
				if last != nil {
					t.Fatalf("%s: something follows the error %v", name, last)
				}
				if last = err; (err == nil) != (c != nil) {
					t.Fatalf("%s: %v with %v", name, c, err)
				}
				n++
			}
			if last == nil && left < 0 {
				t.Errorf("%s: the error after %d bytes was lost", name, limit)
			}
			if last == nil {
				if n == 0 {
					t.Errorf("%s holds no conversation", name)
				}
				break
			}
			if !errors.Is(last, errFailing) {
				t.Fatalf("%s: %v", name, last)
			}
			reads++
		}
		if reads == 0 {
			t.Errorf("%s: no read failed", name)
		}
	}
}

// sound returns what is wrong with a conversation, regardless of its source, or "".
func sound(c *transcript.Conversation, size int64) string {
	in := func(outer, inner source.Span) bool { return outer.Start <= inner.Start && inner.End <= outer.End }
	whole := source.Span{Start: 0, End: size}
	for i := range c.Messages {
		m := &c.Messages[i]
		if !in(whole, m.Span()) || !in(m.Span(), m.RoleSpan()) || m.Record < 1 || int(m.Turn) >= c.Turns || int(m.BlockHi) > len(c.Blocks) {
			return fmt.Sprintf("message %d: %+v", i, *m)
		}
		for k := m.BlockLo; k < m.BlockHi; k++ {
			b := c.Blocks[k]
			if int(b.Message) != i || !in(m.Span(), b.Span) {
				return fmt.Sprintf("block %d of message %d: %+v", k, i, b)
			}
			switch b.Kind {
			case transcript.BlockCall, transcript.BlockServerCall:
				call := c.Calls[b.Ref]
				if call.Block != k || !in(b.Span, call.ID.Span) || !in(b.Span, call.Name.Span) || !call.Args.IsZero() && !in(b.Span, call.Args) || !call.BadAt().IsZero() && !in(call.Args, call.BadAt()) {
					return fmt.Sprintf("call %d: %+v", b.Ref, call)
				}
			case transcript.BlockResult, transcript.BlockServerResult:
				if res := c.Results[b.Ref]; res.Block != k || !in(b.Span, res.ID.Span) || !res.Payload.IsZero() && !in(b.Span, res.Payload) {
					return fmt.Sprintf("result %d: %+v", b.Ref, res)
				}
			}
		}
	}
	return ""
}

func FuzzRead(f *testing.F) {
	for _, d := range dialect.All() {
		f.Add([]byte(d.Example))
	}
	for _, text := range []string{
		list(user, chatCall, chatResult), list(user, use, useResult), list(item, itemResult), list(legacyCall), lines(record, recordUse, record), lines(bareRecord),
		`{"messages":` + list(user, chatCall) + `,"response":{"choices":[{"message":` + chatCall + `}]}}`, `{"loglines":` + list(record, recordUse) + `}`,
		`{"model":"m","previous_response_id":"r","input":` + list(itemResult) + `}`, lines(`{"messages":`+list(user)+`}`, list(user)), list(list(user), list(use)),
		`{"input":` + list(user) + `,"output":` + list(item) + `}`, lines(user, `{"role":`, "\x00\x00", `{"role":"us`+user), list(user, use, chatResult, item),
		`[{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\u0022\ud83d\ude00\":"}}]}]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		var not *detect.ErrNotTranscript
		file, all := container.Read(source.FromBytes("fuzz", text), detect.Options{})
		for c, err := range all {
			if errors.As(err, &not) {
				if not.Reason == "" || n > 0 {
					t.Errorf("no transcript because %q, with %d conversations", not.Reason, n)
				}
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := sound(c, int64(len(text))); s != "" {
				t.Error(s)
			}
			n++
		}
		if n != file.Conversations {
			t.Errorf("%d conversations, but %d yielded", file.Conversations, n)
		}
		for _, fault := range file.Faults {
			if fault.Span.Start < 0 || fault.Span.End > int64(len(text)) || int(fault.Record) > file.Records {
				t.Errorf("fault %+v", fault)
			}
		}
		for _, d := range dialect.All() {
			_, all := container.Read(source.FromBytes("fuzz", text), detect.Options{Dialect: d})
			for c, err := range all {
				if errors.As(err, &not) {
					break
				}
				if err != nil {
					t.Fatalf("as %s: %v", d.Name, err)
				}
				if s := sound(c, int64(len(text))); s != "" {
					t.Errorf("as %s: %s", d.Name, s)
				}
			}
		}
	})
}

// TestOrdinals checks that a number that does not follow the previous one is a fault, and
// that a numbered log is append-only.
func TestOrdinals(t *testing.T) {
	for _, c := range []struct{ name, ordinals, want string }{
		{"in order", "0 1 2", ""},
		{"from any number on", "17 18 19", ""},
		{"a repeat", "0 1 1 2", "3:2"},
		{"a skip", "0 2 3", "2:1"},
		{"two breaks", "0 0 1 4 5", "2:1 4:2"},
		{"back to the start", "5 6 0 1", "3:7"},
		{"records without a number do not count", "0 - 1 null 2", ""},
		{"no number", `0 "1" 2`, "2:1"},
		{"a fraction", `0 1.5 2`, "2:1"},
		{"none", "- - -", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var records []string
			for n := range strings.FieldsSeq(c.ordinals) {
				ordinal := `"ordinal":` + n + `,`
				if n == "-" {
					ordinal = ""
				}
				records = append(records, `{"timestamp":"t",`+ordinal+`"type":"response_item","payload":`+item+`}`)
			}
			appended := false
			f, all := container.Read(source.FromBytes("t", []byte(lines(records...))), detect.Options{})
			for c, err := range all {
				if err != nil {
					t.Fatal(err)
				}
				appended = c.AppendOnly && c.OnResume != ""
			}
			var got []string
			for _, l := range f.Links {
				got = append(got, fmt.Sprintf("%d:%d", l.Record, l.Want))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if numbered := c.name != "none"; appended != numbered || f.CheckOnly != "" {
				t.Errorf("append-only: %v; check only: %q", appended, f.CheckOnly)
			}
		})
	}
}

// TestModel checks that only the model of a request is known.
func TestModel(t *testing.T) {
	for text, want := range map[string]string{
		`{"model":"gpt-5","max_tokens":9,"messages":[` + user + `,` + chatCall + `]}`:                                              "gpt-5",
		`{"custom_id":"1","method":"POST","url":"/v1/responses","body":{"model":"o3","input":[` + user + `,` + item + `]}}` + "\n": "o3",
		`{"model":"gpt-5","output":[` + item + `,` + itemResult + `]}`:                                                             "",
		`{"messages":[` + user + `,` + chatCall + `]}`:                                                                             "",
	} {
		got := "none"
		_, all := container.Read(source.FromBytes("t", []byte(text)), detect.Options{})
		for c, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			got = c.Model
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
