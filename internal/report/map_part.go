package report

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/toolguard/toolguard/internal/session"
)

// chosen writes the turns and calls of a thread that were asked for, with all of their texts.
func (m *mapper) chosen(t *session.Thread) {
	headed := false
	heading := func() {
		if !headed {
			m.heading(t, 0)
		}
		headed = true
	}
	for i := t.TurnLo; i < t.TurnHi && m.err == nil; i++ {
		n := int(i - t.TurnLo)
		if m.opts.Only(t, n, "") {
			heading()
			m.turn(t, i, 0)
			m.told(m.turns[i])
			m.whole("text", m.Turns[i].Text)
			for k := m.Turns[i].CallLo; k < m.Turns[i].CallHi; k++ {
				m.wholeCall(k)
			}
			for k := m.Turns[i].LooseLo; k < m.Turns[i].LooseHi; k++ {
				m.told(m.loose[k])
				m.whole("result "+m.Loose[k].ID, m.Loose[k].Text)
			}
			continue
		}
		for k := m.Turns[i].CallLo; k < m.Turns[i].CallHi; k++ {
			if m.opts.Only(t, n, m.Calls[k].ID) {
				heading()
				m.ReadTimes(i, i+1)
				m.turnRow(t, i, 0)
				m.call(t, k, 0, true)
				m.wholeCall(k)
			}
		}
		for k := m.Turns[i].LooseLo; k < m.Turns[i].LooseHi; k++ {
			if m.opts.Only(t, n, m.Loose[k].ID) {
				heading()
				m.ReadTimes(i, i+1)
				m.turnRow(t, i, 0)
				m.looseResult(k, 0, true)
				m.told(m.loose[k])
				m.whole("result", m.Loose[k].Text)
			}
		}
	}
}

// wholeCall writes the arguments and the result of a call.
func (m *mapper) wholeCall(k int32) {
	c := &m.Calls[k]
	m.told(m.calls[k])
	m.whole("arguments of "+c.ID, c.Args)
	if !c.Result.At.IsZero() {
		m.whole("result of "+c.ID, c.Result.Text)
	}
}

// told writes the messages of findings.
func (m *mapper) told(found []*session.Problem) {
	for _, p := range found {
		if text := m.messages[p]; text != "" {
			m.out.fold(m.opts.width(), "    ", colored(m.style.severity(p.Severity), p.Severity.String()), bare(": "+text))
		}
	}
}

// whole writes a text, line by line.
func (m *mapper) whole(what string, t session.Text) {
	if t.Size == 0 {
		return
	}
	raw, size := m.Bytes(t), t.Size
	if len(raw) > 0 && raw[0] == '"' {
		size -= 2 // the quotes
	}
	m.row(colored(m.style.path, fmt.Sprintf("%s, %s", what, short(size))))
	if m.opts.NoExcerpt {
		return
	}
	for line := range strings.Lines(inBlocks(raw, t.Cut())) {
		line = strings.TrimRight(line, "\r\n")
		m.out.line(bare("    " + line))
	}
}

// inBlocks returns what a text says that may be a list of blocks.
func inBlocks(raw []byte, cut bool) string {
	text := session.Said(raw, cut)
	if cut || !gjson.Valid(text) || text[0] != '[' && text[0] != '{' {
		return text
	}
	if text[0] == '{' {
		return gjson.Get(text, "@ugly").Raw // in one line
	}
	var texts []string
	all := true
	gjson.Parse(text).ForEach(func(_, block gjson.Result) bool {
		got := block.Get("text")
		all = got.Type == gjson.String
		texts = append(texts, got.Str)
		return all
	})
	if !all {
		return text
	}
	return strings.Join(texts, "\n")
}
