package repair

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// TestLogRenumber: a compaction that gives the number of its first kept record still means
// the same record after records before it were inserted or removed.
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
		do   func(*chain)
		want string
	}{
		{func(c *chain) {
			at := int64(strings.Index(text, "toolCall"))
			c.inserted = []insertion{{behind: at, call: at, message: []byte(`{"role":"toolResult","toolCallId":"c1","content":[]}`), id: `"c1"`}}
		}, with},
		{func(c *chain) { c.removed = []int64{int64(strings.Index(text, `"user"`))} }, without},
	} {
		if got := changed(t, text, dialect.Pi.Log, tt.do); got != tt.want {
			t.Error(got)
		}
	}
}

// changed returns a log after changes.
func changed(t *testing.T, text string, format *dialect.Log, do func(*chain)) string {
	t.Helper()
	src := source.FromBytes("s", []byte(text))
	conv := &transcript.Conversation{Turns: 1, Messages: make([]transcript.Message, 1), Calls: make([]transcript.Call, 1)}
	p := &Plan{Source: src, Conv: conv, Dialect: dialect.Pi, Log: NewLog(src, format, source.Span{}), driver: dialect.Pi.Driver.(dialect.Writer), src: &window{src: src}}
	d := p.draft()
	do(d.log())
	f, ok, err := d.fix(true)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := f.Prove(src); err != nil {
		t.Fatal(err)
	}
	return apply(text, f.Edits)
}

// TestLogWithoutIDs: a record without an id gets its result right after it, and neither has
// children.
func TestLogWithoutIDs(t *testing.T) {
	const call = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}}` + "\n"
	const user = `{"type":"user","message":{"role":"user","content":"and?"}}` + "\n"
	const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}`
	got := changed(t, call+user, dialect.ClaudeCode.Log, func(c *chain) {
		c.inserted = []insertion{{message: []byte(result), id: `"c1"`}}
	})
	if want := call + `{"type":"user","message":` + result + "}\n" + user; got != want {
		t.Error(got)
	}
}
