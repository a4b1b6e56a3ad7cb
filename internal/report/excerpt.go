package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

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
// returns the line as it is shown, and the columns of the underlined part, which takes at most
// so many.
func layout(e engine.Excerpt, room, most int) (line string, at, width int) {
	room = max(room-2, 1) // without the ellipses
	// The mark breaks up nothing: an order may begin before it and end in it.
	var g guard
	before := g.cells(e.Text[:e.Mark[0]])
	mark := g.cells(e.Text[e.Mark[0]:e.Mark[1]])
	after := g.cells(e.Text[e.Mark[1]:])

	shown := head(mark, most)
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

// mostMarked returns how many columns of a window so wide n marks take, with what is between them.
func mostMarked(room, n int) int {
	if n > 1 {
		return max((room-2)*9/10, 1)
	}
	return max((room-2)*3/5, 1)
}

// cells splits text into cells.
func cells(text []byte) []cell {
	var g guard
	return g.cells(text)
}

// cells splits text into cells, starting in the state of the guard. A grapheme cluster is a
// cell, except for characters in it that must be escaped.
func (g *guard) cells(text []byte) []cell {
	out := make([]cell, 0, len(text))
	whole := string(text)
	at := 0
	for clusters := graphemes.FromString(whole); clusters.Next(); {
		shown := at
		end := func() {
			if shown < at {
				out = append(out, cell{whole[shown:at], clusterWidth(whole[shown:at])})
			}
		}
		for to := at + len(clusters.Value()); at < to; {
			r, n := utf8.DecodeRuneInString(whole[at:])
			spells := g.spells(r, n, whole[at+n:])
			if !spells {
				at += n
				continue
			}
			end()
			at += n
			if shown = at; r == '\t' {
				out = append(out, cell{" ", 1})
			} else {
				s := spelled(whole[at-n : at])
				out = append(out, cell{s, len(s)})
			}
		}
		end()
	}
	return out
}

// emojiStyle is the character that has the one before it shown as an emoji.
const emojiStyle = "\uFE0F"

// clusterWidth returns how many columns a grapheme cluster takes.
func clusterWidth(s string) int {
	if len(s) == 1 {
		return 1
	}
	w := libraryWidth(s)
	if w == 1 && strings.Contains(s, emojiStyle) {
		w = 2 // the library takes such a character for text
	}
	return w
}

// textWidth returns how many columns a text takes.
func textWidth(text string) int { return columns(cells([]byte(text))) }

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
