package redact

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/engine"
	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// A load is a transcript of any size.
type load struct {
	name string
	text func(n int) string // of about n bytes
}

// answered returns a request with one call, its arguments and its result.
func answered(arguments, result string, more string) string {
	quote := func(s string) string {
		b, _ := json.Marshal(s) // a string never fails
		return string(b)
	}
	return `{"model":"gpt-4o","messages":[{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":` +
		quote(arguments) + `}}]},{"role":"tool","tool_call_id":"c1","content":` + quote(result) + `},{"role":"assistant","content":"a"}]` + more + "}\n"
}

// listed returns a list of about n bytes, in which %d is the number of the element.
func listed(n int, element string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, element, i)
	}
	return b.String()
}

// nested returns JSON of about n bytes in a string in a string, and so on.
func nested(n, depth int) string {
	text := "[" + listed(n, `{"id":%[1]d,"name":"user %[1]d","at":"2026-01-02T03:04:05Z","ok":true}`) + "]"
	for range depth - 1 {
		b, _ := json.Marshal(map[string]string{"a": text})
		text = string(b)
	}
	return text
}

// loads are the kinds of transcripts in which one part is large.
var loads = []load{
	{"a text", func(n int) string {
		return answered("{}", strings.Repeat("a line with \"quotes\", é 中\n", n/28), "")
	}},
	{"one word", func(n int) string { return answered("{}", strings.Repeat("x", n), "") }},
	{"white space", func(n int) string { return answered("{}", strings.Repeat(" ", n)+"x", "") }},
	{"what a user says", func(n int) string {
		return `[{"role":"user","content":"msg ` + strings.Repeat("word ", n/5) + `"},{"role":"assistant","content":"a"}]`
	}},
	{"JSON in a string", func(n int) string { return answered("{}", nested(n, 1), "") }},
	{"JSON in two strings", func(n int) string { return answered("{}", nested(n, 2), "") }},
	{"JSON in three strings", func(n int) string { return answered("{}", nested(n, 3), "") }},
	{"fields", func(n int) string { return answered("{}", "r", `,"acme":{`+listed(n, `"key%[1]d":"value %[1]d"`)+"}") }},
	{"messages", func(n int) string {
		return `[` + listed(n, `{"role":"user","content":"q %[1]d"},{"role":"assistant","content":"a"}`) + "]"
	}},
	{"arguments", func(n int) string { return answered(`{`+listed(n, `"k%[1]d":[%[1]d,"x"]`)+"}", "r", "") }},
	{"tags", func(n int) string {
		return `[{"role":"user","content":"` + strings.Repeat(`<tool_call>{\"a\":1}</tool_call> x `, n/36) + `"},{"role":"assistant","content":"a"}]`
	}},
	{"tags in JSON", func(n int) string {
		return `[{"role":"user","content":"` + strings.Repeat(`[\"<tool_call>\",`, n/16) + `"},{"role":"assistant","content":"a"}]`
	}},
	{"numbers", func(n int) string { return answered("{}", "r", `,"index":[`+listed(n, "%d")+"]") }},
	{"times", func(n int) string {
		return answered("{}", "r", `,"created":[`+listed(n, `"2026-01-02T03:04:05.%06dZ"`)+"]")
	}},
	{"escapes", func(n int) string {
		return answered(`{"a":"`+strings.Repeat(`\u4e2d\ud83d\ude00\n\`, n/22)+`"}`, "r", "")
	}},
	{"short words of a large alphabet", func(n int) string { return answered("{}", "["+listed(n, `"(%c)"`)+"]", "") }},
	{"one number", func(n int) string { return answered("{}", "r", `,"acme":`+strings.Repeat("7", n)) }},
	{"one key", func(n int) string { return answered("{}", "r", `,"`+strings.Repeat("k", n)+`":1`) }},
	{"torn records", func(n int) string {
		return "{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n{\"role\":" + strings.Repeat("zork!", n/5) + "\n"
	}},
	{"deep", func(n int) string {
		return "{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n{\"role\":" + strings.Repeat("[", n) + "\n"
	}},
	{"log", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","parentUuid":"u%d","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"message %d of many"}}`+"\n", i+1, i, i)
		}
		return b.String()
	}},
}

func nameOf(l load) string { return l.name }

func noKinds(load) []string { return nil }

// A watcher reads a text, and counts the bytes. From time to time, it looks how much memory is
// used while it reads or is written to.
type watcher struct {
	io.ReaderAt
	n, since int
	every    int // bytes; 0 for never
	most     uint64
}

func (w *watcher) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, off)
	w.n += n
	w.look(n)
	return n, err
}

// Write implements io.Writer. What is written is not kept.
func (w *watcher) Write(p []byte) (int, error) {
	w.look(len(p))
	return len(p), nil
}

func (w *watcher) look(n int) {
	if w.since += n; w.every > 0 && w.since >= w.every {
		w.since = 0
		w.most = max(w.most, live())
	}
}

// live returns how many bytes are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestGrowth: twice the input takes about twice the bytes read, the allocations and their bytes,
// whatever part of it is large.
func TestGrowth(t *testing.T) {
	for _, l := range loads {
		t.Run(l.name, func(t *testing.T) {
			n := sample.Size(400_000, 30_000, 30_000)
			var read [2]int
			var made, bytesOf [2]uint64
			for i := range read {
				text := l.text(n << i)
				w := &watcher{ReaderAt: strings.NewReader(text)}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, err := redact(t.Context(), source.NewSource("in", w, int64(len(text))), engine.Options{}, []byte("k"), func(s sum) sum { return s })
				runtime.ReadMemStats(&after)
				if err != nil || got.Source == nil {
					t.Fatalf("%v", err)
				}
				_ = got.Source.Close()
				read[i], made[i], bytesOf[i] = w.n, after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
			}
			// A check reads a larger document through a window, and some of it twice.
			if read[1] > read[0]*3+200_000 || made[1] > made[0]*5/2+2000 || bytesOf[1] > bytesOf[0]*5/2+2<<20 {
				t.Errorf("%d bytes are read, and %d bytes are allocated in %d pieces; of a text twice as large, %d, %d and %d", read[0], bytesOf[0], made[0], read[1], bytesOf[1], made[1])
			}
		})
	}
}

// TestMemory: redacting a large record takes no memory for it, whatever part of it is large.
func TestMemory(t *testing.T) {
	n := sample.Size(4<<20, 1<<19, 1<<19)
	for _, l := range sample.Of(t, 4, loads, nameOf, noKinds) {
		text := l.text(n)
		most := uint64(len(text))*3/2 + 1<<19
		switch l.name {
		case "fields", "arguments", "messages", "log":
			most += 4 * uint64(n) // different names
		case "numbers", "short words of a large alphabet", "JSON in two strings":
			most += 8 * uint64(n) // different numbers, while the list of them grows
		}
		w := &watcher{ReaderAt: strings.NewReader(text), every: n / 2}
		src := source.NewSource("in", w, int64(len(text)))
		src.AsLines() // else the place of each record is noted
		r := newRedactor(&survey{}, newVocabulary(nil), []byte("k"), func(s sum) sum { return s })
		start := live()
		if err := r.write(t.Context(), bufio.NewWriterSize(w, 64<<10), src); err != nil {
			t.Fatal(err)
		}
		used := w.most - min(start, w.most)
		t.Logf("%s: redacting %d bytes uses %d", l.name, len(text), used)
		if used > most {
			t.Errorf("%s: redacting %d bytes uses %d, more than %d", l.name, len(text), used, most)
		}
		runtime.KeepAlive(text)
	}
}

// TestPages: strings, escapes and numbers that end on the next page are read as a whole.
func TestPages(t *testing.T) {
	for _, token := range []string{`"call_1234"`, `"a\n\\\""`, `12345678`, `"\u00e9"`, `"😀"`} {
		var want string
		for shift := range 12 {
			head := `{"role":"user","content":"`
			pad := strings.Repeat("x", pageSize-len(head)-shift-len(`","acme":`))
			text := head + pad + `","acme":` + token + "}\n" + `{"role":"assistant","content":"a"}` + "\n"
			got, err := redact(t.Context(), source.NewSource("in", strings.NewReader(text), int64(len(text))), engine.Options{}, []byte("k"), func(s sum) sum { return s })
			if err != nil {
				t.Fatal(err)
			}
			out, err := io.ReadAll(got.Source.Stream())
			if err != nil || len(out) != len(text) {
				t.Fatalf("%d of %d bytes, %v", len(out), len(text), err)
			}
			_ = got.Source.Close()
			filler := string(out[len(head)+len(pad)+len(`","acme":`):][:len(token)])
			if want == "" {
				want = filler
			}
			if filler != want || filler == token {
				t.Errorf("%s at %d before the end of a page became %s instead of %s", token, shift, filler, want)
			}
		}
	}
}
