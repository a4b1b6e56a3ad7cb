package body

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/toolguard/toolguard"
)

// options are those of the command without flags, for a dialect.
func options(dialect string) []toolguard.Option {
	return []toolguard.Option{
		toolguard.Dialect(dialect), toolguard.Request(), toolguard.Send(), toolguard.Allow(toolguard.Additive),
		toolguard.Strategy("orphan-tool-result", "text"), toolguard.AllowFor("orphan-tool-result"),
	}
}

// plenty returns a share of a budget that is enough.
func plenty() *Share { return NewBudget(1<<40, func(int64) {}).Share() }

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body          string
		length, limit int64
		want          string
		err           error
	}{
		{"abc", 3, 10, "abc", nil},
		{"abc", -1, 3, "abc", nil},
		{"abcd", -1, 3, "abcd", ErrLarge},
		{"abcdef", 6, 3, "abcd", ErrLarge},
		{"abcdef", 2, 10, "abcdef", nil},
		{"", 0, 3, "", nil},
		{"", -1, 0, "", nil},
		{"a", -1, 0, "a", ErrLarge},
		{"abc", 1 << 60, 10, "abc", nil},
		{strings.Repeat("x", 100_000), -1, 1 << 20, strings.Repeat("x", 100_000), nil},
		{strings.Repeat("x", 100_000), 100_000, 100_000, strings.Repeat("x", 100_000), nil},
		{strings.Repeat("x", 100_000), 7, 99_999, strings.Repeat("x", 100_000), ErrLarge},
	} {
		share := plenty()
		got, err := Read(iotest.OneByteReader(strings.NewReader(tt.body)), tt.length, tt.limit, share)
		if string(got) != tt.want || !errors.Is(err, tt.err) || share.Held() != int64(cap(got)) {
			t.Errorf("%+v: %q, %v, a share of %d for %d", tt, got, err, share.Held(), cap(got))
		}
	}
	if got, err := Read(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc"))), 3, 10, plenty()); string(got) != "a" || !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestGrowth: whatever size is announced, a body has at most twice the memory that it fills.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{-1, 0, 1, 1 << 20, 64 << 20, 1 << 60} {
		for _, arrived := range []int{0, 1, 300, 4096, 100_000, 1 << 20} {
			var most int64
			share := NewBudget(1<<40, func(delta int64) { most = max(most, delta) }).Share()
			got, err := Read(strings.NewReader(strings.Repeat("x", arrived)), length, 64<<20, share)
			limit := max(4096, 2*arrived)
			if length == int64(arrived) {
				limit = arrived + 1
			}
			if err != nil || len(got) != arrived || cap(got) > limit || most > int64(limit) {
				t.Errorf("%d of %d bytes: %d bytes of memory, taken at most %d at once, want %d, %v", arrived, length, cap(got), most, limit, err)
			}
		}
	}
}

// TestBudget: bodies together take no more than there is, and what one gives back another can take.
func TestBudget(t *testing.T) {
	t.Parallel()
	var used int64
	budget := NewBudget(15_000, func(delta int64) { used += delta })
	first, second := budget.Share(), budget.Share()
	if got, err := Read(strings.NewReader(strings.Repeat("x", 3000)), -1, 1<<20, first); len(got) != 3000 || err != nil || used != 4096 {
		t.Errorf("the first: %d, %v, %d used", len(got), err, used)
	}
	text := strings.Repeat("y", 5000)
	rest := strings.NewReader(text)
	got, err := Read(rest, -1, 1<<20, second)
	if !errors.Is(err, ErrMemory) || string(got) != text[:4096] || rest.Len() != 904 || used != 8192 {
		t.Errorf("the second: %d, %v, %d left, %d used", len(got), err, rest.Len(), used)
	}
	second.Release()
	first.Release()
	first.Release()
	if used != 0 || first.Held() != 0 {
		t.Errorf("%d used at the end", used)
	}
	if got, err := Read(strings.NewReader(text), 5000, 1<<20, second); string(got) != text || err != nil || used != 5001 {
		t.Errorf("the second again: %d, %v, %d used", len(got), err, used)
	}
	second.Release()
	if first.Take(15_000) != nil || !errors.Is(second.Take(1), ErrMemory) || !errors.Is(second.Take(15_001), ErrHeavy) {
		t.Error("the budget is not its limit")
	}
}

