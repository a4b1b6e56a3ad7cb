//go:build !noyaml

package yamldoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/toolguard/toolguard/internal/sample"
	"github.com/toolguard/toolguard/internal/source"
)

// read returns the documents of a text as JSON, and what the strings of each come from.
func read(t *testing.T, text string) (docs, strs []string, err error) {
	t.Helper()
	r := NewReader(source.FromBytes("t.yaml", []byte(text)))
	for {
		u, err := r.Next()
		if errors.Is(err, io.EOF) {
			return docs, strs, nil
		}
		if err != nil {
			return docs, strs, err
		}
		v := u.Value()
		if !json.Valid(v.Raw()) {
			t.Fatalf("not JSON: %s\n%s", v.Raw(), text)
		}
		docs = append(docs, string(v.Raw()))
		var walk func(v source.Value)
		walk = func(v source.Value) {
			switch v.Kind() {
			case source.String:
				at := u.Origin(v.Span())
				if at.Start < 0 || at.End > int64(len(text)) {
					t.Fatalf("%s is at %v", v.Raw(), at)
				}
				strs = append(strs, text[at.Start:at.End])
			case source.Array:
				for _, e := range v.Elements() {
					walk(e)
				}
			case source.Object:
				for k, e := range v.Members() {
					walk(k)
					walk(e)
				}
			}
		}
		walk(v)
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want, from string }{
		{"plain", "a: b c\n", `{"a":"b c"}`, "a|b c"},
		{"plain over lines", "a: b\n  c\n\n  d # e\n", `{"a":"b c\nd"}`, "a|b\n  c\n\n  d"},
		{"single quotes", "a: 'it''s\n\n  \"so\"'\n", `{"a":"it's\n\"so\""}`, "a|'it''s\n\n  \"so\"'"},
		{"double quotes", `a: "\u00e9\x41\" \\` + "\n  b\\\n  \\ c\"\n", `{"a":"éA\" \\ b c"}`, `a|"\u00e9\x41\" \\` + "\n  b\\\n  \\ c\""},
		{"literal", "a: |\n  {\n    \"b\": 1\n\n  }\n\nb: c\n", `{"a":"{\n  \"b\": 1\n\n}\n","b":"c"}`, "a||\n  {\n    \"b\": 1\n\n  }\n|b|c"},
		{"literal with indicators", "a:\n- |2-\n    b\n- |+\n  c\n\n- d\n", `{"a":["  b","c\n\n","d"]}`, "a||2-\n    b||+\n  c\n\n|d"},
		{"folded", "a: >\n  b\n  c\n\n    d\n  e\n", `{"a":"b c\n\n  d\ne\n"}`, "a|>\n  b\n  c\n\n    d\n  e\n"},
		{"documents", "a\n---\n'b'\n...\n---\n\"c\"\n", "\"a\"\n\"b\"\n\"c\"", "a|'b'|\"c\""},
		{"anchors", "a: &x [b]\nc: *x\nd: &y {e: f, g: h}\ni:\n  <<: *y\n  e: j\n", `{"a":["b"],"c":["b"],"d":{"e":"f","g":"h"},"i":{"e":"j","g":"h"}}`, "a|b|c|b|d|e|f|g|h|i|e|j|g|h"},
		{"binary", "a: !!binary |\n  eyJiIjoi\n  w6kifQ==\n", `{"a":"{\"b\":\"é\"}"}`, "a||\n  eyJiIjoi\n  w6kifQ==\n"},
		{"no text", "a: !!binary /wD/\n", `{"a":"/wD/"}`, "a|/wD/"},
		{"types", "[1, 0x10, 1.5, .inf, true, Yes, ~, null, 2001-01-01, '1']", `[1,"0x10",1.5,".inf",true,"Yes",null,null,"2001-01-01","1"]`, "0x10|.inf|Yes|2001-01-01|'1'"},
		{"byte order mark and CRLF", "\xef\xbb\xbfa: é\r\nb: |\r\n  c\r\n  d\r\n", `{"a":"é","b":"c\nd\n"}`, "a|é|b||\r\n  c\r\n  d\r\n"},
		{"line separators", "a: \"b\u2028 c\"\nd: |\n  e\u2029  f\n", `{"a":"b\u2028c","d":"e` + "\u2029" + `f\n"}`, "a|\"b\u2028 c\"|d||\n  e\u2029  f\n"},
		{"empty", "", "", ""},
		{"an object of Python as key", "? !!python/object/apply:m.istr\n- Accept\n: [b]\n[c, d]: e\n{f: g}: h\n", `{"Accept":["b"],"c, d":"e","f, g":"h"}`, "!|b|[|e|{|h"},
		{"a tag and an anchor", "a: !t &x\n  # c\n  'b'\n", `{"a":"b"}`, "a|'b'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			docs, strs, err := read(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(docs, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := strings.Join(strs, "|"); got != tt.from {
				t.Errorf("from %q\nwant %q", got, tt.from)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := byte('b'); c < 'k'; c++ {
		fmt.Fprintf(&bomb, "%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9))
	}
	for _, tt := range []struct{ name, text, want string }{
		{"not closed", "a: [b\nc: d\n", "line 1: did not find expected ',' or ']'"},
		{"deep", strings.Repeat("[", 1100) + strings.Repeat("]", 1100), "line 1, column 1002: nested deeper than 1000 levels"},
		{"aliases", bomb.String(), "line 1, column 16: its aliases stand for too much text"},
		{"an alias inside itself", "&a [*a]\n", "line 1, column 5: nested deeper than 1000 levels"},
		{"an unknown alias", "a: *b\n", "unknown anchor 'b' referenced"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := read(t, tt.text); err == nil || err.Error() != "invalid YAML: "+tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestStyles writes random texts in all styles with the library, and compares what is read with
// what was written. The part of the file that a text comes from is that text.
func TestStyles(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 1))
	words := []string{"a", "bc", " ", "  ", "\n", "\n\n", "'", `"`, "\\", ":", ": ", " #", "#", "-", "{", "}", "[", "é", "😀", "\t", "\u2028", "%", "@", "|", ">", "x y", "0", "true", "!", "&", "*", ",", "\r", "\u0085", "\x01", "\u00a0"}
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(12) {
			b.WriteString(words[rnd.IntN(len(words))])
		}
		return b.String()
	}
	styles := []yaml.Style{0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}
	n := 0
	for range sample.Inputs(50_000, 2000, 200) {
		doc := &yaml.Node{Kind: yaml.MappingNode}
		in := doc
		for i := range 1 + rnd.IntN(4) {
			val := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text(), Style: styles[rnd.IntN(len(styles))]}
			if rnd.IntN(3) == 0 {
				list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{val}}
				if rnd.IntN(4) == 0 {
					list.Style = yaml.FlowStyle
				}
				val = list
			}
			in.Content = append(in.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: fmt.Sprintf("k%d", i)}, val)
			if rnd.IntN(3) == 0 {
				inner := &yaml.Node{Kind: yaml.MappingNode}
				in.Content = append(in.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "in"}, inner)
				in = inner
			}
		}
		if len(in.Content) == 0 {
			in.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "z"}, {Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"}}
		}
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		e.SetIndent(2 + rnd.IntN(3))
		if err := e.Encode(doc); err != nil {
			continue
		}
		compare(t, b.String())
		n++
	}
	t.Logf("%d documents", n)
}

