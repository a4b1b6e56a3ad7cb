package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/sample"
)

var faultNames = [...]string{"none", "json", "cut", "nul", "glued", "again", "newline", "deep", "utf8", "surrogate"}

// render describes how r reads its source: the framing, and a line for each record with
// its span, value and faults.
func render(r *Reader) string {
	var b strings.Builder
	f, err := r.Framing()
	b.WriteString(f.String())
	if r.Reason() != "" {
		fmt.Fprintf(&b, ": %s", r.Reason())
	}
	if err != nil {
		fmt.Fprintf(&b, " error: %v", err)
	}
	for n := 1; ; n++ {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		b.WriteByte('\n')
		if err != nil {
			fmt.Fprintf(&b, "error: %v", err)
			return b.String()
		}
		if rec.Index != n {
			fmt.Fprintf(&b, "#%d ", rec.Index)
		}
		fmt.Fprintf(&b, "%d-%d", rec.Span.Start, rec.Span.End)
		if rec.Readable() {
			fmt.Fprintf(&b, " %s", rec.Value.Raw())
			if rec.Value.Span() != rec.Span {
				fmt.Fprintf(&b, " at %v", rec.Value.Span())
			}
		}
		for _, f := range rec.Faults {
			fmt.Fprintf(&b, " | %s %d-%d", faultNames[f.Kind], f.Span.Start, f.Span.End)
			if f.Count > 0 {
				fmt.Fprintf(&b, " x%d", f.Count)
			}
			if f.Want != "" {
				fmt.Fprintf(&b, ": %s", f.Want)
			}
		}
	}
}