// TestMemory: a body that cannot be checked within the budget goes out as it came, and what is left is the
// memory of the body that goes out.
func TestMemory(t *testing.T) {
	t.Parallel()
	text := []byte(seeds["anthropic"][0])
	size := int64(len(text))
	need := size + checkWork*size + checkBase
	for _, tt := range []struct {
		limit int64
		want  Reason
	}{{need, ""}, {need - 1, Heavy}} {
		var used, most int64
		share := NewBudget(tt.limit, func(delta int64) { used += delta; most = max(most, used) }).Share()
		if share.Take(size) != nil {
			t.Fatal("no memory for the body")
		}
		r := New(1<<20, time.Minute).Check(t.Context(), text, "", share, options("anthropic")...)
		left := int64(cap(r.Body))
		if tt.want == Heavy {
			left = size
		}
		if r.Reason != tt.want || used != left || most > tt.limit {
			t.Errorf("%d: outcome %d, %q, %d used, want %d, at most %d", tt.limit, r.Outcome, r.Reason, used, left, most)
		}
	}
}

// TestHeap: a check ends if the program holds far more than the budget, and not before.
func TestHeap(t *testing.T) {
	t.Parallel()
	// Each element is a finding.
	text := []byte(`{"messages":[` + strings.Repeat("{},", 300_000) + `{}]}`)
	const limit = 10 << 20
	for heap, want := range map[uint64]Reason{2*limit + besides: Late, 2*limit + besides + 1: Memory} {
		budget := NewBudget(limit, func(int64) {})
		var asked atomic.Int32
		budget.heap = func() uint64 { asked.Add(1); return heap }
		share := budget.Share()
		r := New(1<<20, 100*time.Millisecond).Check(t.Context(), text, "", share, options("anthropic")...)
		if r.Outcome != Unreadable || r.Reason != want || &r.Body[0] != &text[0] || asked.Load() == 0 || share.Held() != 0 {
			t.Errorf("%d: outcome %d, %q, asked %d times, %d held", heap, r.Outcome, r.Reason, asked.Load(), share.Held())
		}
	}
	if got := heapBytes(); got < uint64(len(text)) {
		t.Errorf("the heap has %d bytes", got)
	}
}

// gz and zs pack a text.
func gz(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

func zs(t *testing.T, text []byte, window int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(window))
	if err != nil {
		t.Fatal(err)
	}
	// The size of a text that comes in parts is not announced, but its window is.
	for part := range slices.Chunk(text, max(1, len(text)/2)) {
		_, _ = z.Write(part)
		_ = z.Flush()
	}
	_ = z.Close()
	return b.Bytes()
}