// compare compares what is read with what the library decodes, if it does.
func compare(t *testing.T, text string) {
	t.Helper()
	var want any
	if err := yaml.Unmarshal([]byte(text), &want); err != nil {
		return
	}
	docs, strs, err := read(t, text)
	if err != nil {
		t.Fatalf("%v\n%q", err, text)
	}
	if len(docs) == 0 {
		return
	}
	var got any
	if err := json.Unmarshal([]byte(docs[0]), &got); err != nil {
		t.Fatal(err)
	}
	var a, b []string
	stringsIn(got, &a)
	stringsIn(want, &b)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Fatalf("got  %q\nwant %q\n%q", a, b, text)
	}
	for _, s := range strs {
		if s == "" || strings.ContainsAny(s[:1], "|>") {
			continue // not a whole value without its indentation
		}
		var v any
		if yaml.Unmarshal([]byte(s), &v) != nil {
			continue
		}
		if s, is := v.(string); is && !slices.Contains(b, s) && !slices.Contains(b, strings.TrimSpace(s)) {
			t.Fatalf("%q is no value of %q", s, text)
		}
	}
}

// stringsIn collects the strings in a value and the keys.
func stringsIn(v any, out *[]string) {
	switch v := v.(type) {
	case string:
		*out = append(*out, v)
	case []any:
		for _, e := range v {
			stringsIn(e, out)
		}
	case map[string]any:
		for k, e := range v {
			*out = append(*out, k)
			stringsIn(e, out)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"a: |\n b\n", "- >-\n  a\n\n   b\n", "\"a\\\n b\"", "a: &b !!binary YQ==\nc: *b\n", "{a: [b, 'c'], <<: {d: e}}", "--- a\n... \n--- b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = read(t, text) // it is JSON, and all spans are inside the text
	})
}
