package report

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
)

// A part is a piece of a line, in a colour or nil for none. Its text may be
// anything that a transcript, a path or a config brought.
type part struct {
	color *color.Color
	text  string
}

// bare returns a part without colour.
func bare(text string) part { return part{text: text} }

// lines collects text for people, a line at a time. It is the only way by which
// the formats for people write: what must not reach a terminal or a CI is
// spelled out here, as a reader sees the line, so that colours neither hide an
// order nor make one.
type lines struct {
	out []byte
}

// line adds a line of several parts.
func (l *lines) line(parts ...part) {
	var whole strings.Builder
	for _, p := range parts {
		whole.WriteString(p.text)
	}
	text := whole.String()
	var g guard
	i, end := 0, 0
	hash := 0 // where the last hash was written
	// A colour code has a bracket of its own. Behind two hashes it would look
	// like an order to whoever drops the escape character before it.
	code := func(code string) {
		if code != "" && g.prompted() {
			l.out = slices.Replace(l.out, hash, hash+1, []byte(spelled("#"))...)
			g.hashes, g.word = 0, false
		}
		l.out = append(l.out, code...)
	}
	for _, p := range parts {
		if p.text == "" {
			continue
		}
		end += len(p.text)
		begin, stop := codes(p.color)
		code(begin)
		g.next()
		for i < end {
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case g.spells(r, n, text[i+n:]):
				l.out = append(l.out, spelled(text[i:i+n])...)
			default:
				if r == '#' {
					hash = len(l.out)
				}
				l.out = append(l.out, text[i:i+n]...)
			}
			i += n
		}
		code(stop)
	}
	l.out = append(l.out, '\n')
}

// command adds a workflow command of GitHub Actions, the one line that may begin
// like one.
func (l *lines) command(text string) {
	l.out = append(l.out, "::"...)
	l.line(bare(text))
}

// codes returns what switches a colour on and off.
func codes(c *color.Color) (begin, stop string) {
	if c == nil {
		return "", ""
	}
	const between = "\x00"
	begin, stop, _ = strings.Cut(c.Sprint(between), between)
	return begin, stop
}

// flush writes what was collected, and forgets it.
func (l *lines) flush(w io.Writer) error {
	_, err := w.Write(l.out)
	l.out = l.out[:0]
	return err
}

func (l *lines) String() string { return string(l.out) }
