package engine

import (
	"strings"
	"testing"
)

// TestBooksInLists: bookkeeping records at the start of a list of messages hide no messages,
// however many there are.
func TestBooksInLists(t *testing.T) {
	t.Parallel()
	const messages = `{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"user","content":"n"}`
	for _, book := range []string{`{"kind":"note"}`, `{"type":"note"}`, `{}`, `"x"`, `7`, `{"role":"session_meta"}`} {
		for _, n := range []int{0, 1, 3, 8, 9, 15, 16, 17, 40, 1000} {
			for _, doc := range []string{`{"messages":[%]}`, `[%]`, `{"a":{"b":[%]}}`} {
				text := strings.Replace(doc, "%", strings.Repeat(book+",", n)+messages, 1)
				rep := check(t, "f", []byte(text), Options{})
				missing := 0
				for f := range rep.Findings.All() {
					if f.Rule.Name == "missing-tool-result" {
						missing++
					}
				}
				if rep.Calls != 1 || missing != 1 {
					t.Errorf("%d times %s in %s: %s", n, book, doc, render(rep))
				}
			}
		}
	}
}
