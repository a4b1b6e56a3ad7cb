package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// allLoads are the loads, and those that search earlier elements.
func allLoads() []load { return slices.Concat(loads, growing) }

// growing are transcripts in which each element must find an earlier one, so that a linear
// search would make the work quadratic.
var growing = []load{
	{
		name: "results beside their calls", n: 5_000,
		text: func(n int) []byte {
			return []byte(each(n, `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c%[1]d","toolName":"f","input":{},"providerExecuted":true},{"type":"tool-result","toolCallId":"c%[1]d","toolName":"f","output":{"type":"text","value":"x"}}]}`))
		},
		want: func(n int) map[string]int { return map[string]int{"consecutive-roles": n - 1} },
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "results beside the calls of one message", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[` + joined(n, `{"functionCall":{"name":"f","args":{"n":%d}}}`) + "," +
				joined(n, `{"functionResponse":{"name":"f","response":{"n":%d}}}`) + `]},{"role":"user","parts":[{"text":"q"}]}]}`)
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "parts that hold call and result", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"id":"m","role":"assistant","parts":[` + joined(n, `{"type":"tool-ls","toolCallId":"c%d","state":"output-available","input":{},"output":"x"}`) + "]}")
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "calls and results of one message each", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"messages":[` + loadUser + `,{"role":"assistant","content":[` + joined(n, loadUse) + `]},{"role":"user","content":[` +
				joined(n, `{"type":"tool_result","tool_use_id":"t%d","content":"x"}`) + `]}]}`)
		},
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "states of earlier calls", n: 2_000,
		text: func(n int) []byte {
			return []byte(`[{"role":"user","messageId":0,"content":[{"type":"text","text":"q"}]},{"role":"assistant","messageId":1,"content":[` +
				joined(n, `{"type":"tool_use","complete":true,"id":"t%d","name":"Read","input":{}}`) + `]},{"role":"user","messageId":2,"content":[` +
				joined(n, `{"type":"tool_result","toolUseID":"t%d","run":{"status":"in-progress"}}`) + `]}]`)
		},
		want: func(n int) map[string]int { return map[string]int{"pending-tool-call": n} },
		more: func(n int) (int, int) { return n, 0 },
	},
	{
		name: "lost calls of one record", n: 20_000,
		text: func(n int) []byte {
			return []byte(`{"type":"assistant","message":{"id":"m","role":"assistant","content":[` + joined(n, loadUse) + `]},"uuid":"a","parentUuid":null,"sessionId":"s"}` + "\n" +
				`{"type":"user","message":{"role":"user","content":"q"},"uuid":"u","parentUuid":"a","sessionId":"s"}` + "\n")
		},
		want: func(n int) map[string]int { return map[string]int{"missing-tool-result": n} },
		more: func(n int) (int, int) { return n, 0 },
	},
	{
		name: "lost calls of a log of events", n: 10_000,
		text: func(n int) []byte {
			return []byte(`{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}` + "\n" +
				each(n, `{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}","call_id":"c%d"}}`+"\n"+
					`{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}`) + "\n")
		},
		want: func(n int) map[string]int { return map[string]int{"missing-tool-result": n} },
		more: func(n int) (int, int) { return n, 0 },
	},
	{
		name: "calls of a request without tools", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"modelId":"m","messages":[{"role":"user","content":[{"text":"q"}]},` +
				joined(n, `{"role":"assistant","content":[{"toolUse":{"toolUseId":"t%[1]d","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t%[1]d","content":[{"text":"x"}]}}]}`) + `]}`)
		},
		want: func(int) map[string]int { return map[string]int{"missing-tool-config": 1} },
		more: func(n int) (int, int) { return n, n },
	},
	{
		name: "attributes of a span", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"traceId":"t","spanId":"s","attributes":{` + joined(n, `"llm.input_messages.%[1]d.message.role":"user","llm.input_messages.%[1]d.message.content":"x"`) + `}}`)
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "a key again and again", n: 2_000,
		text: func(n int) []byte {
			return []byte(`{"role":"user","content":"x",` + joined(n, `"k":%d`) + "}\n" + `{"role":"assistant","content":"y"}`)
		},
		want: func(n int) map[string]int { return map[string]int{"duplicate-key": n - 1} },
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "many keys", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"role":"user","content":"x",` + joined(n, `"k%d":0`) + "}\n" + `{"role":"assistant","content":"y"}`)
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "rollbacks", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}` + "\n" +
				each(n, `{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%d"}]}}`+"\n"+
					`{"timestamp":"t","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}`))
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "messages on one line", n: 2_000,
		text: func(n int) []byte {
			return []byte(strings.Repeat(loadUser, n) + "\n" + `{"role":"assistant","content":null,"tool_calls":[` + fmt.Sprintf(loadCall, 1) + "]}\n")
		},
		want: func(n int) map[string]int {
			return map[string]int{"consecutive-roles": n - 1, "glued-records": 1, "pending-tool-call": 1}
		},
		more: func(int) (int, int) { return 1, 0 },
	},
	{
		name: "messages deep in a document", n: 500,
		text: func(n int) []byte {
			return []byte(`[` + joined(n, strings.Repeat(`{"a":[`, 40)+`{"messages":[`+loadUser+`,{"role":"assistant","content":"%d"}]}`+strings.Repeat(`]}`, 40)) + `]`)
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "rewinds", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"sessionId":"s","projectHash":"h","startTime":"t"}` + "\n" + each(n, `{"id":"m%d","timestamp":"t","type":"user","content":"x"}`) + "\n" +
				each(n, `{"$rewindTo":"m`+strconv.Itoa(n-1)+`"}`+"\n"+`{"id":"m`+strconv.Itoa(n-1)+`","timestamp":"t%d","type":"user","content":"x"}`))
		},
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "compactions that keep all", n: 5_000,
		text: func(n int) []byte {
			const entry = `"timestamp":"2026-01-01T00:00:00Z"`
			return []byte(`{"type":"session","version":3,"id":"0","cwd":"/",` + entry + "}\n" + `{"type":"message","id":"u","parentId":null,` + entry + `,"message":{"role":"user","content":"q"}}` + "\n" +
				each(n, `{"type":"message","id":"m%[1]d","parentId":"u",`+entry+`,"message":{"role":"user","content":"q"}}`+"\n"+
					`{"type":"compaction","id":"c%[1]d","parentId":"m%[1]d",`+entry+`,"summary":"s","firstKeptEntryId":"u","tokensBefore":1}`))
		},
		want: func(n int) map[string]int { return map[string]int{"consecutive-roles": n} },
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "missing parents behind circles", n: 2_000,
		text: func(n int) []byte {
			const said = `"sessionId":"s","message":{"role":"user","content":"q"}}`
			return []byte(each(n, `{"type":"user","uuid":"a%[1]d","parentUuid":"b%[1]d",`+said+"\n"+`{"type":"user","uuid":"b%[1]d","parentUuid":"a%[1]d",`+said) + "\n" +
				each(n, `{"type":"user","uuid":"x%[1]d","parentUuid":"y%[1]d",`+said))
		},
		want: func(n int) map[string]int { return map[string]int{"broken-link": n} },
		more: func(int) (int, int) { return 0, 0 },
	},
	{
		name: "elements taken out of a list", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"kind":0,"v":{"sessionId":"s","requests":[` + strings.Repeat(loadRequest+",", n) + loadRequest + "]}}\n" + strings.Repeat(`{"kind":3,"k":["requests",0]}`+"\n", n))
		},
		want: func(int) map[string]int { return map[string]int{"pending-tool-call": 1} },
		more: func(int) (int, int) { return 1, 0 },
	},
	{
		name: "members put into an object", n: 5_000,
		text: func(n int) []byte {
			return []byte(`{"kind":0,"v":{"sessionId":"s","requests":[` + loadRequest + "]}}\n" + each(n, `{"kind":1,"k":["requests",0,"result","metadata","m%d"],"v":1}`))
		},
		want: func(int) map[string]int { return map[string]int{"pending-tool-call": 1} },
		more: func(int) (int, int) { return 1, 0 },
	},
}

