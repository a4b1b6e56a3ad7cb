package repair

import (
	"strings"
	"testing"

	"github.com/toolguard/toolguard/internal/dialect"
	"github.com/toolguard/toolguard/internal/edit"
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
	p := &Plan{Source: src, Conv: conv, Dialect: dialect.Pi, Log: NewLog(src, format, source.Span{}), driver: dialect.Pi.Driver.(dialect.Writer), src: &window{src: src}, Memory: &Memory{}}
	d := p.draft()
	do(d.log())
	f, ok, err := d.fix(true)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := new(edit.Set).ProveAlone(&f, src); err != nil {
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

// TestRecordAt looks up every offset of logs, also behind their end: with an index, without
// one, and in the records as they are read.
func TestRecordAt(t *testing.T) {
	const one, two = `{"uuid":"a","parentUuid":null,"a":{"b":1,"b":2}}`, `{"uuid":"b","parentUuid":"a"}`
	for name, text := range map[string]string{
		"no line end":      one + "\n" + two,
		"a line end":       one + "\n" + two + "\n",
		"CR LF":            one + "\r\n" + two + "\r\n",
		"blank lines":      "\n" + one + "\n\n \t\n  " + two + "  \n\n\n",
		"byte order mark":  "\ufeff" + one + "\n" + two + "\n",
		"on one line":      one + two + "\n" + one + " " + two,
		"torn":             one + "\n" + two[:12] + "\n" + one + "\n",
		"torn at the end":  one + "\n" + two[:12],
		"one record":       one,
		"nothing":          "",
		"only white space": " \n\n",
		"an array":         "[\n " + one + " ,\n" + two + "\n ]\n",
	} {
		src := source.FromBytes("log", []byte(text))
		array := source.Span{}
		if name == "an array" {
			array = source.Span{End: int64(strings.LastIndex(text, "]")) + 1}
		}
		plain, indexed := NewLog(src, dialect.ClaudeCode.Log, array), NewLog(src, dialect.ClaudeCode.Log, array)
		var records []source.Span
		for rec, err := range plain.records() {
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, rec.Span)
		}
		if err := indexed.index(); err != nil {
			t.Fatal(err)
		}
		for off := int64(0); off < int64(len(text))+3; off++ {
			want := source.Span{}
			for _, r := range records {
				if r.Start <= off && off < r.End {
					want = r
				}
			}
			if got := plain.recordAt(off); got != want {
				t.Errorf("%s, offset %d: %v without an index, want %v", name, off, got, want)
			}
			if got := indexed.recordAt(off); got != want {
				t.Errorf("%s, offset %d: %v with an index, want %v", name, off, got, want)
			}
		}
	}
}