// TestUnpack: unpacking ends at the ratio, at the limit and at the end of the memory, and windows count as
// memory before they are there.
func TestUnpack(t *testing.T) {
	t.Parallel()
	random := make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // never fails
	zeros := make([]byte, 4<<20)
	skip := append([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0}, "abc"...)
	for _, tt := range []struct {
		name          string
		packed        []byte
		encoding      string
		limit, memory int64
		text          int
		err           error
	}{
		{"gzip", gz(random), "gzip", 1 << 20, 1 << 30, len(random), nil},
		{"zstd", zs(t, random, 1<<20), "zstd", 1 << 20, 1 << 30, len(random), nil},
		{"a window larger than the limit", zs(t, random[:1000], 8<<20), "zstd", 1 << 20, 1 << 30, 1000, nil},
		{"zstd behind frames to skip", append(slices.Concat(skip, skip), zs(t, random, 1<<20)...), "zstd", 1 << 20, 1 << 30, len(random), nil},
		{"two frames", slices.Concat(zs(t, random, 1<<20), zs(t, random, 1<<20)), "zstd", 1 << 20, 1 << 30, 2 * len(random), nil},
		{"a second frame with more", slices.Concat(zs(t, random, 1<<20), zs(t, random, 8<<20)), "zstd", 1 << 20, 1 << 30, 0, ErrLarge},
		{"a window beyond all", zs(t, random[:1000], 16<<20), "zstd", 64 << 20, 1 << 30, 0, ErrLarge},
		{"no memory for the window", zs(t, random[:1000], 8<<20), "zstd", 1 << 20, 8 << 20, 0, ErrHeavy},
		{"no memory for the text", gz(random), "gzip", 1 << 20, 500_000, 0, ErrHeavy},
		{"gzip, a bomb", gz(zeros), "gzip", 64 << 20, 1 << 30, 0, errRatio},
		{"zstd, a bomb", zs(t, zeros, 1<<20), "zstd", 64 << 20, 1 << 30, 0, errRatio},
		{"a bomb below 1 MiB", gz(zeros[:1<<20]), "gzip", 64 << 20, 1 << 30, 1 << 20, nil},
		{"a bomb over the limit", gz(zeros), "gzip", 1 << 20, 1 << 30, 0, ErrLarge},
		{"another encoding", gz(zeros), "br", 1 << 20, 1 << 30, 0, errEncoding},
		{"only frames to skip", skip, "zstd", 1 << 20, 1 << 30, 0, nil},
	} {
		var used, most int64
		share := NewBudget(tt.memory, func(delta int64) { used += delta; most = max(most, used) }).Share()
		got, err := unpack(tt.packed, tt.encoding, tt.limit, share)
		if !errors.Is(err, tt.err) || len(got) != tt.text || most > tt.memory {
			t.Errorf("%s: %d bytes, %v, %d used", tt.name, len(got), err, most)
		}
		if err == nil && used != int64(cap(got)) {
			t.Errorf("%s: a share of %d for %d", tt.name, used, cap(got))
		}
	}
}

// TestTurns: only a few bodies are checked at once, and the others wait.
func TestTurns(t *testing.T) {
	t.Parallel()
	c := New(1<<20, time.Minute)
	for range cap(c.turns) {
		c.turns <- struct{}{}
	}
	var done atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		r := c.Check(t.Context(), []byte(`{"messages":[]}`), "", plenty(), options("anthropic")...)
		if done.Store(true); r.Outcome != Whole {
			t.Errorf("%+v", r)
		}
	})
	time.Sleep(20 * time.Millisecond)
	if done.Load() {
		t.Error("a body was checked although it was not its turn")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := c.Check(ctx, []byte(`{}`), "", plenty(), options("anthropic")...); r.Outcome != Unreadable || r.Reason != Late || string(r.Body) != "{}" {
		t.Errorf("%+v", r)
	}
	<-c.turns
	all.Wait()
}

// TestFault: a bug in a check makes the body unreadable, and nothing else.
func TestFault(t *testing.T) {
	t.Parallel()
	c := New(1<<20, time.Minute)
	b := []byte(`{"messages":[]}`)
	for range 2 * cap(c.turns) {
		if r := c.Check(t.Context(), b, "", plenty(), toolguard.Dialect("nonsense")); r.Outcome != Unreadable || r.Reason != Fault || &r.Body[0] != &b[0] {
			t.Errorf("%+v", r)
		}
	}
}

