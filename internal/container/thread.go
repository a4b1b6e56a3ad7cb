package container

import (
	"bytes"
	"fmt"

	"github.com/toolguard/toolguard/internal/source"
	"github.com/toolguard/toolguard/internal/transcript"
)

// A thread is one of the interleaved conversations of a log: the main one or that of a
// sub-agent.
type thread struct {
	q    *sequence
	n    int32 // the index of the thread
	side bool
	segments
	rollbacks
	open   openCalls
	closed []openCall // with records that repeat their results, replaced in open by a later call with the same id
	// lastTurn is the turn of the last assistant message, or -1 before the first one.
	lastTurn int32
	// spoken are the indexes of the messages of lastTurn that abort has not marked.
	spoken []int32
}

// conv returns the conversation as far as it has been read.
func (t *thread) conv() *transcript.Conversation { return t.q.b.Conv }

// abort marks the last turn of the model as aborted.
func (t *thread) abort() {
	for _, i := range t.spoken {
		t.conv().Messages[i].Flags |= transcript.MessageAborted
	}
	t.spoken = t.spoken[:0]
}

// speak records that the model made the message that was read last.
func (t *thread) speak(m *transcript.Message) {
	if m.Turn != t.lastTurn {
		t.lastTurn, t.spoken = m.Turn, t.spoken[:0]
	}
	t.spoken = append(t.spoken, int32(len(t.conv().Messages)-1))
}

// mark sets what the envelope holds about the message that was just read from payload.
func (l *log) mark(t *thread, payload source.Value) {
	m := t.q.b.Message()
	if l.env.at[envHidden].True() && !l.env.at[envSummary].True() { // people do not see a summary, but the model does
		m.Flags |= transcript.MessageSuperseded
	}
	if m.Role == transcript.RoleAssistant {
		t.speak(m)
		return
	}
	if m.Role != transcript.RoleUser || l.env.at[envMeta].True() || l.env.at[envSummary].True() {
		return
	}
	c := t.conv()
	for _, b := range c.Blocks[m.BlockLo:m.BlockHi] {
		if b.Kind == transcript.BlockResult {
			if v := l.env.at[envBeside]; v.Exists() {
				c.Results[b.Ref].Beside = v.Span()
			}
			return
		}
	}
	stop, typed := l.d.Log.Interrupt, false
	for _, b := range t.q.b.Texts() {
		text, is := textIn(payload, b.Span)
		switch {
		case !is, InTags(text):
		case stop != "" && bytes.HasPrefix(text, []byte(stop)):
			t.abort() // the agent itself says that the previous turn was aborted
			l.odd = true
			return
		default:
			typed = true
		}
	}
	if !typed {
		return
	}
	m.Flags |= transcript.MessageTyped
	if len(l.d.Log.Rollback) > 0 {
		t.typed = append(t.typed, int32(len(c.Messages)-1))
	}
}

// textIn returns the text at a span of a payload.
func textIn(payload source.Value, at source.Span) ([]byte, bool) {
	if !payload.Span().Contains(at) {
		return nil, false
	}
	from := at.Start - payload.Span().Start
	text := source.NewValue(payload.Raw()[from:from+at.Len()], at.Start)
	if text.Kind() == source.Object {
		text = text.Get("text")
	}
	if text.Kind() != source.String {
		return nil, false
	}
	// Escapes are decoded only if the text starts like a tag. Some writers always escape the '<'.
	raw := text.Raw()
	raw = raw[1 : len(raw)-1]
	if bytes.HasPrefix(raw, []byte("<")) || len(raw) >= 6 && bytes.EqualFold(raw[:6], []byte(`\u003c`)) {
		raw = []byte(text.Str())
	}
	return raw, true
}

// InTags reports whether a text is in tags, as agents write what they add themselves. A human can
// begin with a tag, but hardly ends with one.
func InTags(text []byte) bool {
	return len(text) > 1 && text[0] == '<' && text[1]|0x20 >= 'a' && text[1]|0x20 <= 'z' && bytes.HasSuffix(bytes.TrimSpace(text), []byte(">"))
}

// threadOf returns the thread of a record. Sub-agents without an id are told apart by
// their chains of records.
func (l *log) threadOf(parent uint64) *thread {
	name, side := "", l.env.at[envSide].True()
	switch agent := l.env.at[envAgent]; {
	case agent.Kind() == source.String:
		name = "agent " + agent.Str()
	case side:
		l.odd = true
		if at, known := l.chain.find(parent); known && l.threads[l.link(at).thread].side {
			return l.threads[l.link(at).thread]
		}
		name = fmt.Sprintf("sidechain %d", len(l.threads))
	}
	if l.last != nil && l.last.conv().Name == name {
		return l.last
	}
	t := l.byName[name]
	if t == nil {
		t = l.newThread(name, side)
	}
	l.last = t
	return t
}

// newThread adds a thread.
func (l *log) newThread(name string, side bool) *thread {
	t := &thread{q: l.newSequence(name, l.end), n: int32(len(l.threads)), side: side, lastTurn: -1}
	t.conv().Dialect = l.d.Name
	t.q.primary = nil
	l.byName[name] = t
	l.threads = append(l.threads, t)
	return t
}
