package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/hostile"
)

// TestFindingsWithoutReflection writes findings with and without reflection. All fields of the first one
// are set, so that a new field cannot be forgotten.
func TestFindingsWithoutReflection(t *testing.T) {
	t.Parallel()
	n, text := 7, "text"
	full := jsonFinding{
		Rule: "r", Category: "c", Severity: "error", Message: "m", URL: "u", Path: "p", Dialect: &text, Conversation: &n, Turn: &n, Index: &n,
		Place: &text, Record: 3, Pointer: "/a", CallID: &text, Tool: &text, Start: jsonPosition{1, 2, 3}, End: jsonPosition{4, 5, 6},
		ProviderError: &text, Confidence: &text, Related: []jsonRelated{{"x", jsonPosition{7, 8, 9}, jsonPosition{10, 11, 12}}, {}}, Fingerprint: "f",
		Fix: &jsonFix{"t", "safe", "op1", true, []jsonEdit{{1, 2, "a"}, {3, 4, "b"}}}, Unfixed: &text,
	}
	for i, v := 0, reflect.ValueOf(full); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set", v.Type().Field(i).Name)
		}
	}
	all := []jsonFinding{full, {}, {Related: []jsonRelated{}, Fix: &jsonFix{}}, {Fix: &jsonFix{Edits: []jsonEdit{}}}}
	texts := []string{
		"", "plain", `"quoted" \ and \\`, "a\nb\r\nc\td\bе\f", "#", "##", "a##b", "#\u200b#", "<&>", "\u2028\u2029", "\x00\x1b[31m\x7f\u0085",
		"\xff\xfe", "\xed\xa0\x80", "héllo 🙂", "\U000e0001", "\ufffd", "::error::x", strings.Repeat("a\"", 500) + "\xc3",
	}
	for _, s := range append(texts, hostile.Texts()...) {
		f := full
		f.Message, f.CallID, f.Fix = s, &s, &jsonFix{Title: s, Edits: []jsonEdit{{Text: s}}}
		all = append(all, f)
	}
	var e encoder
	for _, f := range all {
		want, err := encode(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.writeFinding("", &f); string(got) != string(want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if want, err = encode(jsonlFinding{"finding", f}); err != nil {
			t.Fatal(err)
		}
		if got := e.writeFinding("finding", &f); string(got) != string(want) {
			t.Errorf("in JSONL: got %s\nwant %s", got, want)
		}
	}
}

// TestPlainTo: each byte is found at each place, between any others.
func TestPlainTo(t *testing.T) {
	plain := func(c byte) bool { return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '#' }
	for c := range 256 {
		for at := range 20 {
			for _, around := range []byte{'a', '!', '$', ' ', '~', '['} {
				text := bytes.Repeat([]byte{around}, 20)
				text[at] = byte(c)
				for next := range 256 {
					if at+1 < len(text) {
						text[at+1] = byte(next)
					}
					want := 0
					for want < len(text) && plain(text[want]) {
						want++
					}
					if got := plainTo(string(text), 0); got != want {
						t.Fatalf("%q: %d, want %d", text, got, want)
					}
				}
			}
		}
	}
}
