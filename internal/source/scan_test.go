package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/sample"
)

func TestScan(t *testing.T) {
	type want struct {
		start, end int
		kind       FaultKind
		at         int
		want       string
		inString   bool
	}
	whole := func(start, end int) want { return want{start: start, end: end} }
	wrong := func(start, at int, text string) want {
		return want{start, at, FaultInvalidJSON, at, text, false}
	}
	cut := func(start, at int, text string) want {
		return want{start, at, FaultTruncated, at, text, false}
	}
	cutString := func(start, at int) want {
		return want{start, at, FaultTruncated, at, wantQuote, true}
	}
	tests := []struct {
		in   string
		mode ScanMode
		want want
	}{
		{in: `{}`, want: whole(0, 2)},
		{in: ` [] `, want: whole(1, 3)},
		{in: "\t\r\n{ } x", want: whole(3, 6)},
		{in: `{"a":[1,2,{"b":null}],"c":true} {`, want: whole(0, 31)},
		{in: `"x"`, want: whole(0, 3)},
		{in: `-0`, want: whole(0, 2)},
		{in: `1e999`, want: whole(0, 5)},
		{in: `-12.5E+03,`, want: whole(0, 9)},
		{in: `01`, want: whole(0, 1)},
		{in: `1.5.6`, want: whole(0, 3)},
		{in: `falsey`, want: whole(0, 5)},
		{in: `"a\u0001b"`, want: whole(0, 10)},
		{in: "\"\x7f\"", want: whole(0, 3)},

		{in: ``, want: cut(0, 0, "a value")},
		{in: `  `, want: cut(2, 2, "a value")},
		{in: `{`, want: cut(0, 1, `a key in double quotes or '}'`)},
		{in: `{"a":1, `, want: cut(0, 8, `a key in double quotes`)},
		{in: `{"a"`, want: cut(0, 4, `':' after a key`)},
		{in: `{"a":`, want: cut(0, 5, `a value`)},
		{in: `{"a":1`, want: cut(0, 6, `',' or '}' after a field`)},
		{in: `{"a":"b"`, want: cut(0, 8, `',' or '}' after a field`)},
		{in: `[`, want: cut(0, 1, `a value or ']'`)},
		{in: `[1`, want: cut(0, 2, `',' or ']' after an element`)},
		{in: `[1,`, want: cut(0, 3, `a value`)},
		{in: `[[`, want: cut(0, 2, `a value or ']'`)},
		{in: `tru`, want: cut(0, 3, `the literal true`)},
		{in: `[nul`, want: cut(0, 4, `the literal null`)},
		{in: `-`, want: cut(0, 1, `a digit`)},
		{in: `1.`, want: cut(0, 2, `a digit`)},
		{in: `1e+`, want: cut(0, 3, `a digit`)},
		{in: `"`, want: cutString(0, 1)},
		{in: `{"a`, want: cutString(0, 3)},
		{in: `"0123456789`, want: cutString(0, 11)},
		{in: `"a\`, want: cutString(0, 3)},
		{in: `"\u12`, want: want{0, 5, FaultTruncated, 5, `four hexadecimal digits after \u`, true}},
		{in: `"\ud83d\`, want: cutString(0, 8)},
		{in: `"\ud83d\ude`, want: want{0, 11, FaultTruncated, 11, `four hexadecimal digits after \u`, true}},

		{in: `]`, want: wrong(0, 0, "a value")},
		{in: "\xff", want: wrong(0, 0, "a value")},
		{in: "[\xc3\xa4]", want: wrong(0, 1, "a value or ']'")},
		{in: "\v1", want: wrong(0, 0, "a value")},
		{in: `[1,]`, want: wrong(0, 3, "a value")},
		{in: `[,`, want: wrong(0, 1, "a value or ']'")},
		{in: `[ ,`, want: wrong(0, 2, "a value or ']'")},
		{in: `[1 2]`, want: wrong(0, 3, "',' or ']' after an element")},
		{in: `[01]`, want: wrong(0, 2, "',' or ']' after an element")},
		{in: `["a" "b"]`, want: wrong(0, 5, "',' or ']' after an element")},
		{in: `{"a" 1}`, want: wrong(0, 5, "':' after a key")},
		{in: `{"a":}`, want: wrong(0, 5, "a value")},
		{in: `{"a":1,}`, want: wrong(0, 7, "a key in double quotes")},
		{in: `{'a':1}`, want: wrong(0, 1, "a key in double quotes or '}'")},
		{in: `{1:1}`, want: wrong(0, 1, "a key in double quotes or '}'")},
		{in: `{"a":1]`, want: wrong(0, 6, "',' or '}' after a field")},
		{in: `[1}`, want: wrong(0, 2, "',' or ']' after an element")},
		{in: `nulx`, want: wrong(0, 3, "the literal null")},
		{in: `NaN`, want: wrong(0, 0, "a value")},
		{in: `-x`, want: wrong(0, 1, "a digit")},
		{in: `+1`, want: wrong(0, 0, "a value")},
		{in: `[1.]`, want: wrong(0, 3, "a digit")},
		{in: `[1e]`, want: wrong(0, 3, "a digit")},
		{in: `"\x41"`, want: wrong(0, 2, `one of "\/bfnrtu after a backslash`)},
		{in: `"abc\n\tdef\'"`, want: wrong(0, 12, `one of "\/bfnrtu after a backslash`)},
		{in: `"\u12g4"`, want: wrong(0, 5, `four hexadecimal digits after \u`)},
		{in: `"\ud83d\u00"`, want: wrong(0, 11, `four hexadecimal digits after \u`)},
		{in: "\"a\nb\"", want: wrong(0, 2, "an escaped control character")},
		{in: "\"0123456789\x00b\"", want: wrong(0, 11, "an escaped control character")},
		{in: "\"a\tb\"", mode: AllowNewlines, want: wrong(0, 2, "an escaped control character")},
		{in: "\"a\rb\"", mode: AllowNewlines, want: wrong(0, 2, "an escaped control character")},
		{in: "\"a\r\nb\"", mode: AllowNewlines, want: whole(0, 6)},
		{in: "\"a\r", mode: AllowNewlines, want: cutString(0, 3)},
	}
	sc := NewScanner()
	for _, tt := range tests {
		s := sc.Scan([]byte(tt.in), 0, tt.mode)
		if got := (want{s.Start, s.End, s.Kind, s.At, s.Want, s.InString}); got != tt.want {
			t.Errorf("%q:\n got %+v\nwant %+v", tt.in, got, tt.want)
		}
		// Scan the same after other text. Offsets count from the start of the text.
		s = sc.Scan([]byte("xyz"+tt.in), 3, tt.mode)
		if s.Start -= 3; s.Kind != FaultNone {
			s.At -= 3
		}
		if got := (want{s.Start, s.End - 3, s.Kind, s.At, s.Want, s.InString}); got != tt.want {
			t.Errorf("%q from 3 on:\n got %+v\nwant %+v", tt.in, got, tt.want)
		}
	}
}

func TestScanFlaws(t *testing.T) {
	tests := []struct {
		in                     string
		utf8, surrogate, lines Flaw
	}{
		{in: `"\ud83d\ude00 é"`},
		{in: `"\ud800"`, surrogate: Flaw{1, 7, 1, 0}},
		{in: `"\udc00\ud800"`, surrogate: Flaw{1, 7, 2, 0}},
		{in: `"\ud800\ud83d\ude00"`, surrogate: Flaw{1, 7, 1, 0}},
		{in: `"\ud83d\\ude00"`, surrogate: Flaw{1, 7, 1, 0}},
		{in: `"\ud83dx"`, surrogate: Flaw{1, 7, 1, 0}},
		{in: `{"\uDBFF":["\uD83D\n"]}`, surrogate: Flaw{2, 8, 2, 0}},
		{in: "\"\xff\"", utf8: Flaw{1, 2, 1, 0}},
		{in: "\"ab\xff\xfec\xc3\"", utf8: Flaw{3, 5, 2, 0}},
		{in: "\"\xed\xa0\x80\"", utf8: Flaw{1, 4, 1, 0}},
		{in: "\"\xc0\xaf\"", utf8: Flaw{1, 3, 1, 0}},
		{in: "\"\xf4\x90\x80\x80\"", utf8: Flaw{1, 5, 1, 0}},
		{in: "\"\xe6\x97\\n\"", utf8: Flaw{1, 3, 1, 0}},
		{in: "{\"\xff\":\"é\xff\"}", utf8: Flaw{2, 3, 2, 0}},
		{in: "\"\ufffd\""},
		{in: "\"a\nb\r\nc\n\"", lines: Flaw{2, 3, 3, 0}},
		{in: "{\n\"a\":\n\"b\r\n\"}", lines: Flaw{9, 11, 1, 0}},
	}
	for _, tt := range tests {
		s := NewScanner().Scan([]byte(tt.in), 0, AllowNewlines)
		if s.Kind != FaultNone || s.End != len(tt.in) {
			t.Errorf("%q: %+v", tt.in, s)
		}
		s.InvalidUTF8.seen, s.LoneSurrogate.seen, s.RawNewline.seen = 0, 0, 0
		if s.InvalidUTF8 != tt.utf8 || s.LoneSurrogate != tt.surrogate || s.RawNewline != tt.lines {
			t.Errorf("%q:\n got %v %v %v\nwant %v %v %v", tt.in,
				s.InvalidUTF8, s.LoneSurrogate, s.RawNewline, tt.utf8, tt.surrogate, tt.lines)
		}
	}
}

func TestScanDepth(t *testing.T) {
	for _, open := range []string{"[", `{"a":`, ` [ `} {
		end := "]"
		if open[0] == '{' {
			end = "}"
		}
		in := strings.Repeat(open, MaxDepth) + "1" + strings.Repeat(end, MaxDepth)
		if s := NewScanner().Scan([]byte(in), 0, Strict); s.Kind != FaultNone || s.End != len(in) {
			t.Errorf("%d levels of %q: %+v", MaxDepth, open, s)
		}
		in = strings.Repeat(open, MaxDepth+1)
		at := MaxDepth*len(open) + strings.IndexAny(open, "[{")
		if s := NewScanner().Scan([]byte(in), 0, Strict); s.Kind != FaultTooDeep || s.At != at {
			t.Errorf("%d levels of %q: %+v, want a fault at %d", MaxDepth+1, open, s, at)
		}
	}
	in := bytes.Repeat([]byte("["), 20<<20)
	if s := NewScanner().Scan(in, 0, Strict); s.Kind != FaultTooDeep || s.At != MaxDepth || s.End > MaxDepth+1 {
		t.Errorf("20 MiB of brackets: %+v", s)
	}
}

// seeds are texts with traps in them.
var seeds = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `01`, `-01`, `1e999`, `1E+2`, `1.e1`, `.5`, `1.5e-7`, `""`,
	`"a\u0001b"`, `"\ud800"`, `"\ud83d\ude00"`, `"\ud83d\ud83d\ude00"`, `"\udc00"`, "\"\xff\"", "\"a\xc3\"", `"\x41"`, `"\u12"`, `"\"`, `"\\"`, `"\\\"`,
	`[1,]`, `[,1]`, `["a" "b"]`, `{"a" 1}`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a":{"b":[1,{"c":null}]},"d":[true,false]}`,
	`{'a':1}`, `{a:1}`, `NaN`, `[NaN]`, `nul`, `truefalse`, `"a""b"`, `{"a":1}{"b":2}`, `{"a":1} {"b":2}`,
	"{\"a\":\"x\ny\"}", "{\"a\":\"x\r\ny\"}", "{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}\n", "\xef\xbb\xbf{}", "{\"a\":\"x\x00y\"}", "{\"a\":1}\x00\x00\x00",
	"{\"u\":\"\u2028\u2029\u00e9日本\U0001f600\"}", `{"type":"a","x":"tru{"type":"b","y":1}`, "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
	`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\u00e9\\n\"}"}}]}`,
	`{"text":"0123456\n89 \"abc\" \\ \/ \b\f\r\t äöü 日本語 \u65e5\u672c","n":[0,-1,2.5,1e3,1E-3]}`,
}

// checkScan compares a scan with the standard library.
func checkScan(t *testing.T, in []byte) {
	t.Helper()
	s := NewScanner().Scan(in, 0, Strict)
	if s.Start < 0 || s.End < s.Start || s.End > len(in) {
		t.Fatalf("%q: %+v is outside", in, s)
	}
	rest := SkipBlank(in, s.End)
	valid := s.Kind == FaultNone && rest == len(in)
	if s.Kind == FaultTooDeep {
		return
	}
	if valid != json.Valid(in) {
		t.Fatalf("%q: %+v, json.Valid says %t", in, s, !valid)
	}
	if valid {
		if (s.InvalidUTF8.Count == 0) != utf8.Valid(in) {
			t.Fatalf("%q: %+v, utf8.Valid says %t", in, s, utf8.Valid(in))
		}
		return
	}
	if s.Want == "" && s.Kind != FaultNone {
		t.Fatalf("%q: %+v has no Want", in, s)
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(in, new(any)); !errors.As(err, &syntax) {
		t.Fatalf("%q: %v", in, err)
	}
	at := s.At
	switch s.Kind {
	case FaultNone:
		at = rest
	case FaultTruncated:
		at = len(in) - 1 // json reports the last byte at the end of the input
	}
	if int(syntax.Offset)-1 != at && len(in) > 0 {
		t.Fatalf("%q: %+v, json says %v at %d", in, s, syntax, syntax.Offset-1)
	}
}

func TestScanAgreesWithStandardLibrary(t *testing.T) {
	mutants := []byte("\"\\{}[],:0-.eEu tn\n\r\x00\x1f\x7f\xff\xc3x")
	for _, seed := range seeds {
		for shift := 0; shift < 9; shift += sample.Size(1, 4, 4) {
			in := []byte(strings.Repeat(" ", shift) + seed)
			checkScan(t, in)
			for i := range in {
				checkScan(t, in[:i])
				old := in[i]
				for _, c := range mutants {
					in[i] = c
					checkScan(t, in)
				}
				in[i] = old
			}
		}
	}
}

func checkResume(t *testing.T, in []byte, mode ScanMode, step int) {
	t.Helper()
	sc := NewScanner()
	want := sc.Scan(in, 0, mode)
	n := min(step, len(in))
	got := sc.Scan(in[:n], 0, mode)
	for n < len(in) && (got.Kind == FaultTruncated || got.Kind == FaultNone && got.End == n && isWord(in[n-1])) {
		n = min(n+step, len(in))
		if got.Kind == FaultTruncated {
			got = sc.Resume(in[:n], got)
		} else {
			got = sc.Scan(in[:n], 0, mode)
		}
	}
	if same(got) != same(want) {
		t.Fatalf("%q, %d bytes at a time:\n got %+v\nwant %+v", in, step, got, want)
	}
}

func TestResume(t *testing.T) {
	for _, seed := range seeds {
		for step := 1; step < 12; step++ {
			checkResume(t, []byte(seed), Strict, step)
			checkResume(t, []byte(" "+seed), AllowNewlines, step)
		}
	}
}

// checkRun reads a text in runs of step bytes, which must find the same as a single run.
func checkRun(t *testing.T, in []byte, mode ScanMode, step int) {
	t.Helper()
	want := new(portable).Scan(in, 0, mode)
	var p portable
	got := p.begin(in, 0, mode)
	for !p.run(in, &got, got.next+step) {
	}
	if same(got) != same(want) {
		t.Fatalf("%q, %d bytes at a time:\n got %+v\nwant %+v", in, step, got, want)
	}
}

// same returns the part of a Scan in which two scans of the same text must agree.
func same(s Scan) Scan {
	s.next, s.depth, s.after, s.ends, s.turn = 0, 0, false, nil, 0
	return s
}

func TestRun(t *testing.T) {
	for _, seed := range seeds {
		for step := 1; step < 12; step++ {
			checkRun(t, []byte(seed), Strict, step)
			checkRun(t, []byte(" "+seed), AllowNewlines, step)
		}
	}
}

// corpus returns about n bytes of lines like those in the log of a coding agent: long
// strings with an escape about every 20 bytes, and short fields.
func corpus(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"func", "return", "err", "nil", "if", "for", "range", "config", "value", "result", "the", "of", "transcript"}
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"parentUuid":"%016x","uuid":"%016x","sessionId":"s","type":"assistant","timestamp":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"ls","timeout":%d}},{"type":"text","text":"`, rng.Uint64(), rng.Uint64(), i, rng.IntN(100000))
		for range 20 + rng.IntN(1200) {
			switch rng.IntN(12) {
			case 0:
				b.WriteString(`\n\t`)
			case 1:
				b.WriteString(`\"` + words[rng.IntN(3)] + `\"`)
			case 2:
				if rng.IntN(6) == 0 {
					b.WriteString("größe 日本 ")
				}
			default:
				b.WriteString(words[rng.IntN(len(words))])
				b.WriteByte(' ')
			}
		}
		b.WriteString(`"}],"usage":{"input_tokens":123,"output_tokens":45,"cache":[1,2,3],"ok":true,"x":null}}}` + "\n")
	}
	return b.Bytes()
}

