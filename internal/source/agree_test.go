package source

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

// checkAgree compares the scanner of this machine with the portable one, both for the
// whole text at once and for step bytes at a time.
func checkAgree(t *testing.T, in []byte, step int) {
	t.Helper()
	fast, slow := NewScanner(), Scanner(new(portable))
	for _, mode := range []ScanMode{Strict, AllowNewlines} {
		got, want := fast.Scan(in, 0, mode), slow.Scan(in, 0, mode)
		if same(got) != same(want) {
			t.Fatalf("%.2000q, mode %d:\n got %+v\nwant %+v", in, mode, got, want)
		}
		checkEnds(t, in, got)
		checkEnds(t, in, want)
		if want.Kind == FaultNone && !slices.Equal(got.ends.list, want.ends.list) {
			t.Fatalf("%.2000q, mode %d, long values:\n got %v\nwant %v", in, mode, got.ends.list, want.ends.list)
		}
		n := min(step, len(in))
		got, want = fast.Scan(in[:n], 0, mode), slow.Scan(in[:n], 0, mode)
		for same(got) == same(want) && want.Kind == FaultTruncated && n < len(in) {
			n = min(n+step, len(in))
			got, want = fast.Resume(in[:n], got), slow.Resume(in[:n], want)
		}
		checkEnds(t, in[:n], got)
		checkEnds(t, in[:n], want)
		if same(got) != same(want) {
			t.Fatalf("%.2000q, mode %d, %d bytes at a time, %d of them:\n got %+v\nwant %+v", in, mode, step, n, got, want)
		}
	}
}

// checkEnds compares the ends that a scan recorded with the actual ends of values.
func checkEnds(t *testing.T, in []byte, s Scan) {
	t.Helper()
	if s.Kind != FaultNone {
		return
	}
	v := s.value(in, 0)
	if len(s.ends.list) > s.ends.most {
		t.Fatalf("%.2000q: %d long values, at most %d", in, len(s.ends.list), s.ends.most)
	}
	var want, got []Span
	longValues(NewValue(in[:s.End], 0), &want)
	for _, l := range s.ends.list {
		got = append(got, Span{int64(l.start), int64(l.end)})
	}
	if len(want) <= s.ends.most && !slices.Equal(got, want) {
		t.Fatalf("%.2000q: long values:\n got %v\nwant %v", in, got, want)
	}
	var plain, quick []Span
	allValues(NewValue(in[:s.End], 0), &plain)
	allValues(v, &quick)
	if !slices.Equal(plain, quick) {
		t.Fatalf("%.2000q: values:\n got %v\nwant %v", in, quick, plain)
	}
	for i := 0; i < len(plain); i += 1 + len(plain)/16 {
		at := plain[i]
		var part []Span
		if allValues(v.Part(at), &part); part[0] != at {
			t.Fatalf("%.2000q: %v is %v", in, at, part[0])
		}
	}
}

// allValues appends the spans of a value and all values in it, in order, without keys.
func allValues(v Value, all *[]Span) {
	*all = append(*all, v.Span())
	for _, m := range v.Members() {
		allValues(m, all)
	}
	for _, e := range v.Elements() {
		allValues(e, all)
	}
}

// longValues appends the spans of the values whose ends are worth recording.
func longValues(v Value, long *[]Span) {
	var all []Span
	allValues(v, &all)
	for _, at := range all {
		if c := v.text[at.Start]; at.Len() >= longValue && (c == '"' || c == '{' || c == '[') {
			*long = append(*long, at)
		}
	}
}