func TestFrame(t *testing.T) {
	tests := []struct{ name, in, want string }{
		// Kinds of files.
		{"empty", "", "empty"},
		{"blank", " \n\r\n\t", "empty"},
		{"mark only", "\xef\xbb\xbf", "empty"},
		{"mark", "\xef\xbb\xbf{\"a\":1}\n", "json\n3-10 {\"a\":1}"},
		{"mark and lines", "\xef\xbb\xbf{\"a\":1}\n{\"a\":2}", "jsonl\n3-10 {\"a\":1}\n11-18 {\"a\":2}"},
		{"utf-16 little", "\xff\xfe{\x00}\x00", "none: starts with a UTF-16 byte order mark"},
		{"utf-16 big", "\xfe\xff\x00{\x00}", "none: starts with a UTF-16 byte order mark"},
		{"gzip", "\x1f\x8b\x08\x00", "none: is compressed with gzip"},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00", "none: invalid JSON: unexpected byte 0x89 at byte 1"},
		{"text", "Plain text\nmore\n", "none: invalid JSON: unexpected character 'P' at byte 1"},
		{"text behind blanks", "\n\n  été\n", "none: invalid JSON: unexpected character 'é' at byte 5"},
		{"word", "tru", "none: invalid JSON: unexpected end of input, expected the literal true"},
		{"literal gone wrong", "tru\nx", "none: invalid JSON: unexpected line end at byte 4"},
		{"log", "[INFO] x\n[WARN] y\n", "none: invalid JSON: unexpected character 'I' at byte 2"},
		{"log with dates", "[2024-01-01] foo\n", "none: invalid JSON: unexpected character '-' at byte 6"},
		{"template", "{{ name }}\n", "none: invalid JSON: unexpected character '{' at byte 2"},
		{"log with records", "foo {\"a\":1}\n{\"a\":1}\nbar\nbaz\n", "none: invalid JSON: only 1 of the first 4 lines is valid"},
		{"log with numbers", "1\n2\nfoo\n", "none: invalid JSON: only 2 of the first 3 lines are valid"},
		{"prose", "12 monkeys\n{\"a\":1}\nfoo\nbar\n", "none: invalid JSON: only 1 of the first 4 lines is valid"},
		{"lines with a head", "# head\n{\"a\":1}\n{\"a\":2}\n", "jsonl\n0-6 | json 0-1: a value\n7-14 {\"a\":1}\n15-22 {\"a\":2}"},

		// Documents.
		{"document", "{}", "json\n0-2 {}"},
		{"scalar", "42", "json\n0-2 42"},
		{"spread document", " {\n \"a\": 1\n}\r\n\r\n", "json\n1-12 {\n \"a\": 1\n}"},
		{"document with a raw line end", "{\"a\":\"x\ny\"}\n", "json\n0-11 {\"a\":\"x\ny\"} | newline 7-8 x1"},
		{"cut document", "{\"a\":1", "json\n0-6 | cut 0-6: ',' or '}' after a field"},
		{"cut line", "{\"a\":1 \n", "json\n0-6 | cut 0-6: ',' or '}' after a field"},
		{"cut string", "{\"a\":\"x", "json\n0-7 | cut 0-7: '\"' at the end of a string"},
		{"cut spread document", "{\"m\":[\n{\"a\":1},\n{\"a\":2},\n", "json\n0-24 | cut 0-24: a value"},
		{"cut array", "[{\"a\":1},\n{\"b\":2}\n", "json\n0-17 | cut 0-17: ',' or ']' after an element"},
		{"cut at NULs", "{\"b\":\"tr\x00\x00", "json\n0-8 | cut 0-8: '\"' at the end of a string | nul 8-10"},
		{"NULs around a document", "\x00\x00{}\n\x00\x00\n", "json\n2-4 {} | nul 0-2 | nul 5-7"},
		{"character of several bytes", "[1,é]", "json\n0-6 | json 3-5: a value"},
		{"half a character of several bytes", "[1,\xc3]", "json\n0-5 | json 3-4: a value"},
		{"comma too many", "[1,]", "json\n0-4 | json 3-4: a value"},
		{"brace too many", "{\"a\":1}}", "json\n0-8 | json 7-8: the end of the file"},
		{"brace too many below", "{\n\"a\":1}\n}\n", "json\n0-10 | json 9-10: the end of the file"},
		{"text behind a document", "{\"a\":1} trailing\n", "json\n0-16 | json 8-9: the end of the file"},
		{"python", "{'role': 'user'}\n", "json\n0-16 | json 1-2: a key in double quotes or '}'"},
		{"comma missing", "[\n{\"a\":1}\n{\"b\":1}\n]\n", "json\n0-19 | json 10-11: ',' or ']' after an element"},

		// Lines.
		{"lines", "{\"a\":1}\n\n{\"a\":2}\n \n[3]", "jsonl\n0-7 {\"a\":1}\n9-16 {\"a\":2}\n19-22 [3]"},
		{"crlf", "{\"a\":1}\r\n{\"a\":2} \r\n", "jsonl\n0-7 {\"a\":1}\n9-16 {\"a\":2}"},
		{"scalars", "1\n\"2\"\nnull\n", "jsonl\n0-1 1\n2-5 \"2\"\n6-10 null"},
		{"line separators", "{\"u\":\"a\u2028b\"}\n{\"b\":1}\n", "jsonl\n0-13 {\"u\":\"a\u2028b\"}\n14-21 {\"b\":1}"},
		{"several on a line", "{\"a\":1} {\"b\":2}\n1 2\n[]{}\"a\"[]\n", "jsonl\n0-7 {\"a\":1}\n8-15 {\"b\":2} | again 8-9\n16-17 1\n18-19 2 | again 18-19\n20-22 []\n22-24 {} | again 22-23\n24-27 \"a\"\n27-29 []"},
		{"several on the first line", "{\"a\":1}{\"a\":2}\n{\"a\":3}", "jsonl\n0-7 {\"a\":1}\n7-14 {\"a\":2} | again 7-8\n15-22 {\"a\":3}"},
		{"words on a line", "{\"a\":1}\n1 x\n01\n1true\n", "jsonl\n0-7 {\"a\":1}\n8-11 | json 10-11: the end of the line\n12-14 | json 13-14: the end of the line\n15-20 | json 16-17: the end of the line"},
		{"bad behind good", "{}\n{\"a\":1} {\"b\"}\n{}", "jsonl\n0-2 {}\n3-10 {\"a\":1}\n11-16 | json 15-16: ':' after a key\n17-19 {}"},
		{"bad line", "{\"a\":1}\n{\"b\":}\n{\"c\":1}", "jsonl\n0-7 {\"a\":1}\n8-14 | json 13-14: a value\n15-22 {\"c\":1}"},
		{"bad line with blanks", "{}\n  {\"b\":}  \r\n{}", "jsonl\n0-2 {}\n5-11 | json 10-11: a value\n15-17 {}"},
		{"brace too many on a line", "{\"a\":1}\n{\"b\":1}}\n{}\n", "jsonl\n0-7 {\"a\":1}\n8-16 | json 15-16: the end of the line\n17-19 {}"},
		{"comma behind a line", "{\"a\":1}\n{\"b\":1},\n", "jsonl\n0-7 {\"a\":1}\n8-16 | json 15-16: the end of the line"},
		{"raw control character", "{}\n{\"a\":\"\x01\"}\n", "jsonl\n0-2 {}\n3-12 | json 9-10: an escaped control character"},
		{"bad escape", "{}\n\"\\x41\"\n", "jsonl\n0-2 {}\n3-9 | json 5-6: one of \"\\/bfnrtu after a backslash"},
		{"too deep", "{}\n" + strings.Repeat("[", 1001) + "\n{}", "jsonl\n0-2 {}\n3-1004 | deep 1003-1004: at most 1000 levels of nesting\n1005-1007 {}"},
		{"flaws", "{\"a\":\"\xff\xfe\"}\n{\"b\":\"\\ud800 \xff\\udc00\"}\n", "jsonl\n0-10 {\"a\":\"\xff\xfe\"} | utf8 6-8 x1\n11-33 {\"b\":\"\\ud800 \xff\\udc00\"} | surrogate 17-23 x2 | utf8 24-25 x1"},

		// Torn lines.
		{"cut last line", "{\"a\":1}\n{\"b\":\"x", "jsonl\n0-7 {\"a\":1}\n8-15 | cut 8-15: '\"' at the end of a string"},
		{"cut last line with end", "{\"a\":1}\r\n{\"b\":\"x\r\n\r\n", "jsonl\n0-7 {\"a\":1}\n9-16 | cut 9-16: '\"' at the end of a string"},
		{"cut line between", "{\"a\":1}\n{\"b\":\"x\n{\"c\":3}\n", "jsonl\n0-7 {\"a\":1}\n8-15 | json 15-15: '\"' at the end of a string\n16-23 {\"c\":3}"},
		{"cut line between, crlf", "{\"a\":1}\r\n{\"b\":2\r\n{\"c\":3}\r\n", "jsonl\n0-7 {\"a\":1}\n9-15 | json 15-15: ',' or '}' after a field\n17-24 {\"c\":3}"},
		{"cut first line", "{\"a\":\"x\n{\"c\":3}\n", "jsonl\n0-7 | json 7-7: '\"' at the end of a string\n8-15 {\"c\":3}"},
		{"cut before a value", "{\"a\":1}\n{\"b\":\n{\"c\":3}\n{\"d\":4}\n", "jsonl\n0-7 {\"a\":1}\n8-13 | json 13-13: a value\n14-21 {\"c\":3}\n22-29 {\"d\":4}"},

		// Records that span several lines.
		{"raw line end", "{\"a\":1}\n{\"b\":\"x\ny\"}\n{\"c\":3}\n", "jsonl\n0-7 {\"a\":1}\n8-19 {\"b\":\"x\ny\"} | newline 15-16 x1\n20-27 {\"c\":3}"},
		{"raw line ends, crlf", "{}\r\n{\"b\":\"x\r\n\r\ny\"}\r\n{}", "jsonl\n0-2 {}\n4-18 {\"b\":\"x\r\n\r\ny\"} | newline 11-13 x2\n20-22 {}"},
		{"raw line end in the first line", "{\"b\":\"x\ny\nz\"}\n{\"c\":3}\n", "jsonl\n0-13 {\"b\":\"x\ny\nz\"} | newline 7-8 x2\n14-21 {\"c\":3}"},
		{"raw line end in the last line", "{}\n{\"b\":\"x\ny\"}", "jsonl\n0-2 {}\n3-14 {\"b\":\"x\ny\"} | newline 10-11 x1"},
		{"spread record", "{\"a\":1}\n{\n\"b\":2\n}\n{\"c\":3}\n", "jsonl\n0-7 {\"a\":1}\n8-17 {\n\"b\":2\n}\n18-25 {\"c\":3}"},
		{"spread with a tail", "{}\n{\n\"b\":2\n} x\n{}\n{}\n", "jsonl\n0-2 {}\n3-4 | json 4-4: a key in double quotes or '}'\n5-10 | json 8-9: the end of the line\n11-14 | json 11-12: a value\n15-17 {}\n18-20 {}"},
		{"spread too far", "{}\n[" + strings.Repeat("\n", 64) + "]\n", "jsonl\n0-2 {}\n3-4 | json 4-4: a value or ']'\n68-69 | json 68-69: a value"},

		// NULs.
		{"nothing but NULs", "\x00\x00 \x00", "jsonl\n0-4 | nul 0-4"},
		{"NULs behind lines", "{}\n{}\n\x00\x00\x00", "jsonl\n0-2 {}\n3-5 {}\n6-9 | nul 6-9"},
		{"NULs behind a record", "{}\n{}\x00 \x00\n", "jsonl\n0-2 {}\n3-5 {} | nul 5-8"},
		{"NULs before a record", "{}\n\x00\x00{}\n{}", "jsonl\n0-2 {}\n5-7 {} | nul 3-5\n8-10 {}"},
		{"NULs between records", "{}\x00\x00{}\n{}", "jsonl\n0-2 {} | nul 2-4\n4-6 {}\n7-9 {}"},
		{"NULs on a line", "{}\n\x00\x00\n{}", "jsonl\n0-2 {}\n3-5 | nul 3-5\n6-8 {}"},
		{"NULs behind a torn record", "{}\n{\"b\":\"tr\x00\x00{\"b\":1}\n{}", "jsonl\n0-2 {}\n3-11 | json 11-11: '\"' at the end of a string | nul 11-13\n13-20 {\"b\":1}\n21-23 {}"},
		{"NULs in place of a tail", "{}\n{\"b\":\"tr\x00\x00\n{}", "jsonl\n0-2 {}\n3-11 | json 11-11: '\"' at the end of a string | nul 11-13\n14-16 {}"},
		{"NULs in place of the rest", "{}\n{\"b\":\"tr\x00\x00\n", "jsonl\n0-2 {}\n3-11 | cut 3-11: '\"' at the end of a string | nul 11-13"},
		{"NUL in a string", "{}\n{\"b\":\"t\x00r\"}\n", "jsonl\n0-2 {}\n3-14 | json 10-11: an escaped control character"},
		{"NULs behind a bad record", "{}\n{\"b\":}\x00\x00\n{}", "jsonl\n0-2 {}\n3-9 | json 8-9: a value | nul 9-11\n12-14 {}"},

		// Glued records.
		{
			"glued in a string", "{}\n{\"type\":\"a\",\"x\":\"tru{\"type\":\"b\",\"c\":1}\n{}\n",
			"jsonl\n0-2 {}\n23-41 {\"type\":\"b\",\"c\":1} | glued 3-23\n42-44 {}",
		},
		{"glued in the first line", "{\"t\":\"a\",\"x\":\"tru{\"t\":\"b\"}\n", "jsonl\n17-26 {\"t\":\"b\"} | glued 0-17"},
		{"glued in a name", "{}\n{\"t\":\"a\",\"con{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n16-25 {\"t\":\"b\"} | glued 3-16"},
		{"glued behind a comma", "{}\n{\"t\":\"a\",{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n12-21 {\"t\":\"b\"} | glued 3-12"},
		{"glued in a number", "{}\n{\"t\":12{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n10-19 {\"t\":\"b\"} | glued 3-10"},
		{"glued in a literal", "{}\n{\"t\":tr{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n10-19 {\"t\":\"b\"} | glued 3-10"},
		{"glued in an escape", "{}\n{\"t\":\"\\{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n10-19 {\"t\":\"b\"} | glued 3-10"},
		{"glued in a \\u escape", "{}\n{\"t\":\"\\u12{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n13-22 {\"t\":\"b\"} | glued 3-13"},
		{"glued, spaced", "{}\n{ \"t\": \"tr{ \"t\": \"b\" }\n", "jsonl\n0-2 {}\n13-25 { \"t\": \"b\" } | glued 3-13"},
		{"glued twice", "{}\n{\"t\":\"tr{\"t\":\"ts{\"t\":\"b\"}\n", "jsonl\n0-2 {}\n19-28 {\"t\":\"b\"} | glued 3-19"},
		{
			"glued in a value, like the next record", "{\"v\":1}\n{\"t\":{\"t\":1,\"i\":2,\"x\":3}\n{\"t\":4,\"i\":5,\"x\":6}\n",
			"jsonl\n0-7 {\"v\":1}\n13-32 {\"t\":1,\"i\":2,\"x\":3} | glued 8-13\n33-52 {\"t\":4,\"i\":5,\"x\":6}",
		},
		{
			"glued in a value, written again", "{\"v\":1,\"t\":2}\n{\"t\":{\"t\":{},\"v\":1,\"w\":1}\n{}\n",
			"jsonl\n0-13 {\"v\":1,\"t\":2}\n19-39 {\"t\":{},\"v\":1,\"w\":1} | glued 14-19\n40-42 {}",
		},
		{
			"not glued: a value that has another beginning", "{\"v\":1,\"t\":2}\n{\"m\":{\"t\":{},\"v\":1,\"w\":1}\n{}\n",
			"jsonl\n0-13 {\"v\":1,\"t\":2}\n14-39 | json 39-39: ',' or '}' after a field\n40-42 {}",
		},
		{"glued with flaws", "{}\n{\"t\":\"tr{\"t\":\"\xff\\ud800\"}\n", "jsonl\n0-2 {}\n11-26 {\"t\":\"\xff\\ud800\"} | glued 3-11 | utf8 17-18 x1 | surrogate 18-24 x1"},
		{"glued and NULs", "{}\n\x00{\"t\":\"tr{\"t\":1}\x00\n", "jsonl\n0-2 {}\n12-19 {\"t\":1} | nul 3-4 | glued 4-12 | nul 19-20"},
		{"not glued: text behind it", "{}\n{\"cmd\":\"run {\"x\":1} now\"}\n", "jsonl\n0-2 {}\n3-28 | json 17-18: ',' or '}' after a field"},
		{"not glued: a nested record", "{}\n{\"type\":\"a\",\"m\":{\"type\":\"b\"}\n{}\n", "jsonl\n0-2 {}\n3-31 | json 31-31: ',' or '}' after a field\n32-34 {}"},
		{"glued and torn again", "{}\n{\"t\":\"tr{\"t\":\"b\n{}\n", "jsonl\n0-2 {}\n3-18 | json 13-14: ',' or '}' after a field\n19-21 {}"},

		// Consecutive values.
		{"two on one line", "{\"a\":1}{\"a\":2}", "json-values\n0-7 {\"a\":1}\n7-14 {\"a\":2}"},
		{"values", "{\n \"a\": 1\n}\n{\n \"b\": 2\n}\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-23 {\n \"b\": 2\n}"},
		{"mark before a value", "{\n \"a\": 1\n}\n\xef\xbb\xbf{\n \"b\": 2\n}\n\xef\xbb\xbf", "json-values\n0-11 {\n \"a\": 1\n}\n15-26 {\n \"b\": 2\n}"},
		{"bad value", "{\n \"a\": 1\n}\n{\n \"b\" 2\n}\n{\n \"c\": 3\n}\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-22 | json 19-20: ':' after a key\n23-34 {\n \"c\": 3\n}"},
		{"cut value between", "{\n \"a\": 1\n}\n{\n \"b\": \"x\n{\n \"c\": 3\n}\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-22 | json 22-22: an escaped control character\n23-34 {\n \"c\": 3\n}"},
		{"cut value between, before a key", "{\n \"a\": 1\n}\n{\n \"b\": 2,\n{\n \"c\": 3\n}\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-22 | json 22-22: a key in double quotes\n23-34 {\n \"c\": 3\n}"},
		{"cut value between, behind a value", "{\n \"a\": 1\n}\n{\n \"b\": 2 \n\n[\n3\n]\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-21 | json 21-21: ',' or '}' after a field\n24-29 [\n3\n]"},
		{"cut last value", "{\n \"a\": 1\n}\n{\n \"b\": 2\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-21 | cut 12-21: ',' or '}' after a field"},
		{"raw line end in a value", "{\n \"a\": 1\n}\n{\n \"b\": \"x\ny\"\n}\n", "json-values\n0-11 {\n \"a\": 1\n}\n12-27 {\n \"b\": \"x\ny\"\n} | newline 22-23 x1"},
		{"NULs behind values", "{\n}\n{\n}\n\x00\x00\n", "json-values\n0-3 {\n}\n4-7 {\n} | nul 8-10"},
		{"NULs in place of a value's rest", "{\n}\n{\n\"a\x00\x00\n{\n}\n", "json-values\n0-3 {\n}\n4-8 | json 8-8: '\"' at the end of a string | nul 8-10\n11-14 {\n}"},
		{"text between values", "{\n}\n{\n}\nfoo\n[1\n]\n", "json-values\n0-3 {\n}\n4-7 {\n}\n8-11 | json 9-10: the literal false\n12-16 [1\n]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := render(NewReader(FromBytes("s", []byte(tt.in))))
			if got != tt.want {
				t.Errorf("%q:\n got %q\nwant %q", tt.in, got, tt.want)
			}
			for _, chunk := range []int64{1, 2, 3, 7, 16} {
				for _, long := range []int64{1, 8} {
					got := render(newReader(FromBytes("s", []byte(tt.in)), chunk, long))
					if got != tt.want {
						t.Errorf("%q in chunks of %d:\n got %q\nwant %q", tt.in, chunk, got, tt.want)
					}
				}
			}
		})
	}
}

