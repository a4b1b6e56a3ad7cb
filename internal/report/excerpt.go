package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/toolguard/toolguard/internal/engine"
)

const ellipsis = "…"

// A cell is one character on a terminal: a letter with its accents, an emoji with its
// joiners, or the escaped bytes of a character that must not be shown.
type cell struct {
	text  string
	width int
}

// layout cuts a window of so many columns out of an excerpt, with its ellipses. It
// returns the line as it is shown, and the columns of the underlined part.
func layout(e engine.Excerpt, room int) (line string, at, width int) {
	room = max(room-2, 1) // without the ellipses
	// The mark breaks up nothing: an order may begin before it and end in it.
	var g guard
	before := g.cells(e.Text[:e.Mark[0]])
	mark := g.cells(e.Text[e.Mark[0]:e.Mark[1]])
	after := g.cells(e.Text[e.Mark[1]:])

	shown := head(mark, max(room*3/5, 1))
	width = columns(shown)
	rest := room - width
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
	var g guard
	return g.cells(text)
}

// cells splits text into cells, starting in the state of the guard.
func (g *guard) cells(text []byte) []cell {
	// The default condition depends on the locale; a report must not.
	cond := runewidth.Condition{StrictEmojiNeutral: true}
	out := make([]cell, 0, len(text))
	joins := false // the next character belongs to the last cell
	whole := string(text)
	for i := 0; i < len(whole); {
		r, n := utf8.DecodeRuneInString(whole[i:])
		s := whole[i : i+n]
		i += n
		switch spells := g.spells(r, n, whole[i:]); {
		case r == '\t':
			out = append(out, cell{" ", 1})
			joins = false
			continue
		case spells:
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

// columns returns the width of cells.
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
