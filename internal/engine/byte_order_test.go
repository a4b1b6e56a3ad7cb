package engine

import (
	"strings"
	"testing"
)

// TestByteOrderMarks: a byte order mark at the start of a line, as in concatenated files,
// hides nothing.
func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	const mark = "\xef\xbb\xbf"
	lines := []string{
		`{"role":"user","content":"a"}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"x"}`,
		`{"role":"assistant","content":"b"}`,
	}
	for _, sep := range []string{"\n", "\n" + mark, "\r\n" + mark + " ", "\n" + mark + "\n"} {
		text := mark + strings.Join(lines, sep) + "\n"
		rep := check(t, "f", []byte(text), Options{})
		if rep.Calls != 1 || rep.Results != 1 || rep.Findings.Len() > 0 {
			t.Errorf("%q between lines: %s", sep, render(rep))
		}
	}
	rep := check(t, "f", []byte(lines[0]+"\n\xef\xbb"+lines[1]+"\n"), Options{})
	if rep.Findings.Len() == 0 {
		t.Errorf("half a mark: %s", render(rep))
	}
}

// TestNoList: a value that is neither a list of calls nor a call is ignored.
func TestNoList(t *testing.T) {
	t.Parallel()
	const text = `[{"id":"u","role":"user","parts":[{"type":"text","text":"q"}],"toolInvocations":{"a":1}},
		{"id":"a","role":"assistant","parts":[{"type":"tool-ls","toolCallId":"c1","state":"output-available","input":{},"output":"x"}]}]`
	if rep := check(t, "f", []byte(text), Options{}); rep.File.Dialect != "ai-sdk-ui" || rep.Calls != 1 || rep.Findings.Len() != 1 || rep.Findings.List()[0].Rule.Name != "unread-tool-field" {
		t.Error(render(rep))
	}
}