// checkFrame checks properties that hold for the records of every file.
func checkFrame(t *testing.T, in []byte) {
	t.Helper()
	r := NewReader(FromBytes("s", in))
	framing, err := r.Framing()
	if err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	if (framing == FramingNone) != (r.Reason() != "") {
		t.Fatalf("%q: %v because of %q", in, framing, r.Reason())
	}
	covered := make([]bool, len(in))
	var end int64 // of the part that was covered
	cover := func(what string, s Span) {
		if s.Start < end || s.End < s.Start || s.End > int64(len(in)) {
			t.Fatalf("%q: %s %v, the one before ends at %d", in, what, s, end)
		}
		end = s.End
		for i := s.Start; i < s.End; i++ {
			covered[i] = true
		}
	}
	for n := 1; ; n++ {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if rec.Index != n || rec.Span.Len() <= 0 {
			t.Fatalf("%q: record %d is %+v", in, n, rec)
		}
		alone := !rec.Readable() && !rec.unreadable()
		if alone && (len(rec.Faults) != 1 || rec.Faults[0] != Fault{Kind: FaultNUL, Span: rec.Span}) {
			t.Fatalf("%q: record without value: %+v", in, rec)
		}
		done := false
		for _, f := range rec.Faults {
			switch {
			case f.Kind != FaultNUL && f.Kind != FaultGlued:
				// The fault is inside the record or at its end.
				if f.Span.Start < rec.Span.Start || f.Span.End > max(rec.Span.End, f.Span.Start) || f.Span.End > int64(len(in)) {
					t.Fatalf("%q: fault %+v of record %v", in, f, rec.Span)
				}
				continue
			case !done && f.Span.Start >= rec.Span.Start:
				cover("record", rec.Span)
				done = true
			}
			if !alone {
				cover("fault", f.Span)
			}
		}
		if !done {
			cover("record", rec.Span)
		}
		if rec.Readable() {
			if rec.unreadable() {
				t.Fatalf("%q: readable and not: %+v", in, rec)
			}
			if rec.Value.Span() != rec.Span || !bytes.Equal(rec.Value.Raw(), in[rec.Span.Start:rec.Span.End]) {
				t.Fatalf("%q: record %v holds %q at %v", in, rec.Span, rec.Value.Raw(), rec.Value.Span())
			}
			s := NewScanner().Scan(rec.Value.Raw(), 0, AllowNewlines)
			if s.Kind != FaultNone || s.End != len(rec.Value.Raw()) {
				t.Fatalf("%q: record %q is not one value", in, rec.Value.Raw())
			}
		}
	}
	if framing == FramingNone {
		return
	}
	for i, c := range in {
		mark := false // the byte is part of a byte order mark
		for k := max(0, i-2); k <= i; k++ {
			mark = mark || bytes.HasPrefix(in[k:], []byte(byteOrderMark))
		}
		if !covered[i] && !mark && c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			t.Fatalf("%q: byte %d is not in any record\n%s", in, i, render(NewReader(FromBytes("s", in))))
		}
	}
}

