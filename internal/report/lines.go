package report

import (
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
)

// A part is a piece of a line, with a colour or nil for none. Its text may come from a
// transcript, a path or a config file.
type part struct {
	color *color.Color
	text  string
	whole bool // no line is broken in it, although it may have spaces
}

// bare returns a part without colour.
func bare(text string) part { return part{text: text} }

// colored returns a part with a colour.
func colored(c *color.Color, text string) part { return part{color: c, text: text} }

// unbroken returns a part that is a path or another name. There may be spaces in it.
func unbroken(c *color.Color, text string) part { return part{color: c, text: text, whole: true} }

// lines collects text for people, line by line. All formats for people write through it: it
// escapes text that must not reach a terminal or a CI. It looks at the line without its
// colours, so that they neither hide a CI command nor make one.
type lines struct {
	out   []byte
	ascii bool // other characters are shown as question marks
}

// line adds a line of several parts.
func (l *lines) line(parts ...part) {
	if l.ascii {
		parts = slices.Clone(parts)
		for i := range parts {
			parts[i].text = inASCII(parts[i].text)
		}
	}
	var whole strings.Builder
	for _, p := range parts {
		whole.WriteString(p.text)
	}
	text := whole.String()
	var g guard
	i, end := 0, 0
	hash := 0 // the offset of the last hash
	// A colour code contains a bracket. After two hashes it would look like a CI command to a
	// program that drops the escape character.
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

// inASCII returns a text with question marks for what is not ASCII. It is as wide as before, so that
// what was made to fit still fits.
func inASCII(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range cells([]byte(text)) {
		if strings.IndexFunc(c.text, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
			b.WriteString(c.text)
		} else {
			b.WriteString(strings.Repeat("?", c.width))
		}
	}
	return b.String()
}

// command adds a workflow command of GitHub Actions, the only line that may begin like one.
func (l *lines) command(text string) {
	l.out = append(l.out, "::"...)
	l.line(bare(text))
}

// codes returns the codes that switch a colour on and off.
func codes(c *color.Color) (begin, stop string) {
	if c == nil {
		return "", ""
	}
	const between = "\x00"
	begin, stop, _ = strings.Cut(c.Sprint(between), between)
	return begin, stop
}

// flush writes the collected text, and clears it.
func (l *lines) flush(w io.Writer) error {
	_, err := w.Write(l.out)
	l.out = l.out[:0]
	return err
}

func (l *lines) String() string { return string(l.out) }