// seeds are requests of each dialect with each common fault.
var seeds = map[string][]string{
	"anthropic": {
		`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"ls","input":{"a":[1,"b",null]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"words"},{"type":"text","text":"on"}]}]}`,
		`{"system":"s","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"}]}]},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}]}`,
	},
	"openai-chat": {
		`{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{"}}]},{"role":"user","content":"?"},{"role":"tool","tool_call_id":"c1","content":"late"},{"role":"tool","tool_call_id":"c9","content":"words"}]}`,
	},
	"openai-responses": {
		`{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c2","output":"words"}]}`,
	},
	"gemini": {
		`{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}},{"functionCall":{"name":"g","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"g","response":{"output":"x"}}}]}]}`,
	},
	"bedrock": {
		`{"messages":[{"role":"user","content":[{"text":"q"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"ls","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t2","content":[{"text":"words"}]}}]}]}`,
	},
}

// leaves returns the texts and numbers of a JSON value, as encoding/json reads it, with how often
// each occurs.
func leaves(t *testing.T, text []byte) map[string]int {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	d.UseNumber()
	found, last := map[string]int{}, ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		switch v := token.(type) {
		case string:
			// Ids can be renamed together.
			if !slices.Contains([]string{"type", "role", "id", "tool_use_id", "tool_call_id", "call_id", "toolUseId"}, last) {
				found[v]++
			}
			last = v
		case json.Number:
			found[string(v)]++
		case nil:
			found[last]-- // a field that is null is no field
		}
	}
}

// structure has the texts that say what a value is: a result that becomes text, or joins another
// message, has others.
var structure = map[string]bool{
	"role": true, "user": true, "assistant": true, "tool": true, "tool_calls": true, "refusal": true, "annotations": true, "function": true, "model": true, "content": true, "type": true, "text": true, "parts": true,
	"tool_result": true, "tool_use_id": true, "tool_call_id": true, "function_call_output": true, "call_id": true,
	"output": true, "functionResponse": true, "response": true, "toolResult": true, "toolUseId": true,
	"json": true, "id": true, "name": true, "result": true,
}

// TestWords: a result that becomes text loses nothing.
func TestWords(t *testing.T) {
	t.Parallel()
	const head, rest = `{"messages":[{"role":"user","content":[`, `{"type":"text","text":"on"}]}]}`
	for _, tt := range []struct{ result, text string }{
		{`"content":"words"`, `"text":"LABEL\nwords"`},
		{`"content":"a\n\"b\" \u00e9","is_error":true`, `"text":"LABEL\na\n\"b\" \u00e9\n{\"is_error\":true}"`},
		{`"content":"a","cache_control":{"type":"ephemeral","ttl":"1h"}`, `"text":"LABEL\na","cache_control":{"type":"ephemeral","ttl":"1h"}`},
		{
			`"content":[{"type":"image","source":{"type":"base64","data":"AA"}}],"took":12,"cache_control":{"type":"ephemeral"}`,
			`"text":"LABEL"},{"type":"image","source":{"type":"base64","data":"AA"}},{"type":"text","text":"{\"took\":12}","cache_control":{"type":"ephemeral"}`,
		},
		{`"content":"a","note":"unknown words"`, `"text":"LABEL\na\n{\"note\":\"unknown words\"}"`},
		{`"content":"a","":"01","none":null,"no":false`, `"text":"LABEL\na\n{\"\":\"01\",\"no\":false}"`},
		{`"x":{"type":"y"}`, `"text":"LABEL\n{\"x\":{\"type\":\"y\"}}"`},
	} {
		text := head + `{"type":"tool_result","tool_use_id":"t9",` + tt.result + `},` + rest
		want := head + `{"type":"text",` + strings.Replace(tt.text, "LABEL", "[toolguard] Result of an unknown tool (id t9), kept as text:", 1) + `},` + rest
		r := New(1<<20, time.Minute).Check(t.Context(), []byte(text), "", plenty(), options("anthropic")...)
		if diff := cmp.Diff(want, string(r.Body)); r.Outcome != Repaired || len(r.Left()) > 0 || diff != "" {
			t.Errorf("%s: %d (-want +got):\n%s", tt.result, r.Outcome, diff)
		}
	}
	// A late response is not moved if what is beside it would go.
	late := `{"contents":[{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"f","args":{}}},{"functionCall":{"id":"c","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"x","name":"f","response":{"output":"x"}}},{"functionResponse":{"id":"y","name":"f","response":{"output":"y"}}},{"functionResponse":{"id":"z","name":"f","response":{"output":"z"}}}]},{"role":"model","parts":[{"functionCall":{"id":"x","name":"f","args":{}}},{"functionCall":{"id":"y","name":"f","args":{}}},{"functionCall":{"id":"z","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"b","name":"f","response":{"output":"b"}}},{"functionResponse":{"id":"c","name":"f","response":{"output":"c"}}}],"note":"words"}]}`
	r := New(1<<20, time.Minute).Check(t.Context(), []byte(late), "", plenty(), append(options("gemini"), toolguard.AllowFor("misplaced-tool-result"))...)
	if !bytes.Contains(r.Body, []byte(`"note":"words"`)) {
		t.Errorf("a late response: %d %s", r.Outcome, r.Body)
	}
	object := `{"contents":[{"role":"user","parts":[{"text":"q"},{"functionResponse":{"name":"f","response":{"a \"key\"":["b\n",{"c":1.5}]}}}]}]}`
	if r := New(1<<20, time.Minute).Check(t.Context(), []byte(object), "", plenty(), options("gemini")...); r.Outcome != Repaired || len(r.Left()) > 0 {
		t.Errorf("an object: %d %s", r.Outcome, r.Body)
	}
}