// checkChunks reads in chunks and expects the same records.
func checkChunks(t *testing.T, in []byte, chunk, long int64) {
	t.Helper()
	want := render(NewReader(FromBytes("s", in)))
	if got := render(newReader(FromBytes("s", in), chunk, long)); got != want {
		t.Fatalf("%q in chunks of %d:\n got %q\nwant %q", in, chunk, got, want)
	}
}

// frameSeeds returns whole files with traps in them.
func frameSeeds() []string {
	files := []string{
		"{\"type\":\"a\",\"n\":1}\n{\"type\":\"b\",\"x\":\"y\\n\"}\r\n\n[1,2]\n",
		"{\"type\":\"a\",\"x\":\"tru{\"type\":\"b\",\"y\":{\"type\":\"c\"}}\n{\"type\":\"d\"}\n",
		"{\"a\":\"x\ny\"}\n{\n\"b\": [\n1]}\n{\"c\":\"\xff\\ud800\"}\n\x00\x00{\"d\":1}\x00{}\n\x00\n{\"e\":",
		"{\n  \"a\": \"x\"\n}\n{\n  \"b\": [\n    1\n  ]\n}\n\x00\x00",
		"[\n  {\"role\": \"user\"},\n  {\"role\": \"assistant\"}\n]\n",
		"\xef\xbb\xbf{\"a\":1} {\"b\":2} 3 \"4\"\n5\n",
		"[INFO] start\n{\"a\":1}\n{\"b\":2}\n",
		"[0\x00\t",
		"{ \r\r\r\r\x00",
	}
	for _, s := range seeds {
		files = append(files, s, "{\"z\":0}\n"+s+"\n{\"z\":1}\n", "{\n}\n"+s+"\n{}")
	}
	return files
}

