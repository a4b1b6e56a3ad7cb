package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/toolguard/toolguard/internal/engine"
)

const (
	excerptColumns = 100 // how wide an excerpt is, its ellipses apart
	markColumns    = 60  // how much of that the underlined part may take
	ellipsis       = "…"
)

// A cell is what a terminal shows as one character: a letter with its accents,
// an emoji with its joiners, or the spelled bytes of what must not be shown.
type cell struct {
	text  string
	width int
}

// layout cuts a window of excerptColumns out of an excerpt. It returns the line
// as it is shown, and where in it the underlined part stands, in columns.
func layout(e engine.Excerpt) (line string, at, width int) {
	before := cells(e.Text[:e.Mark[0]])
	mark := cells(e.Text[e.Mark[0]:e.Mark[1]])
	after := cells(e.Text[e.Mark[1]:])

	shown := head(mark, markColumns)
	width = columns(shown)
	rest := excerptColumns - width
	// A third of the window stands before the mark, and what the end of the
	// line leaves free.
	lead := tail(before, max(rest/3, rest-columns(after)))
	trail := head(after, rest-columns(lead))
	cutBefore := e.CutBefore || len(lead) < len(before)
	cutAfter := e.CutAfter || len(trail) < len(after)
	if len(shown) < len(mark) {
		trail, cutAfter = nil, true
	}

	var b strings.Builder
	if cutBefore {
		b.WriteString(ellipsis)
		at++
	}
	at += columns(lead)
	for _, c := range slices.Concat(lead, shown, trail) {
		b.WriteString(c.text)
	}
	if cutAfter {
		b.WriteString(ellipsis)
	}
	return b.String(), at, width
}

// cells splits text into cells.
func cells(text []byte) []cell {
	// The default condition follows the locale; a report is to be the same
	// everywhere.
	cond := runewidth.Condition{StrictEmojiNeutral: true}
	var out []cell
	joins := false // the next character belongs to the last cell
	whole := string(text)
	for i := 0; i < len(whole); {
		r, n := utf8.DecodeRuneInString(whole[i:])
		s := whole[i : i+n]
		order := orders(whole, i)
		i += n
		switch {
		case r == '\t':
			out = append(out, cell{" ", 1})
			joins = false
			continue
		case unprintable(r, n), order:
			s = spelled(s)
			out = append(out, cell{s, len(s)})
			joins = false
			continue
		}
		w := cond.RuneWidth(r)
		if k := len(out) - 1; k >= 0 && (w == 0 || joins) {
			out[k].text += s
			out[k].width = cond.StringWidth(out[k].text)
		} else {
			out = append(out, cell{s, w})
		}
		joins = r == '\u200d'
	}
	return out
}

// columns returns how wide cells are.
func columns(cs []cell) int {
	n := 0
	for _, c := range cs {
		n += c.width
	}
	return n
}

// head returns the first cells that fit into most columns.
func head(cs []cell, most int) []cell {
	for i, c := range cs {
		if most -= c.width; most < 0 {
			return cs[:i]
		}
	}
	return cs
}

// tail returns the last cells that fit into most columns.
func tail(cs []cell, most int) []cell {
	for i, c := range slices.Backward(cs) {
		if most -= c.width; most < 0 {
			return cs[i+1:]
		}
	}
	return cs
}

// structural are the members whose values say how a transcript hangs together,
// and nothing of what was said in it.
var structural = []string{
	"id", "call_id", "callId", "tool_call_id", "toolCallId", "tool_use_id", "toolUseID", "toolUseId",
	"uuid", "parentUuid", "parentId", "parent_id",
	"name", "role", "type",
}

// redacted returns the excerpt of a finding without what a transcript says: its
// underlined part alone, and only where that is an id, a name, a type or a role.
func redacted(f *engine.Finding) (engine.Excerpt, bool) {
	e := f.Excerpt
	mark := e.Text[e.Mark[0]:e.Mark[1]]
	key := f.Pointer[strings.LastIndexByte(f.Pointer, '/')+1:]
	whole := int64(len(mark)) == f.Span.Len() && len(mark) >= 2 && mark[0] == '"' && mark[len(mark)-1] == '"'
	if !whole || !slices.Contains(structural, key) {
		return engine.Excerpt{}, false
	}
	return engine.Excerpt{
		Text: mark, Mark: [2]int{0, len(mark)},
		CutBefore: e.CutBefore || e.Mark[0] > 0,
		CutAfter:  e.CutAfter || e.Mark[1] < len(e.Text),
	}, true
}
