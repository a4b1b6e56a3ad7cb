package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns s with everything that could drive a terminal or hide text
// in it spelled out as bytes: control characters, C1, overrides of the writing
// direction, invisible characters and bytes that are not UTF-8. What it returns
// is one line.
func Printable(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf-1 {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if unprintable(r, n) {
			b.WriteString(spelled(s[:n]))
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
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