func TestFrameEverywhere(t *testing.T) {
	for _, file := range frameSeeds() {
		in := []byte(file)
		for i := range in {
			checkFrame(t, in[:i])
			old := in[i]
			for _, c := range []byte("\"{}[],\n\x00 \xffx") {
				in[i] = c
				checkFrame(t, in)
				if i%3 == 0 {
					checkChunks(t, in, int64(1+i%11), int64(1+i%5))
				}
			}
			in[i] = old
		}
		checkFrame(t, in)
	}
}

// TestFrameCut cuts a log at every byte. All complete records must stay readable, and the
// last one must be readable, truncated or absent.
func TestFrameCut(t *testing.T) {
	in := []byte("{\"type\":\"a\",\"n\":[1,{\"x\":null}]}\n{\"type\":\"b\",\"s\":\"\\u00e9\\\"é\"}\n{\"type\":\"c\",\"t\":true}\n")
	for n := range in {
		lines := bytes.Count(in[:n], []byte("\n"))
		good := 0
		for rec, err := range Records(FromBytes("s", in[:n])) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Readable() {
				good++
				continue
			}
			if len(rec.Faults) != 1 || rec.Faults[0].Kind != FaultTruncated || rec.Span.End != int64(n) || rec.Faults[0].Span != rec.Span {
				t.Fatalf("%q: %+v", in[:n], rec)
			}
		}
		if good != lines && (good != lines+1 || in[n] != '\n') {
			t.Fatalf("%q: %d records", in[:n], good)
		}
	}
}