// traps are short texts, valid and invalid, that replace a value.
var traps = []string{
	`"\\"`, `"\\\\\""`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\\ude00"`, `"\uD83D\uDE00\uD7ff"`, `"\u12g4"`, `"\u123"`, `"\x"`, `"\u`,
	"\"\xf0\x9f\x98\x80é日\"", "\"\xe6\x97\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xc0\xaf\"", "\"\x80\"", "\"\xe0\x9f\xbf\"", "\"\xf0\x8f\xbf\xbf\"", "\"\xf8\x88\x80\x80\x80\"", "é",
	"\"\n\"", "\"\r\n\"", "\"\x1f\"", "\"\x7f\"", "\x1a", "\x0c", "\x00",
	`1`, `-1.5e+7`, `01`, `1.`, `-`, `1 2`, `1"x"`, `"x"1`, `"x""y"`, `true`, `truefalse`, `nul`, `null"x"`, `\"x"`, `\`,
	`{}`, `[ ]`, `["a",["b"]]`, `{"a":1,}`, `[1,]`, `{"a"}`, `{"a":}`, `{,}`, `[,]`, `{1:2}`, `[1:2]`, `}`, `]`, `{]`, `[}`, `,`, `:`, `{"a":[{"b":[]},"c"]}`, ` [ 1 , "x" ] `, ``,
}

// around returns a text of a few hundred bytes with a trap at an offset that shift
// changes.
func around(trap string, shift int) []byte {
	pad := strings.Repeat(`\"x\\`, shift/5) + strings.Repeat("y", shift%5)
	return []byte(`{"pad":"` + pad + `","more":[1,true,{"n":null}],"x":` + trap + `,"then":"` + strings.Repeat("text, é \\n", 24) + `","end":[0]}` + "\n")
}

func TestScannersAgree(t *testing.T) {
	mutants := []byte("\"\\{}[],:0-.eEu tdD\n\r\x00\x1f\x7f\xff\xc3x8")
	for n, trap := range traps {
		for shift := range 2*64 + 1 {
			if (n+shift)%sample.Size(1, 3, 6) > 0 {
				continue
			}
			in := around(trap, shift)
			checkAgree(t, in, 300)
			if (n+shift)%sample.Size(16, 48, 48) > 0 {
				continue
			}
			at := bytes.Index(in, []byte(`"x":`)) + 4
			for i := at; i < at+len(trap)+2; i++ {
				checkAgree(t, in[:i], 270)
				old := in[i]
				for _, c := range mutants {
					in[i] = c
					checkAgree(t, in, 301)
				}
				in[i] = old
			}
		}
	}
}

// TestScannersAgreeOnEveryByte puts each byte in every place where one byte decides.
func TestScannersAgreeOnEveryByte(t *testing.T) {
	fast, slow := NewScanner(), new(portable)
	check := func(trap string, shift int) {
		in := around(trap, shift)
		if got, want := fast.Scan(in, 0, Strict), slow.Scan(in, 0, Strict); same(got) != same(want) {
			t.Fatalf("%.2000q:\n got %+v\nwant %+v", in, got, want)
		}
	}
	for c := range 256 {
		for i, form := range []string{"X", " X ", "1X", "X1", `"a"X`, `X"a"`, "[X]", "{X}", `"X"`, `"\X"`, `"\\X"`, `"\uX000"`, `"\u0X00"`, `"\u00X0"`, `"\u000X"`, `"\ud83d\udX00"`, `"\udX00"`, `"\ud83dXude00"`, `"\ud83d\Xde00"`, `"\ud83d\uXe00"`} {
			trap := strings.ReplaceAll(form, "X", string([]byte{byte(c)}))
			for shift := i; shift < 2*64; shift += 11 {
				check(trap, shift)
			}
		}
	}
	// Characters of two or more bytes, and similar invalid bytes.
	for first := 0x80; first < 256; first++ {
		for second := range 256 {
			for i, rest := range []string{"", "\x80", "\x80\x80", "\xbf\x7f", "\xc0"} {
				check(`"`+string([]byte{byte(first), byte(second)})+rest+`"`, (first+second+13*i)%128)
			}
		}
	}
}

