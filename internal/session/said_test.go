package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/source"
)

// TestSaid: texts are read as JSON has them, also if only the beginning is there.
func TestSaid(t *testing.T) {
	t.Parallel()
	const whole = `"a\u00e9\ud83d\ude00\\\"\n é😀z"`
	var want string
	if err := json.Unmarshal([]byte(whole), &want); err != nil {
		t.Fatal(err)
	}
	if got := Said([]byte(whole), false); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for n := 1; n < len(whole); n++ {
		got := strings.TrimRight(Said(source.WholeCharacters([]byte(whole[:n])), true), "�")
		if !strings.HasPrefix(want, got) {
			t.Errorf("%q: got %q", whole[:n], got)
		}
	}
	for _, tt := range []struct {
		raw  string
		cut  bool
		want string
	}{
		{`{"command":"ls -l\n /"}`, false, "ls -l /"},
		{`{"path":"a b","n":3}`, false, `path="a b" n=3`},
		{`"{\"cmd\":\"ls\"}"`, false, "ls"},
		{`{"command":"cat /long\u00`, true, "cat /long"},
		{`"{\"cmd\":\"ls \\`, true, "ls"},
		{`[1,2]`, false, "[1,2]"},
		{`{}`, false, ""},
		{`{"command":"go test\n./..."}`, false, "go test ./..."},
		{`{"command":"a","text":"bc`, true, "command=a text=bc"},
		{`"{\"command\":`, true, `{"command":`},
		{`"{broken"`, false, "{broken"},
		{`{broken}`, false, "{broken}"},
		{`"plain"`, false, "plain"},
		{``, false, ""},
		{`"`, true, ""},
	} {
		if got := Arguments([]byte(tt.raw), tt.cut); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.raw, got, tt.want)
		}
	}
}

// TestGist: of a list of texts, the first one is shown.
func TestGist(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  string
		cut  bool
		want string
	}{
		{`"a\n\tb \u00e9"`, false, "a b é"},
		{`"ab`, true, "ab"},
		{`[{"type":"text","text":"a\nb"},{"type":"text","text":"c"}]`, false, "a b"},
		{`[{"type":"text","text":"a\nb`, true, "a b"},
		{`[{"type":"image"}]`, false, `[{"type":"image"}]`},
		{`{"a":1}`, false, `{"a":1}`},
		{``, false, ""},
	} {
		if got := Gist([]byte(c.raw), c.cut); got != c.want {
			t.Errorf("%s: %q, want %q", c.raw, got, c.want)
		}
	}
}