// transcripts returns the fixtures of the project.
func transcripts(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := make(map[string][]byte)
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		root := filepath.Join(dir, "testdata", "transcripts")
		if _, err := os.Stat(root); err == nil {
			err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				b, err := os.ReadFile(path)
				if err == nil && len(b) < 1<<20 {
					files[path] = b
				}
				return err
			})
			if err != nil {
				tb.Fatal(err)
			}
			break
		}
		dir = filepath.Dir(dir)
	}
	return files
}

func TestFrameTranscripts(t *testing.T) {
	for path, in := range transcripts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			checkFrame(t, in)
			checkChunks(t, in, 1000, 100)
		})
	}
}

// A counter counts the bytes that are read through it.
type counter struct {
	r io.ReaderAt
	n int64
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

func countRecords(t *testing.T, r *Reader) (good, bad int) {
	t.Helper()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return good, bad
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Readable() {
			good++
		} else {
			bad++
		}
	}
}

func TestFramingReadsLittle(t *testing.T) {
	line := "{\"type\":\"user\",\"n\":1}\n"
	in := []byte(strings.Repeat(line, 1_000_000))
	c := &counter{r: bytes.NewReader(in)}
	r := NewReader(NewSource("s", c, int64(len(in))))
	if f, err := r.Framing(); f != FramingLines || err != nil {
		t.Fatal(f, err)
	}
	if c.n > chunkSize {
		t.Errorf("read %d bytes to decide the framing of lines", c.n)
	}
	if good, bad := countRecords(t, r); good != 1_000_000 || bad != 0 {
		t.Errorf("%d good and %d bad records", good, bad)
	}
	if c.n > int64(len(in)+len(in)/100) {
		t.Errorf("read %d bytes of %d", c.n, len(in))
	}

	// A torn first line costs one more sample, not a scan of the file.
	in = append([]byte("{\"type\":\"user\",\"n\n"), in...)
	c = &counter{r: bytes.NewReader(in)}
	r = NewReader(NewSource("s", c, int64(len(in))))
	if f, err := r.Framing(); f != FramingLines || err != nil {
		t.Fatal(f, err)
	}
	if c.n > 2*chunkSize {
		t.Errorf("read %d bytes to decide the framing of lines", c.n)
	}
	if good, bad := countRecords(t, r); good != 1_000_000 || bad != 1 {
		t.Errorf("%d good and %d bad records", good, bad)
	}
}

