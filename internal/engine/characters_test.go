package engine

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestExcerptsOfCharacters: no excerpt begins or ends inside a character, and neither does the
// part of it that is marked, wherever the reading ends.
func TestExcerptsOfCharacters(t *testing.T) {
	for pad := range 12 {
		many := strings.Repeat("x", pad) + strings.Repeat("é日👩", 60)
		for _, text := range []string{
			// A mark in the middle of a line, one that is longer than what is read, and one
			// at which the line ends.
			fmt.Sprintf(`[{"role":"assistant","content":[{"x":%q,"type":"tool_use","id":"c1","name":"ls","input":{},"y":%q}]},{"role":"user","content":"q"}]`, many, many),
			fmt.Sprintf(`[{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"ls","input":{}}]},{"role":"user","content":%q}]`, many, many),
			fmt.Sprintf("{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":%q, 日}\n{\"role\":\"user\",\"content\":\"q\"}", many),
			fmt.Sprintf("{\"role\":\"user\",\"content\":\"q\"}\n{\"role\":%q, ", many),
		} {
			rep := check(t, "s", []byte(text), Options{Excerpts: true})
			if rep.Findings.Len() == 0 {
				t.Fatalf("nothing is found in %s", text)
			}
			for f := range rep.Findings.All() {
				for _, e := range append([]Excerpt{f.Excerpt}, f.RelatedExcerpts...) {
					for _, part := range [][]byte{e.Text[:e.Mark[0]], e.Text[e.Mark[0]:e.Mark[1]], e.Text[e.Mark[1]:]} {
						if !utf8.Valid(part) {
							t.Errorf("%s: the excerpt %q with the mark %v cuts a character", f.Rule.Name, e.Text, e.Mark)
						}
					}
				}
			}
		}
	}
}

// TestExcerptOfBytes: bytes that are not UTF-8 are shown, also where the reading ends.
func TestExcerptOfBytes(t *testing.T) {
	text := "{\"role\":\"user\",\"content\":\"" + strings.Repeat("x", 60) + strings.Repeat("\x80", excerptAfter) + "\"}\n"
	rep := check(t, "s", []byte(text), Options{Excerpts: true})
	for f := range rep.Findings.All() {
		if want := text[:int(f.Span.Start)+excerptAfter]; f.Rule.Name != "invalid-utf8" || string(f.Excerpt.Text) != want {
			t.Errorf("%s: got %q, want %q", f.Rule.Name, f.Excerpt.Text, want)
		}
	}
}

// TestPlaceOfBadArguments: the character at which arguments stop being JSON is marked whole, as
// it is written.
func TestPlaceOfBadArguments(t *testing.T) {
	for _, tt := range []struct{ arguments, marked string }{
		{`{日}`, "日"},
		{`{\u65e5}`, `\u65e5`},
		{`{\"a\": 👩}`, "👩"},
		{`{\ud83d\udc69}`, `\ud83d\udc69`},
		{`{\n\tx}`, "x"},
		{`{\"a\":\n}`, "}"},
		{`{\"a\":\"\n\"}`, `\n`},
		{`{\"a\": `, ""},
	} {
		text := `[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"` + tt.arguments + `"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]`
		rep := check(t, "s", []byte(text), Options{Excerpts: true})
		for f := range rep.Findings.All() {
			if got := text[f.Span.Start:f.Span.End]; f.Rule.Name != "arguments-invalid-json" || got != tt.marked {
				t.Errorf("%s: %s marks %q, want %q", tt.arguments, f.Rule.Name, got, tt.marked)
			}
		}
		if rep.Findings.Len() != 1 {
			t.Errorf("%s: %d findings", tt.arguments, rep.Findings.Len())
		}
	}
}