// TestScannersAgreeOnTokens tries all sequences of a few tokens, in an array and in an
// object.
func TestScannersAgreeOnTokens(t *testing.T) {
	fast, slow := NewScanner(), new(portable)
	tokens := []string{" ", `"a"`, ":", ",", "{", "}", "[", "]", "1"}
	pad := strings.Repeat("z", 256)
	for _, before := range []string{`["` + pad + `",`, `{"a":"` + pad + `",`} {
		for n := range 9 * 9 * 9 * 9 * 9 {
			in := []byte(before)
			for ; n > 0; n /= 9 {
				in = append(in, tokens[n%9]...)
			}
			for _, end := range []string{"", "]", "}"} {
				in := append(in, end...)
				if got, want := fast.Scan(in, 0, Strict), slow.Scan(in, 0, Strict); same(got) != same(want) {
					t.Fatalf("%q:\n got %+v\nwant %+v", in, got, want)
				}
			}
		}
	}
	for _, in := range []string{`"` + pad + `"`, strings.Repeat("1", 400), " \n" + pad, strings.Repeat(" ", 400), `"` + pad + `\ud800"`} {
		checkAgree(t, []byte(in), 300)
	}
}

// TestScannersAgreeAtEdges puts traps across the edges of what is scanned together: the
// first blocks, the next blocks, and the last complete block of a text.
func TestScannersAgreeAtEdges(t *testing.T) {
	for _, trap := range append([]string{"\"\xe6\"", "\"\xf0\x9f\"", `"\u00e"`, `"\u00"`, `"\ud83d\ude0"`, "123456789", "false"}, traps...) {
		inner := strings.Trim(trap, `"`)
		for _, edge := range []int{1024, 1024 + 4096} {
			for k := range len(trap) + 2 {
				checkAgree(t, []byte(`["`+strings.Repeat("z", edge-2-k)+inner+strings.Repeat("z", 300)+`"]`), 1<<20)
				checkAgree(t, []byte(`["`+strings.Repeat("z", edge-4-k)+`",`+trap+`,"`+strings.Repeat("z", 300)+`"]`), 1<<20)
			}
		}
		for n := 300; n < 364; n++ {
			checkAgree(t, []byte(`["`+strings.Repeat("z", n)+inner+`"]`), 1<<20)
			checkAgree(t, []byte(`["`+strings.Repeat("z", n)+`",`+trap+`]`), 1<<20)
			checkAgree(t, []byte(`["`+strings.Repeat("z", n)+`",`+trap), 1<<20)
		}
	}
}

// TestScannersAgreeOnLongTexts puts faults at many distances after a value, and at the
// end of a chunk of blocks.
func TestScannersAgreeOnLongTexts(t *testing.T) {
	fill := func(n int) string { return strings.Repeat("z", n) }
	for k, trap := range traps {
		for i, n := range []int{0, 700, 950, 1024, 4000, 5000, 5119, 5120, 5121} {
			if (k+i)%sample.Size(1, 5, 9) > 0 {
				continue
			}
			head := `{"a":"` + fill(n) + `","b":[`
			many := head + strings.Repeat(`{"k":"v"},`, 200) + trap + strings.Repeat(`,{"k":"`+fill(300)+`"}`, 40) + "," + trap + `]}`
			checkAgree(t, []byte(many), 1500)
			checkAgree(t, []byte(`[[`+strings.Repeat("1,", n/2)+trap+strings.Repeat(",[]", n/2)+`],"`+fill(n)+`",`+trap+`]`), 1500)
			checkAgree(t, []byte(head+`]} `+trap+fill(2000)), 900)
			checkAgree(t, []byte(`["`+fill(n)+strings.Trim(trap, `"`)+fill(n)+`"`+"\n]"), 1500)
		}
	}
	for depth := MaxDepth - 2; depth < MaxDepth+3; depth++ {
		checkAgree(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)), 400)
		checkAgree(t, []byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)), 400)
	}
	eachLine(corpus(sample.Size(1<<19, 1<<17, 1<<17)), func(line []byte) { checkAgree(t, line, 1000) })
}

func FuzzScannersAgree(f *testing.F) {
	for n, trap := range traps {
		f.Add(around(trap, n), uint16(300))
	}
	for _, in := range transcripts(f) {
		if len(in) < 1<<14 {
			f.Add(in, uint16(1000))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint16) {
		checkAgree(t, in, int(step)+1)
		// After other text, the same bytes are elsewhere in their blocks, and the text is
		// long enough.
		checkAgree(t, append(around("1", int(step)%131), in...), int(step)+1)
		checkAgree(t, around(string(in), int(step)%131), int(step)+1)
	})
}
