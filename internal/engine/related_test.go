package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolguard/toolguard/internal/source"
)

// TestRelated: a finding shows the other place that it speaks of. A call without a result
// shows where the conversation goes on, and an orphan shows the call before it.
func TestRelated(t *testing.T) {
	t.Parallel()
	const (
		user  = `{"role":"user","content":"q"}`
		two   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}},{"type":"tool_use","id":"c2","name":"ls","input":{}}]}`
		one   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a"}]}`
		gone  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c0","content":"a"}]}`
		reply = `{"role":"assistant","content":"So."}`
	)
	for _, tt := range []struct{ name, text, want string }{
		{
			"no result at all", `[` + user + ",\n" + two + ",\n" + user + `]`,
			`missing-tool-result 2:56: the conversation goes on here: 3:9 "user"
missing-tool-result 2:109: the conversation goes on here: 3:9 "user"
`,
		},
		{
			"one of two results", `[` + user + ",\n" + two + ",\n" + one + ",\n" + reply + `]`,
			`missing-tool-result 2:109: the conversation goes on here: 4:9 "assistant"
`,
		},
		{
			"two turns", `[` + user + ",\n" + two + ",\n" + user + ",\n" + two + ",\n" + reply + `]`,
			`missing-tool-result 2:56: the conversation goes on here: 3:9 "user"
missing-tool-result 2:109: the conversation goes on here: 3:9 "user"
missing-tool-result 4:56: the conversation goes on here: 5:9 "assistant"
reused-call-id 4:56: the first use is here: 2:56 "c1"
missing-tool-result 4:109: the conversation goes on here: 5:9 "assistant"
reused-call-id 4:109: the first use is here: 2:109 "c2"
`,
		},
		{
			"nothing behind", `[` + user + ",\n" + two + `]`,
			"",
		},
		{
			"a result for another call", `[` + user + ",\n" + two + ",\n" + one + ",\n" + reply + ",\n" + gone + `]`,
			`missing-tool-result 2:109: the conversation goes on here: 4:9 "assistant"
orphan-tool-result 5:63: the last call before it is here: 2:109 "c2"
`,
		},
		{
			"a result before any call", `[` + gone + ",\n" + reply + ",\n" + two + `]`,
			"",
		},
	} {
		var got strings.Builder
		rep := check(t, tt.name, []byte(tt.text), Options{Excerpts: true})
		for f := range rep.Findings.All() {
			for i, r := range f.Related {
				e := f.RelatedExcerpts[i]
				fmt.Fprintf(&got, "%s %d:%d: %s: %d:%d %s\n", f.Rule.Name, f.Start.Line, f.Start.Column,
					r.Message, f.RelatedAt[2*i].Line, f.RelatedAt[2*i].Column, e.Text[e.Mark[0]:e.Mark[1]])
			}
		}
		if diff := cmp.Diff(tt.want, got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestPlacesOfFixes: each repair says which part of the original it changes, in whichever
// round it was made.
func TestPlacesOfFixes(t *testing.T) {
	t.Parallel()
	src := source.FromBytes("s", []byte(`{"role":"user","content":"q"}
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}
{"role":"user","content":"well?"}
`+"\x00\x00\n"))
	f, err := Settle(t.Context(), src, FixOptions{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, r := range f.Repairs {
		for _, at := range f.Places[r.Fix] {
			b, err := src.Bytes(at)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%s %d %q\n", r.Title, at.Start, b)
		}
	}
	const want = `remove the NUL bytes 150 "\x00\x00\n"
insert a placeholder result into messages.2 141 "\"well?\""
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
