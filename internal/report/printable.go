package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with everything that could drive a terminal or hide text
// in it spelled out as bytes: control characters, C1, overrides of the writing
// direction, invisible characters and bytes that are not UTF-8; and what would
// give an order to the CI whose log it goes to. What it returns is one line.
func Printable(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf-1 && s[i] != '[' && s[i] != ':' {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unprintable(r, n) || orders(s, i) {
			b.WriteString(spelled(s[i : i+n]))
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// orders reports whether the character at i completes what a CI takes for an
// order: ##[…] or ##vso[…] anywhere in a line, and ::…:: at its start.
func orders(s string, i int) bool {
	switch s[i] {
	case '[':
		word := strings.TrimRightFunc(s[:i], unicode.IsLetter)
		return strings.HasSuffix(word, "##")
	case ':':
		return strings.HasPrefix(s[i:], "::") && strings.TrimSpace(s[:i]) == ""
	}
	return false
}

// unprintable reports whether a character, decoded from n bytes, must not reach
// a terminal. The joiners are let through: emoji and several scripts are
// written with them, and they move nothing.
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

// spelled writes bytes as <e2><80><ae>.
func spelled(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "<%02x>", s[i])
	}
	return b.String()
}
