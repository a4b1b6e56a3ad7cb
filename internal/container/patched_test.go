package container

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/detect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestPatches checks that a log of changes reads like the document it makes, with spans
// in the file.
func TestPatches(t *testing.T) {
	const begin = `{"kind":0,"v":{"sessionId":"s","requests":[]}}`
	request := func(text string) string {
		return fmt.Sprintf(`{"requestId":"r","message":{"text":%q},"response":[]}`, text)
	}
	push := func(v string) string { return `{"kind":2,"k":["requests"],"v":[` + v + `]}` }
	round := func(id string) string {
		return `{"response":"","toolCalls":[{"id":"` + id + `","name":"ls","arguments":"{}"}]}`
	}
	for name, c := range map[string]struct {
		lines []string
		want  string // the texts of the messages and calls, as written
	}{
		"nothing said":    {[]string{begin}, ""},
		"pushed":          {[]string{begin, push(request("a")), push(request("b"))}, `"a" "b"`},
		"cut and pushed":  {[]string{begin, push(request("a") + "," + request("b")), `{"kind":2,"k":["requests"],"i":1,"v":[` + request("c") + `]}`}, `"a" "c"`},
		"set deep":        {[]string{begin, push(request("a")), `{"kind":1,"k":["requests",0,"message","text"],"v":"z"}`}, `"z"`},
		"set in a string": {[]string{begin, push(request("a")), `{"kind":1,"k":["requests",0,"message","text","x"],"v":1}`}, `"a"`},
		"deleted":         {[]string{begin, push(request("a") + "," + request("b")), `{"kind":3,"k":["requests",0]}`}, `"b"`},
		"set anew":        {[]string{begin, push(request("a")), `{"kind":1,"k":["requests"],"v":[` + request("d") + `]}`}, `"d"`},
		"begun anew":      {[]string{begin, push(request("a")), begin, push(request("b"))}, `"b"`},
		"out of range":    {[]string{begin, push(request("a")), `{"kind":1,"k":["requests",7,"message"],"v":{}}`, `{"kind":3,"k":["requests",-1]}`}, `"a"`},
		"rounds set and pushed": {[]string{
			begin, push(request("a")),
			`{"kind":1,"k":["requests",0,"result"],"v":{"metadata":{}}}`,
			`{"kind":1,"k":["requests",0,"result","metadata","toolCallRounds"],"v":[` + round("c1") + `]}`,
			`{"kind":2,"k":["requests",0,"result","metadata","toolCallRounds"],"v":[` + round("c2") + `]}`,
		}, `"a" "c1" "c2"`},
		"other members": {[]string{begin, push(request("a")), `{"kind":1,"k":["inputState","inputText"],"v":"x"}`, `{"kind":3,"k":["title"]}`}, `"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(c.lines, "\n") + "\n"
			var got []string
			f, all := Read(source.FromBytes(name, []byte(text)), detect.Options{})
			for conv, err := range all {
				if err != nil {
					t.Fatal(err)
				}
				at := func(s source.Span) string { return text[s.Start:s.End] }
				for i := range conv.Messages {
					m := &conv.Messages[i]
					if m.Role == transcript.RoleUser {
						got = append(got, at(m.Span()))
					}
					if from := strings.Count(text[:m.Span().Start], "\n") + 1; from != int(m.Record) {
						t.Errorf("message %d is in line %d, but has record %d", i, from, m.Record)
					}
				}
				for i := range conv.Calls {
					got = append(got, at(conv.Calls[i].ID.Span))
				}
			}
			if f.Dialect != "vscode-chat" || f.Container != detect.ContainerFoldingLog {
				t.Fatalf("read as %s (%s)", f.Dialect, f.Container)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

// TestFaint checks that lines that could each be in another dialect are in the one that
// all of them fit.
func TestFaint(t *testing.T) {
	text := `{"type":"system","content":"You help."}
{"type":"user","content":[{"type":"text","text":"hi"}],"prompt_index":0}
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eA==","status":"completed"}
{"type":"assistant","content":"hello"}
`
	messages := 0
	f, all := Read(source.FromBytes("chat_history.jsonl", []byte(text)), detect.Options{})
	for c, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		messages += len(c.Messages)
	}
	if f.Dialect != "grok-chat" || messages != 3 {
		t.Errorf("read as %s with %d messages", f.Dialect, messages)
	}
}
