package repair

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/operation"
	"github.com/toolguard/toolguard/internal/source"
)

// TestRenderLikeItself: a uniformly formatted value is restored from its compact form.
func TestRenderLikeItself(t *testing.T) {
	const sample = `{"role":"tool","tool_call_id":"c \"1\"","content":[{"type":"text","text":"a, {b}: [c]\n"},{"type":"text","text":"é\u00e9"}],"n":1.0,"o":{},"l":[],"x":null}`
	var laid []string
	for _, indent := range []string{"  ", "    ", "\t"} {
		for _, prefix := range []string{"", "  ", "\t\t"} {
			var b bytes.Buffer
			if err := json.Indent(&b, []byte(sample), prefix, indent); err != nil {
				t.Fatal(err)
			}
			laid = append(laid, b.String(), strings.ReplaceAll(b.String(), "\n", "\r\n"))
		}
	}
	laid = append(laid, sample,
		`{"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "a"}, {"type": "text"}]}`,
		`{"role" : "tool" , "content" : ["x" , {"a" : 1}]}`,
		"{\n  \"role\": \"tool\",\n  \"content\": [{\"type\": \"text\",\"text\": \"a\"}]\n}",
	)
	for _, text := range laid {
		var small bytes.Buffer
		if err := json.Compact(&small, []byte(text)); err != nil {
			t.Fatal(err)
		}
		st := styleOf(source.NewValue([]byte(text), 0))
		if got := string(render(small.Bytes(), st, 0)); got != text {
			t.Errorf("%q came out as\n%q\nin the style %+v", text, got, st)
		}
	}
}