// loadRequest is an element of the document that a log of changes makes.
const loadRequest = `{"requestId":"r","message":{"text":"a"},"response":[],"result":{"metadata":{"toolCallRounds":[{"response":"","toolCalls":[{"id":"c","name":"f","arguments":"{}"}]}]}}}`

// A countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	n int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.n += int64(n)
	return n, err
}

// TestReading: twice the input needs about twice the bytes read, also by a repair.
func TestReading(t *testing.T) {
	t.Parallel()
	for _, l := range allLoads() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			n := max(sample.Size(l.n, min(l.n/2, 20_000), l.n/2)/4, 200)
			var read, repaired [2]int64
			for i := range read {
				text := l.text(n << i)
				r := &countingReader{ReaderAt: bytes.NewReader(text)}
				if _, err := Check(t.Context(), source.NewSource(l.name, r, int64(len(text))), Options{Excerpts: true}); err != nil {
					t.Fatal(err)
				}
				read[i], r.n = r.n, 0
				if err := l.repair(t.Context(), r, int64(len(text))); err != nil {
					t.Fatal(err)
				}
				repaired[i] = r.n
			}
			if read[1] > read[0]*5/2+1<<20 {
				t.Errorf("%d bytes are read of one, %d of one twice as large", read[0], read[1])
			}
			if repaired[1] > repaired[0]*5/2+1<<20 {
				t.Errorf("a repair reads %d bytes of one, %d of one twice as large", repaired[0], repaired[1])
			}
		})
	}
}

