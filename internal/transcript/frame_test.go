package transcript

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

var faultNames = [...]string{"none", "json", "cut", "nul", "glued", "newline", "deep", "utf8", "surrogate"}

func render(src *Source) string {
	var b strings.Builder
	r := NewReader(src)
	f, err := r.Framing()
	fmt.Fprintf(&b, "%s", f)
	if r.Reason() != "" {
		fmt.Fprintf(&b, ": %s", r.Reason())
	}
	if err != nil {
		fmt.Fprintf(&b, " error %v", err)
	}
	b.WriteString("\n")
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
			return b.String()
		}
		fmt.Fprintf(&b, "%d-%d", rec.Span.Start, rec.Span.End)
		if rec.Readable() {
			fmt.Fprintf(&b, " %s", rec.Value.Raw())
		}
		for _, f := range rec.Faults {
			fmt.Fprintf(&b, " | %s %d-%d", faultNames[f.Kind], f.Span.Start, f.Span.End)
			if f.Count > 0 {
				fmt.Fprintf(&b, " x%d", f.Count)
			}
			if f.Want != "" {
				fmt.Fprintf(&b, " want %s", f.Want)
			}
		}
		b.WriteString("\n")
	}
}

func TestQuickFrame(t *testing.T) {
	for _, in := range []string{
		"", " \n\r\n", "\xef\xbb\xbf", "\xef\xbb\xbf{\"a\":1}\n", "\xff\xfe{\x00", "\x89PNG\r\n\x1a\n\x00\x00", "Plain text\nmore\n",
		"{}", "{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\r\n{\"a\":2}\r\n", "{\"a\":1}{\"a\":2}", "{\"a\":1}{\"a\":2}\n{\"a\":3}",
		"{\n \"a\": 1\n}\n", "{\n \"a\": 1\n}\n{\n \"b\": 2\n}\n", "{\n \"a\": 1\n}\n{\n \"b\" 2\n}\n{\n \"c\": 3\n}\n",
		"{\"a\":1", "{\"a\":1\n", "{\"a\":\"x", "{\"a\":1}\n{\"b\":\"x", "{\"a\":1}\n{\"b\":\"x\n", "{\"a\":1}\n{\"b\":\"x\n{\"c\":3}\n",
		"{\"a\":1}\n{\"b\":2\n{\"c\":3}\n",
		"{\"a\":1}\n{\"b\":\"x\ny\"}\n{\"c\":3}\n",
		"{\"b\":\"x\ny\nz\"}\n{\"c\":3}\n",
		"{\"a\":1}\n{\n\"b\":2\n}\n{\"c\":3}\n",
		"{\"a\":1}\n{\"type\":\"a\",\"x\":\"tru{\"type\":\"b\",\"c\":1}\n{\"c\":3}\n",
		"{\"type\":\"a\",\"x\":\"tru{\"type\":\"b\",\"c\":1}\n",
		"{\"a\":1}\n{\"t\":\"tr{\"t\":\"ts{\"t\":\"b\"}\n{\"c\":3}",
		"\x00\x00\x00", "{\"a\":1}\n\x00\x00\x00", "{\"a\":1}\n{\"b\":1}\n\x00\x00\x00", "{\"a\":1}\n{\"b\":1}\x00\x00", "{\"a\":1}\n\x00\x00{\"b\":1}\n{\"c\":1}",
		"{\"a\":1}\n{\"b\":\"tr\x00\x00{\"b\":1}\n{\"c\":1}", "{\"a\":1}\n{\"b\":\"tr\x00\x00\n{\"c\":1}", "{\"a\":1}\n{\"b\":\"tr\x00\x00", "{\"a\":1}\n{\"b\":\"t\x00r\"}\n",
		"{\"b\":\"tr\x00\x00", "{\"a\":1}\n\x00\x00\n{\"b\":1}",
		"{\"a\":1}\n{\"b\":}\n{\"c\":1}", "{\"a\":1}\n{\"b\":1}}\n{\"c\":1}\n", "{\"a\":1}\n{\"b\":1},\n",
		"{\"a\":\"\xff\xfe\"}\n{\"b\":\"\\ud800 \\udc00\"}\n", "[1,]", "[INFO] x\n[WARN] y\n", "[2024-01-01] foo\n", "42", "1\n2\n3\n", "1\n2\nfoo\n", "12 monkeys\n{\"a\":1}\nfoo\nbar\n",
		"foo {\"a\":1}\n{\"a\":1}\nbar\nbaz\n", "# head\n{\"a\":1}\n{\"a\":2}\n", strings.Repeat("[", 1001), strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"{\"a\":\"x\ny\"}\n", "{\"a\":\"x\r\ny\"}\r\n{\"a\":2}\r\n", "{\"a\":1} {\"b\":2}\n1 2\n1 x\n01\n\"a\"1\n", "{\"u\":\"a\u2028b\"}\n{\"b\":1}\n",
		"{'role': 'user'}\n", "[\n{\"a\":1}\n{\"b\":1}\n]\n", "{\"a\":1}}", "{\"a\":1}\nfoo", "{\"m\":[\n{\"a\":1},\n{\"a\":2},\n", "{\"a\":1\x00\x00\x00", "tru", "\"abc", "{\"a\":1} trailing\n",
	} {
		t.Logf("%.60q\n%.600s", in, render(FromBytes("s", []byte(in))))
	}
}