// TestRenderKeeps: kept values keep their bytes.
func TestRenderKeeps(t *testing.T) {
	var c content
	odd := "{ \"a\" :1,\n\n \"b\":[ 1.0 ]}"
	c.add([]byte(`{"n":1}`), false)
	c.add([]byte(odd), true)
	c.add([]byte(`{"n":2}`), false)
	list, kept := c.json()
	text, err := new(builder).build([]dialect.Field{{Key: "role", Raw: `"user"`}, {Key: "content", Raw: list}})
	if err != nil {
		t.Fatal(err)
	}
	at := source.NewValue(text, 0).Get("content").Span().Start
	kept[0].Start, kept[0].End = kept[0].Start+at, kept[0].End+at
	st := style{multi: true, nested: true, nl: "\n", unit: "  ", colon: ": "}
	want := "{\n  \"role\": \"user\",\n  \"content\": [\n    {\n      \"n\": 1\n    },\n    " + odd + ",\n    {\n      \"n\": 2\n    }\n  ]\n}"
	if got := string(render(text, st, 0, kept...)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestSetHostile: keys with a meaning for sjson are set like others, and values that are not
// objects are rejected.
func TestSetHostile(t *testing.T) {
	for _, key := range []string{
		"a", "a.b", "a*", "?", "#", "#.x", "-1", "0", ":0", ":", "::", "@this", "!", "~", "a|b", `a\b`, `\`, `"`, "é", "\u2028", "a b", "{", "[0]", "..", "%", "=",
	} {
		quoted, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range []string{`{}`, `{"x":{"y":1}}`, `{"a":{"b":1},"0":[1]}`, `{` + string(quoted) + `:1,"z":2}`} {
			got, err := new(builder).setField([]byte(object), dialect.Field{Key: key, Raw: `{"v":[1.0]}`})
			if err != nil {
				t.Logf("%s: set %q: %v", object, key, err) // refused, which is safe
				continue
			}
			var was, is map[string]any
			if json.Unmarshal([]byte(object), &was) != nil || json.Unmarshal(got, &is) != nil {
				t.Fatalf("%s became %s", object, got)
			}
			_, had := was[key]
			if want := len(was) + map[bool]int{true: 0, false: 1}[had]; len(is) != want || !bytes.Contains(got, []byte(`{"v":[1.0]}`)) {
				t.Errorf("%s: set %q: %s", object, key, got)
			}
		}
	}
	for _, bad := range []string{"", "{", `{"a":1`, `{"a":1}}`, `{"a":1} {}`, `{"a" 1}`, `{a:1}`, "\x00"} {
		if got, err := new(builder).setField([]byte(bad), dialect.Field{Key: "k", Raw: `1`}); err == nil {
			t.Errorf("set a member of %q: %s", bad, got)
		}
		if got, err := new(builder).setField([]byte(`{}`), dialect.Field{Key: "k", Raw: bad}); err == nil {
			t.Errorf("set a member to %q: %s", bad, got)
		}
	}
	if got, err := new(builder).build([]dialect.Field{{Key: "a", Raw: `1`}, {Key: "b", Raw: `3`}, {Key: "c", Raw: `4`}, {Key: "b", Raw: `5`}}); err != nil || string(got) != `{"a":1,"b":5,"c":4}` {
		t.Errorf("%s, %v", got, err)
	}
	for _, raw := range []string{` 1`, `1 `, `1,"x":2`, ``, `1}`} { // more or less than the value of a member
		if got, err := new(builder).build([]dialect.Field{{Key: "a", Raw: raw}, {Key: "b", Raw: `2`}}); err == nil {
			t.Errorf("set a member to %q: %s", raw, got)
		}
	}
	// With a duplicate key, the first field is set, but readers use the last one, so it is an
	// error.
	if got, err := new(builder).setField([]byte(`{"k":1,"k":2}`), dialect.Field{Key: "k", Raw: `3`}); err == nil && source.NewValue(got, 0).Get("k").Is("3") {
		t.Errorf("duplicate keys: %s", got)
	}
}

// TestBytes: repairs of the bytes of records.
func TestBytes(t *testing.T) {
	at := func(text, part string) source.Span {
		i := int64(strings.Index(text, part))
		return source.Span{Start: i, End: i + int64(len(part))}
	}
	doDropRecord := func(s source.Span) operation.Action { return &operation.DropRecord{At: s} }
	doDropBytes := func(s source.Span) operation.Action { return &operation.DropBytes{At: s} }
	doEscapeNewlines := func(s source.Span) operation.Action { return &operation.EscapeNewlines{At: s} }
	doReplaceBytes := func(s source.Span) operation.Action { return &operation.ReplaceBytes{At: s} }
	for _, c := range []struct {
		name, text, part string
		do               func(source.Span) operation.Action
		want             string
	}{
		{"a line", "{1}\n{2}\n{3}\n", "{2}", doDropRecord, "{1}\n{3}\n"},
		{"the last line", "{1}\n{2", "{2", doDropRecord, "{1}"},
		{"the last line, ended", "{1}\n{2\n", "{2", doDropRecord, "{1}\n"},
		{"the first line", "\ufeff{1}\r\n{2}\r\n", "{1}", doDropRecord, "\ufeff{2}\r\n"},
		{"the only line", "{1", "{1", doDropRecord, ""},
		{"a prefix", "{1\n{\"a{2}\n", "{\"a", doDropBytes, "{1\n{2}\n"},
		{"NULs on a line", "{1}\n\x00\x00\n{2}\n", "\x00\x00", doDropBytes, "{1}\n{2}\n"},
		{"NULs on a CRLF line", "{1}\r\n\x00\x00\r\n{2}\r\n", "\x00\x00", doDropBytes, "{1}\r\n{2}\r\n"},
		{"NULs at the end", "{1}\n\x00\x00", "\x00\x00", doDropBytes, "{1}\n"},
		{"a raw line feed", "{\"a\":\"x\ny\r\nz\",\n\"b\":1}", "{\"a\":\"x\ny\r\nz\",\n\"b\":1}", doEscapeNewlines, "{\"a\":\"x\\ny\\r\\nz\",\n\"b\":1}"},
		{"bytes that are no text", "{\"a\xff\":\"\xc3(é\xed\xa0\x80\"}", "{\"a\xff\":\"\xc3(é\xed\xa0\x80\"}", doReplaceBytes, "{\"a\uFFFD\":\"\uFFFD(é\uFFFD\uFFFD\uFFFD\"}"},
		{"halves", `{"a":"\ud83d\ude00\ud83d \ude00\\ud800\ud83d\ud83d\ude00"}`, `{"a":"\ud83d\ude00\ud83d \ude00\\ud800\ud83d\ud83d\ude00"}`, doReplaceBytes, `{"a":"\ud83d\ude00\ufffd \ufffd\\ud800\ufffd\ud83d\ude00"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tears := Tears{Source: source.FromBytes("t", []byte(c.text))}
			f, ok, err := tears.Bytes(&operation.Operation{Do: c.do(at(c.text, c.part))})
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if got := apply(c.text, f.Edits); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestRenderDense: in a style without white space a compact text is unchanged, and other
// texts lose the white space outside of strings.
func TestRenderDense(t *testing.T) {
	st := styleOf(source.NewValue([]byte(`{"a":1,"b":2}`), 0))
	for text, want := range map[string]string{
		`{"a b":[1,{"c":"d \" e"}],"f\\":"g "}`:        `{"a b":[1,{"c":"d \" e"}],"f\\":"g "}`,
		`{"a b": [1,{"c":"d \" e"} ],"f\\":"g "}`:      `{"a b":[1,{"c":"d \" e"}],"f\\":"g "}`,
		"{\"a\":[1,\n2],\"b\":{\"c\" :\t[ ],\"d\":0}}": `{"a":[1,2],"b":{"c":[],"d":0}}`,
	} {
		if got := string(render([]byte(text), st, 0)); got != want {
			t.Errorf("%s became\n%s, not\n%s", text, got, want)
		}
	}
}

// TestForms: a form keeps only the keys of an object.
func TestForms(t *testing.T) {
	b := new(builder)
	for i := range 3 * mostSkeletons {
		for _, raw := range []string{`"x"`, `[1,{"a":2}]`, `"x"`} {
			one, two := string(rune('a'+i)), string(rune('a'+(i*7)%(2*mostSkeletons)))
			got, err := b.build([]dialect.Field{{Key: one + ".", Raw: raw}, {Key: "key", Raw: "1"}, {Key: two, Raw: "null"}, {Key: "key", Raw: "2"}})
			if want := `{"` + one + `.":` + raw + `,"key":2,"` + two + `":null}`; err != nil || string(got) != want {
				t.Errorf("%s, %v, not %s", got, err, want)
			}
		}
		for _, raw := range []string{"", `1,"z":2`, "}", "1}", `"`, "tru", " 1", "1 "} {
			fields := []dialect.Field{{Key: string(rune('a'+i)) + ".", Raw: "1"}, {Key: "key", Raw: raw}}
			if got, err := b.build(fields); err == nil {
				t.Errorf("%q became %s", raw, got)
			}
		}
	}
	if len(b.skeletons) > mostSkeletons {
		t.Errorf("%d skeletons are kept", len(b.skeletons))
	}
}
