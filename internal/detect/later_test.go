package detect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
)

// TestPostponed: messages that are wrapped by the elements of an array are found behind any number
// of other arrays, and before them.
func TestPostponed(t *testing.T) {
	const wrapped = `"log":[{"step":{"role":"user","content":"hi"}},{"step":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}}]`
	for _, others := range []int{0, 1, mostLater - 1, mostLater, mostLater + 1, 3 * mostLater} {
		var list strings.Builder
		for i := range others {
			fmt.Fprintf(&list, `"k%d":[{"a":{"b":1}},{"a":{"b":2}}],`, i)
		}
		rest := strings.TrimSuffix(list.String(), ",")
		for _, text := range []string{`{` + list.String() + wrapped + `}`, `{` + strings.TrimSuffix(wrapped+`,`+rest, ",") + `}`} {
			var got []string
			for _, p := range Find(dialect.Builtin(), source.NewValue([]byte(text), 0)) {
				got = append(got, p.Pointer+" "+strings.Join(p.Into, "."))
			}
			if want := "/log step"; strings.Join(got, ", ") != want {
				t.Errorf("%d other arrays: found %q, want %q", others, got, want)
			}
		}
	}
}

// TestAlone: a single message that makes a call is found in a document without other messages.
func TestAlone(t *testing.T) {
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	for text, want := range map[string]int{ // not so near to the root that the document wraps it
		"{\n\"a\":{\"b\":{\"c\":{\"answer\":" + call + "}}}}":            1,
		"{\n\"a\":{\"b\":{\"c\":{\"answer\":{\"text\":\"no calls\"}}}}}": 0,
	} {
		src := source.NewSource("a.json", strings.NewReader(text), int64(len(text)))
		v, err := Survey(src, Options{})
		if got := len(v.Places); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d places and error %v, want %d places", text, got, err, want)
		}
	}
}

// BenchmarkNothing surveys files that are no transcripts.
func BenchmarkNothing(b *testing.B) {
	many := func(n int, part func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = part(i)
		}
		return strings.Join(parts, ",")
	}
	tree := `{"type":"Name","loc":{"line":1}}`
	for range 8 {
		tree = `{"type":"Call","loc":{"line":1},"children":[` + tree + `,{"type":"Name","loc":{"line":2}}]}`
	}
	for _, file := range []struct{ name, text string }{
		{"vocabulary", `{"model":{"vocab":{` + many(1e4, func(i int) string { return fmt.Sprintf(`"w%d":%d`, i*7919, i) }) + `}}}`},
		{"objects with other keys", `[` + many(5e3, func(i int) string { return fmt.Sprintf(`{"k%d":"text","j%d":{"i%d":[1,2]}}`, i, i*31, i*17) }) + `]`},
		{"syntax trees", `{"type":"Program","body":[` + many(500, func(int) string { return tree }) + `]}`},
		{"lines of a log", strings.ReplaceAll(many(5e3, func(i int) string {
			return fmt.Sprintf(`{"level":"info","message":"text %d","request":{"method":"GET","path":"/p%d"}}`, i, i)
		}), "},{", "}\n{")},
	} {
		b.Run(file.name, func(b *testing.B) {
			b.SetBytes(int64(len(file.text)))
			for b.Loop() {
				set := dialect.Builtin().Remembering()
				_, err := Survey(source.NewSource("a.json", strings.NewReader(file.text), int64(len(file.text))), Options{Dialects: set})
				if err == nil {
					b.Fatal("it is a transcript")
				}
				set.Release()
			}
		})
	}
}