// FuzzBody: whatever a body is, it goes out as it came or as a valid repair, in which no word is
// lost.
func FuzzBody(f *testing.F) {
	names := slices.Sorted(maps.Keys(seeds))
	for i, name := range names {
		for _, text := range seeds[name] {
			f.Add(byte(i), byte(0), []byte(text))
			f.Add(byte(i), byte(1), []byte(text))
			f.Add(byte(i), byte(0), []byte(text[:len(text)-3]))
			f.Add(byte(i+1), byte(0), []byte(text))
		}
	}
	c := New(1<<20, time.Minute)
	f.Fuzz(func(t *testing.T, dialect, encoding byte, text []byte) {
		name := names[int(dialect)%len(names)]
		body, header := text, ""
		if encoding%2 == 1 {
			body, header = gz(text), "gzip"
		}
		came := sha256.Sum256(body)
		r := c.Check(t.Context(), body, header, plenty(), options(name)...)
		if sha256.Sum256(body) != came {
			t.Fatal("the body was changed in place")
		}
		if r.Reason == Fault {
			t.Fatalf("a bug: %q", text)
		}
		if r.Outcome != Repaired {
			if len(body) > 0 && (len(r.Body) != len(body) || &r.Body[0] != &body[0]) {
				t.Fatalf("outcome %d, but the body is another one", r.Outcome)
			}
			return
		}
		if !json.Valid(bytes.TrimPrefix(r.Body, []byte("\ufeff"))) {
			t.Fatalf("not JSON: %q became %q", text, r.Body)
		}
		after, err := toolguard.CheckBytes(t.Context(), r.Body, options(name)...)
		if err != nil {
			t.Fatalf("%v: %q became %q", err, text, r.Body)
		}
		if was, is := len(errorsOf(r.Fixed.Before)), len(errorsOf(after)); is > was {
			t.Fatalf("%d errors became %d: %q became %q", was, is, text, r.Body)
		}
		out := leaves(t, r.Body)
		joined := strings.Join(slices.Collect(maps.Keys(out)), "\n")
		for leaf, n := range leaves(t, text) {
			if out[leaf] < n && !structure[leaf] && !strings.Contains(joined, strings.TrimSpace(leaf)) && !strings.Contains(joined, strings.Trim(strconv.Quote(leaf), `"`)) {
				t.Fatalf("%q is lost: %q became %q", leaf, text, r.Body)
			}
		}
	})
}