// A workCounter counts the bytes that are read and scanned.
type workCounter struct {
	in io.ReaderAt
	Scanner
	read, scanned int
}

func (c *workCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.in.ReadAt(p, off)
	c.read += n
	return n, err
}

func (c *workCounter) Scan(text []byte, pos int, mode ScanMode) Scan {
	s := c.Scanner.Scan(text, pos, mode)
	c.scanned += s.End - pos
	return s
}

func (c *workCounter) Resume(text []byte, s Scan) Scan {
	more := c.Scanner.Resume(text, s)
	c.scanned += more.End - s.next
	return more
}

// TestFrameLinear reads files that could cause repeated scans of the same bytes.
func TestFrameLinear(t *testing.T) {
	const size = 1 << 20
	units := map[string]string{
		"torn lines":     "{\"a\":\"\n",
		"open brackets":  "[\n",
		"glued":          "{\"a\" {}",
		"glued and torn": "{\"a\":\"x{\"b",
		"values":         "{}",
		"scalars":        "1 ",
		"mixed values":   "{}1",
		"NULs":           "\x00",
		"NUL lines":      "\x00\n",
		"NULs and text":  "\x00x",
		"NULs and torn":  "{\"a\x00",
		"quotes":         "\"",
		"raw line ends":  "{\"a\":\"x\ny\"}\n",
		"blank lines":    "\n",
		"blanks":         " ",
		"CRs":            "\r",
		"bad values":     "{\n\"a\" 1\n}\n",
		"torn values":    "{\n\"a\": \"\n}\n",
		"commas":         ",",
		"deep":           "{\"a\":[",
	}
	for k, name := range slices.Sorted(maps.Keys(units)) {
		unit := units[name]
		for i, head := range []string{"", "{}\n{}\n", "{\n}\n{\n}\n"} {
			if (k+i)%sample.Size(1, 3, 3) > 0 {
				continue
			}
			in := []byte(head + strings.Repeat(unit, size/len(unit)))
			c := &workCounter{in: bytes.NewReader(in), Scanner: NewScanner()}
			r := NewReader(NewSource("s", c, int64(len(in))))
			r.scan = c
			if _, err := r.Framing(); err != nil {
				t.Fatal(err)
			}
			countRecords(t, r)
			t.Logf("%-15s %-20q %-12v read %4.1f times, scanned %4.1f times", name, head, r.framing, float64(c.read)/size, float64(c.scanned)/size)
			if c.read > 4*size || c.scanned > 32*size { // up to 19 scans if every line may continue
				t.Errorf("%s behind %q: %d bytes were read and %d scanned, of %d", name, head, c.read, c.scanned, size)
			}
		}
	}
}