// repair repairs a load, also with what is unsafe or only made on demand.
func (l *load) repair(ctx context.Context, r io.ReaderAt, size int64) error {
	_, err := Settle(ctx, source.NewSource(l.name, r, size), FixOptions{
		Options: Options{Strategy: map[string]string{"missing-tool-config": "text"}}, Unsafe: true,
	})
	if checkedOnly(err) || errors.As(err, new(*ProofError)) {
		return nil
	}
	return err
}

// many are transcripts with a finding every few bytes.
var many = []load{
	{
		name: "lines that are no JSON", n: 20_000,
		text: func(n int) []byte { return []byte(loadUser + "\n" + loadUser + "\n" + strings.Repeat("x\n", n)) },
		want: func(n int) map[string]int { return map[string]int{"invalid-json": n, "consecutive-roles": 1} },
	},
	{
		name: "raw newlines", n: 20_000,
		text: func(n int) []byte {
			return []byte(loadUser + "\n" + strings.Repeat("{\"role\":\"assistant\",\"content\":\"a\nb\"}\n"+loadUser+"\n", n))
		},
		want: func(n int) map[string]int { return map[string]int{"raw-newline-in-string": n} },
	},
	{
		name: "blank blocks", n: 20_000,
		text: func(n int) []byte {
			return []byte(`[{"role":"user","content":[{"type":"text","text":"x"},` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":""},`, n), ",") + `]},{"role":"assistant","content":[` + fmt.Sprintf(loadUse, 1) + `]}]`)
		},
		want: func(n int) map[string]int { return map[string]int{"empty-text": n, "pending-tool-call": 1} },
	},
	{
		name: "a doubled key", n: 20_000,
		text: func(n int) []byte {
			return []byte(`{"messages":[{"role":"user","content":"q",` + strings.Repeat(`"a":0,`, n) + `"b":1},` + loadUser + `]}`)
		},
		want: func(n int) map[string]int { return map[string]int{"duplicate-key": n - 1, "consecutive-roles": 1} },
	},
	{
		name: "messages in a row", n: 20_000,
		text: func(n int) []byte { return []byte(strings.Repeat(loadUser+"\n", n)) },
		want: func(n int) map[string]int { return map[string]int{"consecutive-roles": n - 1} },
	},
}

// TestMost: only Options.Most findings of each kind are kept, and all are counted.
func TestMost(t *testing.T) {
	for _, l := range many {
		t.Run(l.name, func(t *testing.T) {
			rep := check(t, l.name, l.text(l.n), Options{Excerpts: true, Most: 100})
			kept, all := map[string]int{}, map[string]int{}
			for f, n := range rep.All() {
				all[f.Rule.Name] += n
			}
			for f := range rep.Findings.All() {
				kept[f.Rule.Name]++
			}
			if diff := cmp.Diff(l.want(l.n), all); diff != "" {
				t.Error(diff)
			}
			for rule, n := range kept {
				if n > 100 {
					t.Errorf("%d findings of %s are kept", n, rule)
				}
			}
		})
	}
}

// TestMemoryOfFindings: a finding that is only counted takes no more memory than a fault in
// the bytes, which a repair may need.
func TestMemoryOfFindings(t *testing.T) {
	for _, l := range many {
		text := l.text(l.n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		rep := check(t, l.name, text, Options{Excerpts: true, Most: 100})
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(l.n); got > 150 {
			t.Errorf("%s: %.0f bytes are kept of each finding", l.name, got)
		} else {
			t.Logf("%s: %.0f bytes are kept of each finding", l.name, got)
		}
		runtime.KeepAlive(rep)
		runtime.KeepAlive(text)
	}
}
