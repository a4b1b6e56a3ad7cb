package engine

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

const (
	whereUser = `{"role":"user","content":"q"}`
	whereCall = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	whereTool = `{"role":"tool","tool_call_id":"c1","content":"a"}`
	whereChat = whereUser + "," + whereCall + "," + whereTool
)

// TestWhereMessagesStand: messages are found in all places of a file.
func TestWhereMessagesStand(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, text, want string }{
		{
			"another form of messages that are not there",
			`{"messages":[],"raw_messages":[` + whereChat + `]}`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 1 results\n",
		},
		{
			"another form of messages that are null",
			`{"raw_messages":[` + whereChat + `],"messages":null}`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 1 results\n",
		},
		{
			"another form of nothing",
			`{"model_input_messages":[` + whereChat + `]}`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 1 results\n",
		},
		{
			"another form of messages that are there",
			`{"raw_messages":[` + whereChat + `],"messages":[` + whereChat + `],"model_input_messages":[` + whereChat + `]}`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 1 results\n",
		},
		{
			"deep in objects",
			strings.Repeat(`{"a":`, 60) + `{"messages":[` + whereChat + `]}` + strings.Repeat("}", 60),
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 1 results\n",
		},
		{
			"deep in lists and objects, beside much else",
			`[{"data":` + strings.Repeat(`[{"b":[1,2,{"c":"d"}],"a":`, 30) + `{"messages":[` + whereChat + `]}` + strings.Repeat(`,"z":"y"}]`, 30) + `}]`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 1 results\n",
		},
		{
			"a list of calls that stands alone, which are no events of a log",
			`{"steps":[{"tool_calls":[{"type":"tool_call","id":"c1","name":"ls","args":{}}],"text":"x"}]}`,
			"f: skipped: no messages found, only the field \"steps\"\n",
		},
		{
			"messages that end with the answer",
			`{"messages":[` + whereUser + `,` + whereCall + `],"response":{"choices":[{"message":{"annotations":[],"refusal":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"ls"},"id":"c1","type":"function"}]}}]}}`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 0 results\n" +
				`  1:99: info: pending-tool-call: call "c1" to "ls" has no result yet` + "\n",
		},
		{
			"items that end with the output",
			`{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}],"output":[{"type":"function_call","id":"fc_1","status":"completed","call_id":"c1","name":"ls","arguments":"{}"}]}`,
			"f: openai-responses, json-messages, 1 conversations, 1 calls, 0 results\n" +
				`  1:75: info: pending-tool-call: call "c1" to "ls" has no result yet` + "\n",
		},
		{
			"an answer that calls once more",
			`{"messages":[` + whereChat + `],"response":{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}}`,
			"f: openai-chat, json-messages, 1 conversations, 2 calls, 1 results\n" +
				`  1:307: info: pending-tool-call: call "c2" to "ls" has no result yet` + "\n",
		},
		{
			"an answer with calls behind the same text without",
			`{"messages":[` + whereUser + `,{"role":"assistant","content":"ok"}],"response":{"choices":[{"message":{"role":"assistant","content":"ok","tool_calls":[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]}}`,
			"f: openai-chat, json-messages, 1 conversations, 1 calls, 0 results\n" +
				"  1:123: info: consecutive-roles: two messages of role assistant in a row\n" +
				`  1:170: info: pending-tool-call: call "c2" to "ls" has no result yet` + "\n",
		},
		{
			"events of a page, with ids of their own",
			`{"type":"click","uuid":"u1","page":"/x"}` + "\n" + `{"type":"scroll","uuid":"u1","page":"/y"}`,
			`f: skipped: no messages found, only the fields "type", "uuid", "page"` + "\n",
		},
		{
			"goods that are named as calls and results are",
			`[{"type":"tool_call","name":"drill","id":"7","price":3},{"type":"tool_result","id":"7","stock":2}]`,
			"f: skipped: no messages found in the array\n",
		},
		{
			"the same in lines",
			`{"type":"tool_call","name":"drill","id":"7","price":3}` + "\n" + `{"type":"tool_result","id":"7","stock":2}` + "\n",
			`f: skipped: no messages found, only the fields "type", "name", "id", "price"` + "\n",
		},
		{
			"one message in a list of what is none",
			`[{},{"content":"4","name":"berths","role":"tool"},{"content":"4."}]`,
			"f: skipped: no messages found in the array\n",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(x.want, render(check(t, "f", []byte(x.text), Options{}))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestLoneMessage: a single message under any key of a document is read like the message
// alone, except records of a log.
func TestLoneMessage(t *testing.T) {
	t.Parallel()
	n := 0
	for _, d := range dialect.All() {
		line, _, _ := strings.Cut(d.Example, "\n")
		alone := check(t, "f", []byte(line), Options{})
		if !d.Bare() || alone.Calls == 0 {
			continue
		}
		n++
		held := check(t, "f", []byte(`{"id":7,"steps":[1,{"answer":`+line+`}]}`), Options{})
		if held.Calls != alone.Calls || held.File.Dialect != alone.File.Dialect {
			t.Errorf("%s: %s%d calls of %s are read, %d of %s alone", d.Name, held.Skipped, held.Calls, held.File.Dialect, alone.Calls, alone.File.Dialect)
		}
	}
	if n < 40 {
		t.Errorf("%d dialects have messages that stand alone", n)
	}
}

// TestWrappedRecords: records wrapped in another program's records, under any key, are read
// like the records alone.
func TestWrappedRecords(t *testing.T) {
	t.Parallel()
	for _, with := range []string{`{"at":%d,"event":%s}`, `{"n":%d,"rec":%s}`, `{"n":%d,"held":{"kind":1,"rec":%s}}`} {
		logs := func(name string, _ []source.Value) bool { return path.Ext(name) == ".jsonl" }
		n := someFixtures(t, logs, func(name string, records []source.Value, seps [][]byte) {
			out := make([][]byte, len(records))
			for i, r := range records {
				out[i] = fmt.Appendf(nil, with, i, r.Raw())
			}
			if diff := cmp.Diff(told(t, name, glued(seps, raws(records))), told(t, name, glued(seps, out))); diff != "" {
				t.Errorf("%s in "+with+" (-bare +wrapped):\n%s", name, 0, "it", diff)
			}
		})
		if n < 140 {
			t.Errorf("%d fixtures", n)
		}
	}
}

// TestBehindBooks: another program's bookkeeping records at the start of a file change no
// finding.
func TestBehindBooks(t *testing.T) {
	t.Parallel()
	exceptions := map[string]string{
		"pi/broken/session-1-missing.jsonl": "a compaction says by the number of its line which record is kept first",
		"codex/broken/lost-outputs.jsonl":   "the messages name other records by their numbers",
	}
	for _, lines := range []int{70, 400} {
		books := []byte(strings.Repeat(`{"event":"tick","n":1}`+"\n", lines))
		// One record alone is a document.
		logs := func(name string, records []source.Value) bool {
			return path.Ext(name) == ".jsonl" && len(records) > 1 && exceptions[name] == ""
		}
		n := someFixtures(t, logs, func(name string, records []source.Value, seps [][]byte) {
			text := bytes.TrimPrefix(glued(seps, raws(records)), []byte("\ufeff"))
			if diff := cmp.Diff(told(t, name, text), told(t, name, slices.Concat(books, text))); diff != "" {
				t.Errorf("%s behind %d lines (-bare +behind):\n%s", name, lines, diff)
			}
		})
		if n < 140 {
			t.Errorf("%d fixtures", n)
		}
	}
}

// TestWhatDecides: the evidence that decided for a dialect has a name.
func TestWhatDecides(t *testing.T) {
	t.Parallel()
	for _, d := range dialect.All() {
		call, _, _ := strings.Cut(d.Example, "\n")
		for _, text := range []string{call, d.Example} {
			if rep := check(t, "f", []byte(text), Options{}); strings.HasPrefix(rep.File.Key, " at ") {
				t.Errorf("%s: decided by%s", d.Name, rep.File.Key)
			}
		}
	}
}

// TestNoneAround: an object that could be a message, or a record of a log, does not make the
// records around it a transcript.
func TestNoneAround(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"event":{"type":"user","id":1},"session":{"type":"session","id":"s","version":1,"timestamp":"t"}}`,
		`{"n":1,"event":{"type":"message","user":"U1","text":"hi","ts":"1.2"}}`,
		`{"event":"test","data":{"type":"assertion","status":"passed","id":2,"parentId":1}}`,
		`{"n":1,"action":{"type":"user/message","payload":{"id":"1","content":"x"}},"state":{"user":{"id":1}}}`,
		`{"n":1,"rec":{"type":"click","id":"2","parentId":"1","timestamp":"t"}}`,
		`{"n":1,"rec":{"type":"message","id":"2","parentId":"1","timestamp":"t","text":"x"}}`,
		`{"n":1,"rec":{"type":"user","uuid":"2","parentUuid":"1","timestamp":"t"}}`,
		`{"device":{"id":"d","type":"tool"},"reading":{"type":"tool_use","id":"x","value":3},"timestamp":"t"}`,
		`{"job":{"type":"step","id":"1","status":"completed"},"result":{"type":"result","subtype":"success","duration_ms":3}}`,
		`{"event":{"type":"m.room.message","sender":"@a","event_id":"$1","content":{"msgtype":"m.text","body":"hi"}}}`,
		`{"id":1,"profile":{"role":"admin","content":"bio","name":"x"}}`,
		`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"type":"user","id":1,"content":"x"}}`,
		`{"id":"1","type":"PushEvent","actor":{"id":1,"login":"x","type":"user"},"payload":{"type":"message","commits":[{"sha":"a","message":"m"}]}}`,
		`{"id":7,"step":{"type":"tool_call","name":"drill","id":"7","price":3}}`,
		`{"reason":"compiler-message","message":{"message":"unused","level":"warning","spans":[{"text":[{"text":"x"}]}],"children":[]}}`,
	} {
		for how, text := range map[string]string{
			"lines": strings.Repeat(line+"\n", 20), "a list": "[" + strings.Repeat(line+",", 20) + line + "]", "a document": line,
		} {
			if rep := check(t, "f", []byte(text), Options{}); rep.Skipped == "" {
				t.Errorf("%s of %s: %s", how, line, render(rep))
			}
		}
	}
	// A message without calls inside a document is not enough.
	if rep := check(t, "f", []byte(`{"chat":{"role":"Role","user":{"role":"user","content":"Hello"}}}`), Options{}); rep.Skipped == "" {
		t.Errorf("texts of a program: %s", render(rep))
	}
}

// TestFixWrappedRecords: a repair keeps another program's records, and inserts none between
// them; only an unsafe repair removes one.
func TestFixWrappedRecords(t *testing.T) {
	t.Parallel()
	n := 0
	eachFixture(t, func(name string, records []source.Value, seps [][]byte) {
		if path.Ext(name) != ".jsonl" || !strings.Contains(name, "/broken/") || len(records) < 2 {
			return
		}
		out := make([][]byte, len(records))
		for i, r := range records {
			out[i] = fmt.Appendf(nil, `{"n":%d,"rec":%s}`, i, r.Raw())
		}
		text, f, err := repaired(glued(seps, out), FixOptions{})
		if err != nil || f.Before.File.Wrap == "" {
			return
		}
		n++
		i := 0
		for rec, err := range source.Records(source.FromBytes(name, text)) {
			if at := rec.Value.Get("n"); err != nil || string(at.Raw()) != strconv.Itoa(i) || rec.Value.Get("rec").Kind() != source.Object {
				t.Errorf("%s: record %d is %s", name, i, rec.Value.Raw())
			}
			i++
		}
		if i != len(records) {
			t.Errorf("%s: %d records of %d", name, i, len(records))
		}
	})
	if n < 30 {
		t.Errorf("%d fixtures", n)
	}
}
