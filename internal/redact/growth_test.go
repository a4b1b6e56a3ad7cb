package redact

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
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
				got, err := redactHolding(t.Context(), source.NewSource("in", w, int64(len(text))), engine.Options{}, []byte("k"), 600)
				runtime.ReadMemStats(&after)
				if err != nil || got.Source == nil {
					t.Fatalf("%v", err)
				}
				_ = got.Source.Close()
				read[i], made[i], bytesOf[i] = w.n, after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
			}
			if read[1] > read[0]*5/2+200_000 || made[1] > made[0]*5/2+2000 || bytesOf[1] > bytesOf[0]*5/2+2<<20 {
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
		case "numbers", "short words of a large alphabet":
			most += 12 << 20 // see mostOthers
		}
		w := &watcher{ReaderAt: strings.NewReader(text), every: n / 2}
		src := source.NewSource("in", w, int64(len(text)))
		src.AsLines() // else the place of each record is noted
		r := &redactor{filler: newFiller([]byte("k"), newVocabulary(nil)), most: mostHeld}
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

// TestAllIdeographs: a string with the escapes of all ideographs is redacted.
func TestAllIdeographs(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"role":"user","content":"`)
	for i := range rune(0x5000) {
		fmt.Fprintf(&b, `\u%04x`, 0x4E00+i)
	}
	b.WriteString(`"},{"role":"assistant","content":"a"}]`)
	out, err := redacted(t, []byte(b.String()))
	if err != nil || len(out) != b.Len() {
		t.Fatalf("%d of %d bytes, %v", len(out), b.Len(), err)
	}
	for i := strings.Index(b.String(), `\u`); i < b.Len() && b.String()[i] == '\\'; i += 6 {
		if b.String()[i:i+6] == string(out[i:i+6]) {
			t.Errorf("%s stays", out[i:i+6])
		}
	}
}

// TestHolding: it does not change the redacted text how much of a string is in memory.
func TestHolding(t *testing.T) {
	texts := map[string]string{}
	for _, l := range loads {
		texts[l.name] = l.text(9_000)
	}
	for name, text := range files(t) {
		if len(text) > 4_000 {
			texts[name] = string(text)
		}
	}
	names := sample.Of(t, 3, slices.Sorted(maps.Keys(texts)), func(s string) string { return s }, func(string) []string { return nil })
	for _, name := range names {
		text := texts[name]
		for l := range levels {
			var out [2]bytes.Buffer
			for i, most := range []int{longestSearch + 1, 1 << 30} {
				src := source.FromBytes("in", []byte(text))
				r := &redactor{filler: newFiller([]byte("k"), newVocabulary(nil)), level: l, most: most}
				r.phrase = r.words.phrases
				if held, err := held(src, engine.Options{}); err == nil {
					r.spans = held.at(l)
				}
				got, err := r.copy(t.Context(), src)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(&out[i], got.Stream())
			}
			a, b := out[0].Bytes(), out[1].Bytes()
			if len(a) != len(text) || !bytes.Equal(a, b) {
				i := 0
				for i < min(len(a), len(b)) && a[i] == b[i] {
					i++
				}
				t.Fatalf("%s, level %d: %d of %d bytes, and byte %d differs: %.40q and %.40q for %.40q", name, l, len(a), len(text), i, a[i:], b[i:], text[i:])
			}
		}
	}
}

// TestPages: characters that end on the next page are read as one.
func TestPages(t *testing.T) {
	for _, c := range []string{"é", "中", "😀", "\xf0\x9f", "\xff"} {
		for shift := range 4 {
			text := strings.Repeat("x", 2*pageSize-shift) + c + "y"
			in := &input{pages: &pages{src: strings.NewReader(text)}, end: int64(len(text))}
			var b bytes.Buffer
			for r, more := in.peek(); more; r, more = in.peek() {
				if r < 0 {
					b.WriteByte(byte(notUTF8 - r))
				} else {
					b.WriteRune(r)
				}
				in.next()
			}
			if b.String() != text {
				t.Errorf("%q, %d bytes before the page ends: read %q", c, shift, b.Bytes()[2*pageSize-shift:])
			}
		}
	}
}

// TestIsValid: isValid and encoding/json agree, on JSON and on JSON with a mistake.
func TestIsValid(t *testing.T) {
	text := `{"a":[1,-0.5e+3,true,false,null,{},[],"x\n\u00e9\"\\"],"b":{"c":{"d":""}}, "e" : 0 }`
	check := func(s string) {
		if got, want := isValid(&input{text: []rune(s)}), json.Valid([]byte(s)); got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
	for i := range len(text) + 1 {
		check(text[:i])
		check(text[i:])
		for _, c := range `{}[],:"\0-1.eE+tn u` + "\x01" {
			check(text[:i] + string(c) + text[i:])
			if i < len(text) {
				check(text[:i] + string(c) + text[i+1:])
			}
		}
	}
}

// TestManyNumbers: beyond the number of texts that are remembered, equal ones stay equal.
func TestManyNumbers(t *testing.T) {
	f := newFiller([]byte("k"), newVocabulary(nil))
	f.mostOthers = 500
	var seen [2]map[string]string
	for round := range seen {
		seen[round] = map[string]string{}
		for i := range 1000 {
			in := strconv.Itoa(i)
			seen[round][in] = string(f.fill(shapeNumber, []rune(in)))
		}
	}
	for in, out := range seen[0] {
		if again := seen[1][in]; again != out || len(in) != len(out) {
			t.Errorf("%s became %s and %s", in, out, again)
		}
	}
	if len(f.owners) > 500 {
		t.Errorf("%d texts are remembered", len(f.owners))
	}
}
