package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s in one line that is safe to print. It escapes as bytes everything that
// could drive a terminal or hide text: control characters, C1, bidirectional overrides,
// invisible characters and bytes that are not UTF-8. It also escapes commands to the CI that
// logs the text.
func Printable(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf-1 && s[i] != '[' && s[i] != ':' {
		i++
	}
	if i == len(s) {
		return s
	}
	var g guard
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if g.spells(r, n, s[i+n:]) {
			b.WriteString(spelled(s[i : i+n]))
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// A guard reads a line character by character and decides which characters must be escaped:
// those that drive a terminal, and those that complete a CI command, which is ##[…] or
// ##vso[…] anywhere in a line and ::…:: at its start. Characters without width neither hide a
// command nor interrupt one, because some runners compare text without them. The zero guard
// is at the start of a line.
type guard struct {
	line, part lead
	hashes     int  // right before, at most 2
	word       bool // letters right before, and two hashes before them
}

// A lead is the text before a character.
type lead uint8

const (
	leadBlank lead = iota // only blanks
	leadColon             // blanks and one colon
	leadText
)

// after returns the lead of the character after r.
func (l lead) after(r rune, spelled bool) lead {
	switch {
	case l == leadBlank && unicode.IsSpace(r):
		return leadBlank
	case l == leadBlank && r == ':' && !spelled:
		return leadColon
	}
	return leadText
}

// next begins another part of the line. No part begins with a CI command, so that parts can
// be combined in any way.
func (g *guard) next() { g.part = leadBlank }

// spells reports whether the next character of the line, decoded from n bytes and followed by
// rest, must be escaped.
func (g *guard) spells(r rune, n int, rest string) bool {
	spell := unprintable(r, n)
	switch {
	case spell:
	case weightless(r):
		return false
	case r == '[':
		spell = g.prompted()
	case r == ':':
		spell = g.line == leadColon || g.part == leadColon ||
			(g.line == leadBlank || g.part == leadBlank) && strings.HasPrefix(strings.TrimLeftFunc(rest, weightless), ":")
	}
	g.line, g.part = g.line.after(r, spell), g.part.after(r, spell)
	switch {
	case spell:
		g.hashes, g.word = 0, false
	case r == '#':
		g.hashes, g.word = min(g.hashes+1, 2), false
	default:
		g.hashes, g.word = 0, g.prompted() && unicode.IsLetter(r)
	}
	return spell
}

// prompted reports whether a bracket would complete a CI command.
func (g *guard) prompted() bool { return g.hashes == 2 || g.word }

// unprintable reports whether a character, decoded from n bytes, must not reach a terminal.
// Joiners are allowed: emoji and several scripts need them, and they do not move text.
func unprintable(r rune, n int) bool {
	switch {
	case r == utf8.RuneError && n <= 1:
		return true
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == '\u200c', r == '\u200d':
		return false
	}
	return r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// weightless reports whether a character has no width, so that text is compared without it.
func weightless(r rune) bool {
	return r > unicode.MaxASCII && unicode.In(r, unicode.Join_Control, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// spelled writes bytes as <e2><80><ae>.
func spelled(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "<%02x>", s[i])
	}
	return b.String()
}

// A Screen is a writer for text that people read. It escapes everything that Printable would
// escape, except line feeds. Each line must end with a line feed.
type Screen struct {
	w       io.Writer
	tabs    bool // they stay as they are
	line    guard
	partial []byte // the bytes of an incomplete character
}

// NewScreen returns a Screen that writes to w.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// NewDocument returns a Screen for text that people and programs read: tabs stay as they are.
func NewDocument(w io.Writer) *Screen { return &Screen{w: w, tabs: true} }

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) {
	text := string(append(s.partial, p...))
	out := make([]byte, 0, len(text))
	i := 0
	for i < len(text) && utf8.FullRuneInString(text[i:]) {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n':
			out = append(out, '\n')
			s.line = guard{}
		case r == '\t' && s.tabs:
			out = append(out, '\t')
		case s.line.spells(r, n, text[i+n:]):
			out = append(out, spelled(text[i:i+n])...)
		default:
			out = append(out, text[i:i+n]...)
		}
		i += n
	}
	s.partial = append(s.partial[:0], text[i:]...)
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