func eachLine(b []byte, f func([]byte)) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			i = len(b)
		}
		f(b[:i])
		b = b[min(i+1, len(b)):]
	}
}

func BenchmarkScan(b *testing.B) {
	repeat := func(before, s string, n int, after string) []byte {
		return []byte(before + strings.Repeat(s, n) + after)
	}
	for _, in := range []struct {
		name string
		text []byte
	}{
		{"agent", corpus(8 << 20)},
		{"plain", repeat(`{"text":"`, "The quick brown fox jumps over the lazy dog. ", 1<<17, `"}`)},
		{"tiny", repeat("", `{"type":"user","id":"0123456789","n":12345,"ok":true,"message":{"role":"user","content":"hello"}}`+"\n", 80000, "")},
		{"numbers", repeat("[1", ",1", 4<<20, "]")},
		{"newlines", repeat(`"`, `\n`, 4<<20, `"`)},
		{"quotes", repeat(`"`, `\"abc`, 1<<20, `"`)},
		{"escapes", repeat(`"`, `\u00e9`, 1<<20, `"`)},
		{"japanese", repeat(`"`, `日本語`, 1<<20, `"`)},
		{"arrays", repeat("[[]", ",[]", 2<<20, "]")},
		{"keys", repeat(`{"a":1`, `,"key1":1`, 1<<20, "}")},
		{"indented", repeat("[1", ",\r                    1", 1<<18, "]")},
	} {
		sc, slow := NewScanner(), new(portable)
		for _, m := range []struct {
			name string
			f    func(line []byte)
		}{
			{"scan", func(line []byte) {
				if s := sc.Scan(line, 0, Strict); s.Kind != FaultNone {
					b.Fatal(s)
				}
			}},
			{"portable", func(line []byte) {
				if s := slow.Scan(line, 0, Strict); s.Kind != FaultNone {
					b.Fatal(s)
				}
			}},
			{"gjson", func(line []byte) { gjson.ValidBytes(line) }},
			{"json", func(line []byte) { json.Valid(line) }},
		} {
			b.Run(in.name+"/"+m.name, func(b *testing.B) {
				b.SetBytes(int64(len(in.text)))
				b.ReportAllocs()
				for b.Loop() {
					eachLine(in.text, m.f)
				}
			})
		}
	}
}

func BenchmarkNext(b *testing.B) {
	text := corpus(32 << 20)
	for _, m := range []struct {
		name string
		f    func()
	}{
		{"next", func() {
			r := NewReader(FromBytes("s", text))
			for {
				_, err := r.Next()
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}},
		{"indexbyte", func() { eachLine(text, func([]byte) {}) }},
		{"gjson", func() { eachLine(text, func(line []byte) { gjson.ValidBytes(line) }) }},
		{"json", func() { eachLine(text, func(line []byte) { json.Valid(line) }) }},
	} {
		b.Run(m.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				m.f()
			}
		})
	}
}