func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 300 MB")
	}
	const size = 100 << 20
	in := []byte("{\"a\":1}\n{\"text\":\"" + strings.Repeat("x", size) + "\"}\n{\"b\":2}\n")
	f, err := os.Create(filepath.Join(t.TempDir(), "s.jsonl"))
	if err == nil {
		_, err = f.Write(in)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := int64(len(in))
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(NewSource("s", f, n))
	if good, bad := countRecords(t, r); good != 3 || bad != 0 {
		t.Errorf("%d good and %d bad records", good, bad)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > size+size/10 {
		t.Errorf("allocated %d bytes for a line of %d", got, size)
	}
}

func TestLargeDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 100 MB")
	}
	in := []byte("[\n  1" + strings.Repeat(",\n  {\"a\": \"some text in it\"}", 1<<20) + "\n]\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := &counter{r: bytes.NewReader(in)}
	r := NewReader(NewSource("s", c, int64(len(in))))
	if f, err := r.Framing(); f != FramingDocument || err != nil {
		t.Fatal(f, err)
	}
	if good, bad := countRecords(t, r); good != 1 || bad != 0 {
		t.Errorf("%d good and %d bad records", good, bad)
	}
	runtime.ReadMemStats(&after)
	if c.n < int64(len(in)) || c.n > int64(len(in))+4<<10 {
		t.Errorf("read %d of %d bytes", c.n, len(in))
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
		t.Errorf("allocated %d bytes for a document of %d", got, len(in))
	}
}

// TestRecordTooLong checks that a record beyond the size limit ends reading before memory
// is allocated for it.
func TestRecordTooLong(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 100) + `"}`
	for _, tt := range []struct {
		name, in string
		at       int
	}{
		{"first line", long + "\n{}\n", 0},
		{"line", "{}\n{}\n" + long + "\n", 6},
		{"document", " {\n" + long[1:], 1},
		{"values", "{\n}\n{\n" + long[1:], 4},
	} {
		r := newReader(FromBytes("s", []byte(tt.in)), 8, 16)
		r.win.most = 64
		var err error
		for err == nil {
			_, err = r.Next()
		}
		want := fmt.Sprintf("s: the record at byte %d is longer than 64 bytes", tt.at)
		if err.Error() != want {
			t.Errorf("%s: got %v, want %s", tt.name, err, want)
		}
	}
}
