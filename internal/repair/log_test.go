package repair

import (
	"io"
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/edit"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A compaction that names by number the first record that it keeps names the
// same one when records before it come or go.
func TestLogRenumber(t *testing.T) {
	const text = `{"type":"session","cwd":"/w"}
{"type":"message","message":{"role":"user","content":"a"}}
{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"timestamp":7}}
{"type":"message","message":{"role":"user","content":"b"}}
{"type":"compaction","firstKeptEntryIndex":3}
`
	const with = `{"type":"session","cwd":"/w"}
{"type":"message","message":{"role":"user","content":"a"}}
{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"timestamp":7}}
{"type":"message","message":{"role":"toolResult","toolCallId":"c1","content":[],"timestamp":7}}
{"type":"message","message":{"role":"user","content":"b"}}
{"type":"compaction","firstKeptEntryIndex":4}
`
	const without = `{"type":"session","cwd":"/w"}
{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"ls","arguments":{}}],"timestamp":7}}
{"type":"message","message":{"role":"user","content":"b"}}
{"type":"compaction","firstKeptEntryIndex":2}
`
	for _, tt := range []struct {
		do   func(*Log)
		want string
	}{
		{func(l *Log) {
			at := int64(strings.Index(text, "toolCall"))
			l.insert = []insertion{{behind: at, call: at, message: []byte(`{"role":"toolResult","toolCallId":"c1","content":[]}`), id: `"c1"`}}
		}, with},
		{func(l *Log) { l.removed[int64(strings.Index(text, `"user"`))] = true }, without},
	} {
		src := transcript.FromBytes("s", []byte(text))
		l := NewLog(src, dialect.Pi.Log, transcript.Span{})
		tt.do(l)
		edits, err := l.Compile()
		if err != nil {
			t.Fatal(err)
		}
		p, err := edit.Apply(src, edits)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
		if err != nil || string(got) != tt.want {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

// A record without an id gets its result right behind it, and nothing hangs on
// either.
func TestLogWithoutIDs(t *testing.T) {
	const call = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}}` + "\n"
	const user = `{"type":"user","message":{"role":"user","content":"and?"}}` + "\n"
	const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}`
	src := transcript.FromBytes("s", []byte(call+user))
	l := NewLog(src, dialect.ClaudeCode.Log, transcript.Span{})
	l.insert = []insertion{{message: []byte(result), id: `"c1"`}}
	edits, err := l.Compile()
	if err != nil {
		t.Fatal(err)
	}
	p, err := edit.Apply(src, edits)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size()))
	if want := call + `{"type":"user","message":` + result + "}\n" + user; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
