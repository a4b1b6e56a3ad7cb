package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/golden"
	"github.com/toolguard/toolguard/internal/rules"
)

// A broken is a transcript with one or two defects, as compact JSON: a document, or one value
// a line.
type broken struct {
	name  string
	lines bool
	text  string
	opts  FixOptions
}

var brokens = []broken{
	{name: "chat array, missing", text: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"b"},{"role":"user","content":"and?"}]`},
	{name: "chat object, late", text: `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"and?"},{"role":"tool","tool_call_id":"c1","content":"a"},{"role":"user","content":"so?"}]}`},
	{name: "chat lines, missing", lines: true, text: `{"role":"user","content":"go"}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}
{"role":"user","content":"and?"}`},
	{name: "chat lines, orphan at the end", lines: true, opts: FixOptions{Unsafe: true}, text: `{"role":"user","content":"go"}
{"role":"assistant","content":"hm"}
{"role":"tool","tool_call_id":"c1","content":"a"}`},
	{name: "chat conversations", lines: true, opts: FixOptions{Options: Options{Strategy: map[string]string{"missing-tool-result": "insert"}}}, text: `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"and?"}]}
{"messages":[{"role":"user","content":"b"},{"role":"assistant","content":"B"}]}`},
	{name: "chat, strip a call", opts: FixOptions{Unsafe: true, Options: Options{Strategy: map[string]string{"missing-tool-result": "strip"}}}, text: `[{"role":"user","content":"go"},{"role":"assistant","content":"Two.","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c2","content":"b"},{"role":"assistant","content":"One.","tool_calls":[{"id":"c3","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"user","content":"and?"}]`},
	{name: "chat, no ids", text: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","content":"b"},{"role":"assistant","content":"ok","tool_calls":[]}]`},
	{name: "anthropic array, one of two", text: `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}},{"type":"tool_use","id":"t2","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"b"}]},{"role":"assistant","content":[{"type":"text","text":"ok"}]}]`},
	{name: "anthropic object, before text", text: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},{"role":"user","content":"and?"},{"role":"assistant","content":"ok"}]}`},
	{name: "anthropic array, no message", text: `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},{"role":"assistant","content":[{"type":"text","text":"ok"}]}]`},
	{name: "anthropic array, split and behind text", text: `[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}},{"type":"tool_use","id":"t2","name":"ls","input":{}}]},{"role":"user","content":[{"type":"text","text":"first"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"b"}]}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]},{"role":"assistant","content":"ok"}]`},
	{name: "anthropic lines, orphan", lines: true, opts: FixOptions{Unsafe: true}, text: `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t0","content":"b"},{"type":"text","text":"hey"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t1","content":"a"}]}`},
	{name: "responses input, missing", text: `{"model":"m","input":[{"type":"message","role":"user","content":"go"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"},{"type":"message","role":"user","content":"and?"}]}`},
	{name: "responses array, duplicate and orphan", opts: FixOptions{Unsafe: true}, text: `[{"type":"function_call_output","call_id":"c0","output":"x"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"},{"type":"function_call_output","call_id":"c1","output":"a"}]`},
	{name: "claude code, missing", lines: true, text: `{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"user","message":{"role":"user","content":"go"},"uuid":"u1","timestamp":"2026-02-08T17:00:01.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},"requestId":"r1","uuid":"u2","timestamp":"2026-02-08T17:00:02.000Z"}
{"parentUuid":"u2","isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"user","message":{"role":"user","content":"and?"},"uuid":"u3","timestamp":"2026-02-08T17:00:03.000Z"}`},
	{name: "claude code, orphan", lines: true, opts: FixOptions{Unsafe: true}, text: `{"parentUuid":null,"isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"user","message":{"role":"user","content":"go"},"uuid":"u1","timestamp":"2026-02-08T17:00:01.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"x"}]},"uuid":"u2","timestamp":"2026-02-08T17:00:02.000Z"}
{"parentUuid":"u2","isSidechain":false,"cwd":"/w","sessionId":"s","version":"2","type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"ok"}]},"uuid":"u3","timestamp":"2026-02-08T17:00:03.000Z"}`},
}

// A writing is one way to format a transcript.
type writing struct {
	name  string
	write func(b broken) string
}

func indented(by string) func(b broken) string {
	return func(b broken) string {
		if b.lines {
			return b.text + "\n"
		}
		var out bytes.Buffer
		_ = json.Indent(&out, []byte(b.text), "", by)
		return out.String() + "\n"
	}
}

// spaced inserts text after the colons and commas between tokens.
func spaced(text, colon, comma string) string {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			out.WriteByte(c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ':':
			out.WriteString(colon)
			continue
		case c == ',':
			out.WriteString(comma)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

var writings = []writing{
	{"compact", func(b broken) string { return b.text + "\n" }},
	{"two spaces", indented("  ")},
	{"four spaces", indented("    ")},
	{"tabs", indented("\t")},
	{"CRLF", func(b broken) string { return strings.ReplaceAll(indented("  ")(b), "\n", "\r\n") }},
	{"python", func(b broken) string { return spaced(b.text, ": ", ", ") + "\n" }},
	{"no final line end", func(b broken) string { return strings.TrimSuffix(indented("  ")(b), "\n") }},
	{"BOM", func(b broken) string { return "\ufeff" + b.text + "\n" }},
	{"blank lines", func(b broken) string {
		if b.lines {
			return strings.ReplaceAll(b.text, "\n", "\n\n") + "\n\n"
		}
		return "\n" + b.text + "\n\n"
	}},
	{"odd", func(b broken) string { return spaced(b.text, " :", " , ") + "\n" }},
	{"an element a line", func(b broken) string {
		if b.lines {
			return b.text + "\n"
		}
		return strings.ReplaceAll(b.text, `},{"role"`, "},\n "+`{"role"`) + "\n"
	}},
}

// edited shows the removed and inserted bytes, each with a few bytes around it.
func edited(text []byte, f *Fixed) string {
	var b strings.Builder
	show := func(s []byte) string {
		return strings.Map(func(r rune) rune {
			if r == '\ufeff' || !unicode.IsPrint(r) && r != '\n' && r != '\r' && r != '\t' {
				return '?'
			}
			return r
		}, string(s))
	}
	for _, e := range f.Pieces.Edits() {
		lo, hi := max(0, e.Span.Start-12), min(int64(len(text)), e.Span.End+12)
		fmt.Fprintf(&b, "    %d: %q", e.Span.Start, show(text[lo:e.Span.Start]))
		if e.Span.Len() > 0 {
			fmt.Fprintf(&b, " -%q", show(text[e.Span.Start:e.Span.End]))
		}
		if len(e.Text) > 0 {
			fmt.Fprintf(&b, " +%q", show(e.Text))
		}
		fmt.Fprintf(&b, " %q\n", show(text[e.Span.End:hi]))
	}
	return b.String()
}

// TestFixLayouts: a repair has the format of the text around it and changes nothing else. The
// edits are in a golden file.
func TestFixLayouts(t *testing.T) {
	var got strings.Builder
	for _, b := range brokens {
		var plain string
		for _, w := range writings {
			text := []byte(w.write(b))
			fault, out, f := misfixed(b.name, text, b.opts)
			if fault != "" {
				t.Errorf("%s, %s: %s", b.name, w.name, fault)
				continue
			}
			if !f.Changed() {
				t.Errorf("%s, %s: unchanged:\n%s", b.name, w.name, render(f.After))
				continue
			}
			fmt.Fprintf(&got, "%s, %s\n%s", b.name, w.name, edited(text, f))
			// The result is the same in every format.
			var same strings.Builder
			var v bytes.Buffer
			out = bytes.TrimPrefix(out, []byte("\ufeff"))
			if json.Compact(&v, out) == nil {
				same.Write(v.Bytes())
			} else {
				for line := range bytes.Lines(out) {
					v.Reset()
					if len(bytes.TrimSpace(line)) > 0 && json.Compact(&v, line) != nil {
						t.Errorf("%s, %s: not JSON: %s", b.name, w.name, line)
					}
					same.Write(v.Bytes())
					same.WriteByte('\n')
				}
			}
			s := strings.ReplaceAll(strings.Trim(same.String(), "\n"), "\n\n", "\n")
			if plain == "" {
				plain = s
			} else if plain != s {
				t.Errorf("%s, %s:\n%s", b.name, w.name, cmp.Diff(plain, s))
			}
		}
	}
	golden.File(t, filepath.Join("testdata", "layouts.golden"), got.String())
}

// TestInsertedThenDropped: a placeholder that is inserted, and dropped as an orphan after its
// call is gone, leaves the bytes unchanged.
func TestInsertedThenDropped(t *testing.T) {
	for _, w := range writings {
		for _, b := range []broken{brokens[0], brokens[7], brokens[12]} {
			text := []byte(w.write(b))
			with, f := fixText(t, b.name, text, FixOptions{Options: Options{Rules: []*rules.Rule{rules.ByName("missing-tool-result")}}})
			if !f.Changed() {
				t.Fatalf("%s: unchanged", b.name)
			}
			// The id of the placeholder is changed, so that it answers no call.
			before, _, _ := bytes.Cut(with, []byte("[toolguard]"))
			id := bytes.LastIndex(before, []byte(`"c`))
			if i := bytes.LastIndex(before, []byte(`"t`)); strings.HasPrefix(b.name, "anthropic") {
				id = i
				for !bytes.HasPrefix(with[id:], []byte(`"t1"`)) && !bytes.HasPrefix(with[id:], []byte(`"t2"`)) {
					id = bytes.LastIndex(with[:id], []byte(`"t`))
				}
			} else {
				for !bytes.HasPrefix(with[id:], []byte(`"c1"`)) && !bytes.HasPrefix(with[id:], []byte(`"c2"`)) {
					id = bytes.LastIndex(with[:id], []byte(`"c`))
				}
			}
			orphan := bytes.Clone(with)
			orphan[id+2] = '9'
			back, _ := fixText(t, b.name, orphan, FixOptions{Unsafe: true, Options: Options{Rules: []*rules.Rule{rules.ByName("orphan-tool-result")}}})
			if !bytes.Equal(back, text) {
				t.Errorf("%s, %s:\n%s", b.name, w.name, cmp.Diff(string(text), string(back)))
			}
		}
	}
}
